//! The device: the engine, the program and the state of the control plane.

use std::borrow::Cow;

use p4sched_dataplane::{Nanos, Pipeline, Port};
use p4sched_engine::{Engine, FrameSink};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::write_request::Atomicity;

use crate::entities::{link_changes, meters};
use crate::fault::{Code, Fault};
use crate::forwarding::Forwarding;
use crate::links::Links;
use crate::program::Program;
use crate::translation::PortNames;
use crate::upcalls::{Counts, Notification, Notify};
use crate::upcalls::{Sink, Upcalls};
use crate::{digest_lists, entities, idle, p4data, packet_io, references, translated, undo};

/// A P4Runtime device: one switch and everything that a controller can see of it.
pub struct Device {
    id: u64,
    pub(crate) engine: Engine,
    pub(crate) active: Option<Forwarding>,
    pub(crate) saved: Option<Program>,
    pub(crate) links: Links,
    upcalls: Upcalls,
    idle_scan: Option<Nanos>,
    updates: UpdateCounts,
}

/// Counts of the updates in P4Runtime writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpdateCounts {
    pub applied: u64,
    /// Also those that were undone because another one failed.
    pub refused: u64,
}

/// The fill of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFill {
    pub name: String,
    pub entries: usize,
    /// The largest number of entries.
    pub size: usize,
}

impl Device {
    /// Creates a device without a program. It calls `notify` with each message to the controllers.
    pub fn new(id: u64, engine: Engine, notify: Notify) -> Device {
        Device {
            id,
            engine,
            active: None,
            saved: None,
            links: Links::new(),
            upcalls: Upcalls::new(notify),
            idle_scan: None,
            updates: UpdateCounts::default(),
        }
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    /// The switch inside the device.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The switch inside the device, for changes of its port settings.
    pub(crate) fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Sets how many more packets a port's interface can take; see [`Engine::set_room`].
    pub fn set_room(&mut self, port: Port, room: Option<u32>) -> bool {
        self.engine.set_room(port, room)
    }

    /// Sets the state of all links. Returns whether it changed.
    pub fn set_links(&mut self, links: Links) -> bool {
        let changed = links != self.links;
        if changed {
            self.links = links;
            self.apply_links();
        }
        changed
    }

    /// The state of all links.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Updates the active and the saved program with the state of the links.
    pub(crate) fn apply_links(&mut self) {
        let names = PortNames {
            interfaces: (self.links.iter().map(|(&port, link)| (port, link.interface.clone()))).collect(),
            cpu: self.engine().cpu_port(),
        };
        let active = self.active.as_mut().zip(self.engine.pipeline_mut());
        let saved = self.saved.as_mut();
        let saved = saved.map(|saved| (&mut saved.forwarding, &mut saved.pipeline));
        for (forwarding, pipeline) in active.into_iter().chain(saved) {
            forwarding.translation.set_ports(names.clone());
            forwarding.links.clone_from(&self.links);
            link_changes::follow(forwarding, pipeline);
        }
    }

    /// Counts of the messages to the controllers.
    pub fn counts(&self) -> Counts {
        self.upcalls.counts
    }

    /// Counts of the updates in P4Runtime writes.
    pub fn update_counts(&self) -> UpdateCounts {
        self.updates
    }

    /// The tables of the active program.
    pub fn tables(&self) -> Vec<TableFill> {
        let Some(pipeline) = self.engine.pipeline() else {
            return Vec::new();
        };
        let fill = |table| TableFill {
            name: pipeline.table_name(table).to_owned(),
            entries: pipeline.table_len(table),
            size: pipeline.table_size(table),
        };
        pipeline.table_ids().map(fill).collect()
    }

    /// Processes a frame that arrived on a port. See [`Engine::receive`].
    pub fn receive<S: FrameSink + ?Sized>(&mut self, now: Nanos, port: Port, frame: &[u8], frames: &mut S) {
        let sink = &mut sink(frames, &mut self.upcalls, self.active.as_ref());
        self.engine.receive(now, port, frame, sink);
        self.pass_on_digests(now);
    }

    /// Processes all events that are due. See [`Engine::advance`].
    pub fn advance<S: FrameSink + ?Sized>(&mut self, now: Nanos, frames: &mut S) {
        let sink = &mut sink(frames, &mut self.upcalls, self.active.as_ref());
        self.engine.advance(now, sink);
        self.pass_on_digests(now);
        self.send_due_digests(now);
        self.report_idle_entries(now);
    }

    /// The time at which [`Device::advance`] has something to do; `None` if never.
    pub fn next_event(&self) -> Option<Nanos> {
        let digests = self
            .active
            .as_ref()
            .and_then(|forwarding| forwarding.digests.next_due());
        [self.engine.next_event(), digests, self.idle_scan]
            .into_iter()
            .flatten()
            .min()
    }

    fn pass_on_digests(&mut self, now: Nanos) {
        if self.upcalls.digests.is_empty() {
            return;
        }
        for message in std::mem::take(&mut self.upcalls.digests) {
            let (Some(pipeline), Some(forwarding)) = (self.engine.pipeline(), &mut self.active) else {
                continue;
            };
            let name = pipeline.digest_name(message.digest);
            let id = forwarding
                .index
                .digests
                .iter()
                .find(|(_, digest)| digest.name == name)
                .map(|(&id, _)| id);
            if let Some(list) = id.and_then(|id| forwarding.digests.offer(id, message.fields, now)) {
                self.send_digests(list, now);
            }
        }
    }

    fn send_due_digests(&mut self, now: Nanos) {
        let due = self
            .active
            .as_mut()
            .map(|forwarding| forwarding.digests.due(now))
            .unwrap_or_default();
        due.into_iter().for_each(|list| self.send_digests(list, now));
    }

    fn send_digests(&mut self, list: digest_lists::List, now: Nanos) {
        let Some(forwarding) = &self.active else { return };
        let Some(digest) = forwarding.index.digests.get(&list.digest_id) else {
            return;
        };
        let types = &forwarding.index.types;
        let data = list.messages.into_iter();
        let data = data.filter_map(|fields| p4data::from_fields(types, &digest.message, &mut fields.into_iter()));
        let list = p4rt::DigestList {
            digest_id: list.digest_id,
            list_id: list.list_id,
            data: data
                .map(|data| forwarding.translation.digest(list.digest_id, data))
                .collect(),
            timestamp: now.cast_signed(),
        };
        self.upcalls.notify(Notification::Digest(list));
    }

    fn report_idle_entries(&mut self, now: Nanos) {
        if self.idle_scan.is_none_or(|at| at > now) {
            return;
        }
        self.idle_scan = None;
        let (Some(forwarding), Some(pipeline)) = (&mut self.active, self.engine.pipeline()) else {
            return;
        };
        let scan = idle::scan(forwarding, pipeline, now);
        self.idle_scan = scan.again_at;
        for table_entry in scan.idle {
            let table_entry = table_entry.into_iter();
            let table_entry = table_entry
                .map(|entry| forwarding.translation.table_entry(entry))
                .collect();
            let notice = p4rt::IdleTimeoutNotification {
                table_entry,
                timestamp: now.cast_signed(),
            };
            self.upcalls.notify(Notification::IdleTimeoutNotification(notice));
        }
    }

    /// The program that reads and writes apply to: the saved one if there is one, else the active one.
    pub(crate) fn target(&mut self) -> Result<(&mut Forwarding, &mut Pipeline), Fault> {
        if let Some(saved) = &mut self.saved {
            return Ok((&mut saved.forwarding, &mut saved.pipeline));
        }
        match (&mut self.active, self.engine.pipeline_mut()) {
            (Some(forwarding), Some(pipeline)) => Ok((forwarding, pipeline)),
            _ => Err(Fault::precondition(
                "no program is loaded; SetForwardingPipelineConfig loads one",
            )),
        }
    }

    /// The active program.
    pub(crate) fn running_program(&self) -> Option<(&Forwarding, &Pipeline)> {
        self.active.as_ref().zip(self.engine.pipeline())
    }

    /// Whether a saved program waits to become active.
    pub(crate) fn waits_for_swap(&self) -> bool {
        self.saved.is_some()
    }

    /// Schedules a scan for idle entries at this time or earlier.
    pub(crate) fn schedule_idle_scan(&mut self, at: Nanos) {
        self.idle_scan = self.idle_scan.or(Some(at));
    }

    /// Applies updates in order, each on its own, with the default role.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` without a program. All other errors are in the results, one for each update.
    pub fn write(&mut self, updates: &[p4rt::Update], now: Nanos) -> Result<Vec<Result<(), Fault>>, Fault> {
        self.write_each("", updates, now)
    }

    fn write_each(
        &mut self,
        role: &str,
        updates: &[p4rt::Update],
        now: Nanos,
    ) -> Result<Vec<Result<(), Fault>>, Fault> {
        let (forwarding, pipeline) = self.target()?;
        pipeline.set_time(now);
        let write = |update| {
            let update = admit(forwarding, pipeline, role, update)?;
            entities::write(forwarding, pipeline, now, &update)
        };
        let results = updates.iter().map(write).collect();
        self.schedule_idle_scan(now + idle::SCAN_EVERY);
        Ok(results)
    }

    /// Applies all updates or none. No packet passes in between, so this is atomic for the data plane as well. Updates
    /// that were undone are `ABORTED`.
    fn write_together(
        &mut self,
        role: &str,
        updates: &[p4rt::Update],
        now: Nanos,
    ) -> Result<Vec<Result<(), Fault>>, Fault> {
        let (forwarding, pipeline) = self.target()?;
        pipeline.set_time(now);
        let mut undo = Vec::with_capacity(updates.len());
        for (position, update) in updates.iter().enumerate() {
            let applied = admit(forwarding, pipeline, role, update).and_then(|update| {
                let inverse = undo::Inverse::of(forwarding, pipeline, now, &update)?;
                entities::write(forwarding, pipeline, now, &update).map(|()| inverse)
            });
            match applied {
                Ok(inverse) => undo.push(inverse),
                Err(fault) => {
                    undo.iter()
                        .rev()
                        .for_each(|inverse| inverse.apply(forwarding, pipeline, now));
                    let aborted = || {
                        Err(Fault::new(
                            Code::Aborted,
                            format!("taken back: update {} failed", position + 1),
                        ))
                    };
                    let mut results: Vec<_> = updates.iter().map(|_| aborted()).collect();
                    results[position] = Err(fault);
                    return Ok(results);
                }
            }
        }
        self.schedule_idle_scan(now + idle::SCAN_EVERY);
        Ok(vec![Ok(()); updates.len()])
    }

    /// Applies a request with its role and the atomicity that it asks for.
    ///
    /// # Errors
    /// Those of [`Device::write`].
    pub fn write_request(&mut self, request: &p4rt::WriteRequest, now: Nanos) -> Result<Vec<Result<(), Fault>>, Fault> {
        let results = match request.atomicity() {
            Atomicity::ContinueOnError => self.write_each(&request.role, &request.updates, now),
            Atomicity::RollbackOnError | Atomicity::DataplaneAtomic => {
                self.write_together(&request.role, &request.updates, now)
            }
        }?;
        let applied = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.updates.applied += applied;
        self.updates.refused += results.len() as u64 - applied;
        Ok(results)
    }

    /// Reads the entities that the filters select, with the default role; one result per filter.
    ///
    /// # Errors
    /// `FAILED_PRECONDITION` without a program.
    pub fn read(
        &mut self,
        filters: &[p4rt::Entity],
        now: Nanos,
    ) -> Result<Vec<Result<Vec<p4rt::entity::Entity>, Fault>>, Fault> {
        self.read_as("", filters, now)
    }

    /// Reads the entities that the filters select and this role may read; one result per filter.
    ///
    /// # Errors
    /// Those of [`Device::read`].
    pub fn read_as(
        &mut self,
        role: &str,
        filters: &[p4rt::Entity],
        now: Nanos,
    ) -> Result<Vec<Result<Vec<p4rt::entity::Entity>, Fault>>, Fault> {
        let (forwarding, pipeline) = self.target()?;
        let roles = &forwarding.index.clone().roles;
        let read = |filter| {
            roles.check(role, filter)?;
            let mut found = translated::read(forwarding, pipeline, now, filter)?;
            found.retain(|entity| roles.permits(role, entity));
            Ok(found)
        };
        Ok(filters.iter().map(read).collect())
    }

    /// Keeps a program for a later [`Device::commit_saved`]. From then on, reads and writes apply to it.
    pub fn save(&mut self, program: Program) {
        self.saved = Some(program);
        self.apply_links();
    }

    /// Makes the saved program active.
    ///
    /// # Errors
    /// `NOT_FOUND` if no program was saved, and those of [`Device::commit`].
    pub fn commit_saved(&mut self) -> Result<(), Fault> {
        let saved = self.saved.take();
        self.commit(saved.ok_or_else(|| Fault::not_found("no program was saved; VERIFY_AND_SAVE saves one"))?)
    }

    /// Makes a program active, in its initial state.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the switch cannot run it with its present settings; the old program stays.
    pub fn commit(&mut self, program: Program) -> Result<(), Fault> {
        let registers = &program.forwarding.index.queue_depth_registers;
        self.engine
            .load(program.pipeline, registers)
            .map_err(|error| Fault::invalid(error.to_string()))?;
        self.active = Some(program.forwarding);
        self.saved = None;
        self.idle_scan = None;
        self.apply_links();
        Ok(())
    }

    /// Makes a program active and keeps everything that was written to the old one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if something that was written does not fit the new program; the old program stays.
    pub fn reconcile_and_commit(&mut self, mut program: Program, now: Nanos) -> Result<(), Fault> {
        if let (Some(forwarding), Some(pipeline)) = (&self.active, self.engine.pipeline()) {
            let old = translated::in_use(forwarding, pipeline);
            program.forwarding.translation.take_over(&old).map_err(cannot_keep)?;
            for update in undo::everything(forwarding, pipeline, now, &program.forwarding)? {
                entities::write(&mut program.forwarding, &mut program.pipeline, now, &update).map_err(cannot_keep)?;
            }
            for (of, counts) in meters::all_counted(forwarding, pipeline) {
                // The new program may lack a meter that was never configured. Then nothing that was written is lost.
                let _ = meters::count_again(&program.forwarding, &mut program.pipeline, &of, counts);
            }
        }
        self.commit(program)
    }

    /// The last configuration that was set, saved or active; `None` without one.
    pub fn config(&self) -> Option<&p4rt::ForwardingPipelineConfig> {
        let forwarding = self
            .saved
            .as_ref()
            .map(|saved| &saved.forwarding)
            .or(self.active.as_ref());
        forwarding.map(|forwarding| &forwarding.config)
    }

    /// Sends a frame from the controller.
    ///
    /// # Errors
    /// For metadata that P4Info does not declare, and without a program or a CPU port.
    pub fn packet_out<S: FrameSink + ?Sized>(
        &mut self,
        packet: &p4rt::PacketOut,
        now: Nanos,
        frames: &mut S,
    ) -> Result<(), Fault> {
        let Some(active) = &mut self.active else {
            return Err(Fault::precondition("packet-out: no program is loaded"));
        };
        let fields = active.index.packet_out.as_deref();
        let frame = if active.translation.is_empty() {
            packet_io::packet_out(fields, packet)?
        } else {
            packet_io::packet_out(fields, &active.translation.packet_out(packet)?)?
        };
        let sink = &mut sink(frames, &mut self.upcalls, self.active.as_ref());
        let sent = self.engine.packet_out(now, &frame, sink);
        self.pass_on_digests(now);
        sent.map_err(|error| Fault::precondition(format!("packet-out: {error}")))
    }

    /// Processes the controller's acknowledgement of a digest list.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a digest that P4Info does not declare.
    pub fn acknowledge_digests(&mut self, ack: p4rt::DigestListAck) -> Result<(), Fault> {
        let known = self
            .active
            .as_mut()
            .filter(|forwarding| forwarding.index.digests.contains_key(&ack.digest_id));
        let forwarding = known.ok_or_else(|| crate::index::unknown("digest", ack.digest_id))?;
        forwarding.digests.acknowledge(ack.digest_id, ack.list_id);
        Ok(())
    }
}

fn sink<'a, S: ?Sized>(frames: &'a mut S, upcalls: &'a mut Upcalls, active: Option<&'a Forwarding>) -> Sink<'a, S> {
    Sink {
        frames,
        upcalls,
        active,
    }
}

/// Checks that this role may ask for an update, and converts its values to the data plane's.
fn admit<'a>(
    forwarding: &mut Forwarding,
    pipeline: &Pipeline,
    role: &str,
    given: &'a p4rt::Update,
) -> Result<Cow<'a, p4rt::Update>, Fault> {
    if let Some(entity) = &given.entity {
        forwarding.index.roles.check(role, entity)?;
    }
    let update = translated::update(forwarding, pipeline, given)?;
    references::check(forwarding, &update)?;
    Ok(update)
}

fn cannot_keep(fault: Fault) -> Fault {
    Fault::invalid(format!(
        "the new program cannot keep what was written: {}",
        fault.message
    ))
}
