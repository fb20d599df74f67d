//! The switch: it handles all events in the order of time.

use std::collections::BTreeMap;
use std::ops::Range;

use p4sched_dataplane::{
    Data, Enqueue, EventKind, Frame, Loss, Nanos, Outcomes, Packet, PacketId, Pipeline, Port, Queueing, Recirculated,
    RegisterId,
};
use p4sched_traffic_manager::{
    ConfigError, Departure, Enqueued, Marks, MemoryConfig, Offered, PortStats, QUEUES, TrafficManager, reads,
};
use thiserror::Error;

use crate::delay_line::DelayLine;
use crate::loading::length_registers;
use crate::ports::{Fields, check};
use crate::recirculation::Recirculation;
use crate::trace::{EventSink, Trace};
use crate::{Balance, LoadError, Output, PortError, PortSettings, Traffic};

/// The error for a packet-out when the switch has no CPU port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the switch has no CPU port for packet-outs; set one with --cpu-port")]
pub struct NoCpuPort;

#[derive(Debug)]
struct Waiting {
    packet: Packet,
    /// 0 for a packet from ingress; one more for each clone made at egress.
    clone_depth: u8,
}

/// A loaded program, and its registers that hold queue lengths.
#[derive(Debug)]
struct Program {
    pipeline: Pipeline,
    length_registers: Vec<RegisterId>,
}

impl Program {
    /// Writes a length to the cells (port << 3) | queue of all registers that hold queue lengths.
    fn store_length(&mut self, port: Port, queues: Range<usize>, length: u32) {
        let first = usize::from(port) << 3;
        let cells = first | queues.start..first + queues.end;
        for &register in &self.length_registers {
            self.pipeline.register_store(register, cells.clone(), u64::from(length));
        }
    }
}

/// A switch without ports and clock. See the documentation of the crate.
#[derive(Debug)]
pub struct Engine {
    program: Option<Program>,
    queues: TrafficManager<Waiting>,
    settings: BTreeMap<Port, PortSettings>,
    /// Index = port; where its packets have user and rank.
    fields: Vec<Fields>,
    delay_line: DelayLine,
    recirculation: Recirculation,
    cpu_port: Option<Port>,
    interprets: bool,
    trace: Option<Trace>,
    clock: Nanos,
    outcomes: Outcomes,
    balance: Balance,
    traffic: Vec<Traffic>,
}

/// The earlier of two instants.
fn first(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

impl Default for Engine {
    fn default() -> Self {
        Engine::new()
    }
}

impl Engine {
    /// Largest number of clones of clones made at egress. A clone takes no time, so without a limit a program that
    /// clones every clone would stop the clock. BMv2 has no limit, and such a program fills its queues.
    pub const MAX_CLONE_DEPTH: u8 = 16;

    /// Largest number of packets that recirculate at the same time.
    pub const MAX_RECIRCULATING: usize = 4096;

    /// Largest number of bytes on the propagation delay of all links together: 0.5 s at 4 Gbit/s.
    pub const MAX_DELAYED_BYTES: usize = 256 << 20;

    /// A switch without a program. It drops and counts every frame.
    pub fn new() -> Engine {
        Engine {
            program: None,
            queues: TrafficManager::new(),
            settings: BTreeMap::new(),
            fields: vec![Fields::default(); usize::from(p4sched_dataplane::DROP_PORT) + 1],
            delay_line: DelayLine::new(Engine::MAX_DELAYED_BYTES),
            recirculation: Recirculation::new(Engine::MAX_RECIRCULATING),
            cpu_port: None,
            interprets: false,
            trace: None,
            clock: 0,
            outcomes: Outcomes::default(),
            balance: Balance::default(),
            traffic: vec![Traffic::default(); usize::from(p4sched_dataplane::DROP_PORT) + 1],
        }
    }

    /// The time up to which all events are handled.
    pub fn clock(&self) -> Nanos {
        self.clock
    }

    /// Loads a program and replaces the one before. `queue_depth_registers` are the registers annotated `@queue_depth`.
    /// From then on, their cell (port << 3) | priority holds the queue length that a packet of this priority would see.
    ///
    /// Port settings, statistics and links stay. Packets that wait in queues or recirculate belong to the old program:
    /// they are dropped and counted as flushed. Frames on the delay of a link still arrive.
    ///
    /// # Errors
    /// If the program does not have a register, or the user or rank field of a port. Then the old program stays.
    pub fn load(&mut self, mut pipeline: Pipeline, queue_depth_registers: &[String]) -> Result<(), LoadError> {
        let length_registers = length_registers(&pipeline, queue_depth_registers)?;
        let mut fields = Vec::new();
        for (&port, settings) in &self.settings {
            fields.push((port, Fields::resolve(port, settings, &pipeline)?));
        }
        for (port, found) in fields {
            self.fields[usize::from(port)] = found;
        }
        self.flush();
        pipeline.set_cpu_port(self.cpu_port);
        if self.interprets {
            pipeline.interpret();
        }
        self.end_trace();
        if let Some(trace) = &self.trace {
            trace.begin(&mut pipeline);
        }
        let mut program = Program {
            pipeline,
            length_registers,
        };
        for &register in &program.length_registers {
            program.pipeline.register_protect(register);
        }
        self.program = Some(program);
        Ok(())
    }

    /// Unloads the program and drops the waiting packets.
    pub fn unload(&mut self) -> Option<Pipeline> {
        self.flush();
        self.end_trace();
        self.program.take().map(|program| program.pipeline)
    }

    /// Makes all programs loaded from then on run in the interpreter, also compiled ones.
    pub fn interpret(&mut self) {
        self.interprets = true;
    }

    /// Sends the events of packets to `sink` from then on. Meanwhile programs run in the interpreter.
    pub fn trace(&mut self, sink: EventSink) {
        let trace = self.trace.insert(Trace::new(sink));
        if let Some(program) = &mut self.program {
            trace.begin(&mut program.pipeline);
        }
    }

    fn end_trace(&mut self) {
        if let (Some(trace), Some(program)) = (&mut self.trace, &self.program) {
            trace.end(&program.pipeline);
        }
    }

    /// Reports an event of a packet, if there is a sink.
    #[inline]
    fn report(&mut self, id: PacketId, what: impl FnOnce() -> EventKind) {
        if let Some(trace) = &mut self.trace {
            trace.report(self.clock, id, what);
        }
    }

    /// The packet that the pipeline works on, if there is a sink.
    #[inline]
    fn current_packet(&self) -> PacketId {
        let pipeline = self.trace.as_ref().and(self.pipeline());
        pipeline.map_or(PacketId::default(), Pipeline::current_packet)
    }

    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.program.as_ref().map(|program| &program.pipeline)
    }

    /// The loaded program, for changes of its tables.
    pub fn pipeline_mut(&mut self) -> Option<&mut Pipeline> {
        self.program.as_mut().map(|program| &mut program.pipeline)
    }

    /// Takes a frame that arrived on `port` at `now`. Everything that is due by then happens first. A `now` before the
    /// engine's clock counts as the clock. The frame itself is queued and continues with the next call.
    pub fn receive(&mut self, now: Nanos, port: Port, frame: &[u8], out: &mut impl Output) {
        self.advance(now, out);
        self.balance.received += 1;
        if let Some(traffic) = self.traffic.get_mut(usize::from(port)) {
            traffic.received.add(frame.len() as u32);
        }
        self.ingress(port, frame, out);
    }

    /// Takes a frame from the controller, which begins with the packet-out header. It enters the program through the
    /// CPU port.
    ///
    /// # Errors
    /// If the switch has no CPU port. Then nothing is counted.
    pub fn packet_out(&mut self, now: Nanos, frame: &[u8], out: &mut impl Output) -> Result<(), NoCpuPort> {
        let port = self.cpu_port.ok_or(NoCpuPort)?;
        self.advance(now, out);
        self.balance.packets_out += 1;
        self.ingress(port, frame, out);
        Ok(())
    }

    /// Handles everything that is due by `now`, in the order of virtual time: departures with their egress, and
    /// recirculations. Then delivers the frames that reach the far end of their link by `now`.
    pub fn advance(&mut self, now: Nanos, out: &mut impl Output) {
        let now = now.max(self.clock);
        let mut passes_left = Recirculation::allowance(now - self.clock);
        loop {
            let departure = self.queues.next_departure().filter(|&at| at <= now);
            let pass = self.recirculation.next().filter(|&at| at <= now && passes_left > 0);
            match (departure, pass) {
                (Some(at), pass) if pass.is_none_or(|pass| at <= pass) => self.depart(at, out),
                (_, Some(at)) => {
                    passes_left -= 1;
                    self.recirculate(at, out);
                }
                _ => break,
            }
        }
        self.clock = now;
        self.deliver(now, out);
    }

    /// The time of the next work of [`Engine::advance`], if there is any.
    pub fn next_event(&self) -> Option<Nanos> {
        first(self.next_departure(), self.delay_line.next())
    }

    /// The time of the next departure or recirculation: the work of [`Engine::advance`] except deliveries.
    pub fn next_departure(&self) -> Option<Nanos> {
        first(self.queues.next_departure(), self.recirculation.next())
    }

    /// The time at which the first frame on the link of a port reaches the far end.
    pub fn next_arrival(&self, port: Port) -> Option<Nanos> {
        self.delay_line.next_of(port)
    }

    /// Configures a port from the engine's clock on. [`Engine::advance`] must be called first. Waiting packets stay.
    /// They are queued again if the discipline or a field has changed.
    ///
    /// # Errors
    /// See [`Engine::check_port`]. Then nothing is changed.
    pub fn set_port(&mut self, port: Port, settings: PortSettings) -> Result<(), PortError> {
        let fields = self.resolve(port, &settings)?;
        let before = self.queues.port_config(port);
        let before = (before.discipline, reads(&before));
        let after = (settings.config.discipline, reads(&settings.config));
        self.queues.set_port(self.clock, port, settings.config.clone())?;
        let fields_before = std::mem::replace(&mut self.fields[usize::from(port)], fields);
        let fields = &self.fields[usize::from(port)];
        if let Some(program) = &self.program
            && (fields, after) != (&fields_before, before)
        {
            self.queues.reclassify(self.clock, port, |waiting| {
                fields.classify(&program.pipeline, &waiting.packet)
            });
        }
        self.settings.insert(port, settings);
        for queue in 0..QUEUES as u8 {
            self.tell_ghost(port, queue);
            self.store_length(port, queue);
        }
        Ok(())
    }

    /// Configures the memory that the queues of all ports share. Waiting packets stay.
    ///
    /// # Errors
    /// If a value is invalid. Then nothing is changed.
    pub fn set_memory(&mut self, memory: MemoryConfig) -> Result<(), ConfigError> {
        self.queues.set_memory(memory)
    }

    /// The memory that the queues of all ports share.
    pub fn memory(&self) -> MemoryConfig {
        self.queues.memory()
    }

    /// Sets how many more packets fit behind a port (`None`: any number). The others wait in their queues, whatever the
    /// rate of the port's link. When there is room again, the scheduler chooses among them.
    ///
    /// [`Engine::advance`] must be called first. If this returns true, a packet can leave at once, and the caller must
    /// call it again.
    pub fn set_room(&mut self, port: Port, room: Option<u32>) -> bool {
        self.queues.set_room(self.clock, port, room);
        self.queues.next_departure().is_some_and(|at| at <= self.clock)
    }

    /// Checks the settings of a port.
    ///
    /// # Errors
    /// If the settings are invalid, or the loaded program does not have a field. Without a program, the fields are
    /// checked when one is loaded.
    pub fn check_port(&self, port: Port, settings: &PortSettings) -> Result<(), PortError> {
        self.resolve(port, settings).map(drop)
    }

    fn resolve(&self, port: Port, settings: &PortSettings) -> Result<Fields, PortError> {
        check(port, settings)?;
        match &self.program {
            Some(program) => Fields::resolve(port, settings, &program.pipeline),
            None => Ok(Fields::default()),
        }
    }

    pub fn port(&self, port: Port) -> PortSettings {
        self.settings.get(&port).cloned().unwrap_or_default()
    }

    /// The shortest propagation delay among the links that have one.
    pub fn shortest_delay(&self) -> Option<Nanos> {
        let delays = self.settings.values().map(|settings| settings.config.delay_ns);
        delays.filter(|&delay_ns| delay_ns > 0).min()
    }

    /// Sets the port for frames from and to the controller. `None`: there is no such port.
    pub fn set_cpu_port(&mut self, port: Option<Port>) {
        self.cpu_port = port;
        if let Some(program) = &mut self.program {
            program.pipeline.set_cpu_port(port);
        }
    }

    pub fn cpu_port(&self) -> Option<Port> {
        self.cpu_port
    }

    /// Sets the time of a pass from egress back to the parser (default 10 µs). It applies to packets that recirculate
    /// later.
    pub fn set_recirculation_latency(&mut self, latency_ns: Nanos) {
        self.recirculation.set_latency(latency_ns);
    }

    /// Counters of a port's queues.
    pub fn queue_stats(&self, port: Port) -> PortStats {
        self.queues.stats(port)
    }

    /// Number of packets that wait at a port.
    pub fn waiting(&self, port: Port) -> u32 {
        let lengths = (0..QUEUES as u8).map(|queue| self.queues.length(port, queue));
        match self.queues.one_buffer(port) {
            true => self.queues.length(port, 0),
            false => lengths.sum(),
        }
    }

    /// The round that the calendar of a port serves at the engine's clock; `None` if its discipline has no calendar.
    pub fn calendar_round(&self, port: Port) -> Option<u64> {
        self.queues.round(self.clock, port)
    }

    /// Frames that a port received and sent.
    pub fn traffic(&self, port: Port) -> Traffic {
        self.traffic.get(usize::from(port)).copied().unwrap_or_default()
    }

    pub fn balance(&self) -> Balance {
        Balance {
            queued: self.queues.queued() as u64,
            recirculating: self.recirculation.len() as u64,
            delayed: self.delay_line.packets(),
            ..self.balance
        }
    }

    fn ingress(&mut self, port: Port, frame: &[u8], out: &mut impl Output) {
        let Some(program) = &mut self.program else {
            self.balance.no_program += 1;
            return;
        };
        program.pipeline.ingress(self.clock, port, frame, &mut self.outcomes);
        self.balance.ingress_dropped += self.settle(0, None, out);
    }

    /// Sends the packet that has recirculated longest through ingress again.
    fn recirculate(&mut self, at: Nanos, out: &mut impl Output) {
        let (Some(packet), Some(program)) = (self.recirculation.pop(), &mut self.program) else {
            return;
        };
        self.clock = self.clock.max(at);
        self.balance.recirculations += 1;
        if let Some(port) = packet.port() {
            self.traffic[usize::from(port)].received.add(packet.frame_len());
        }
        program.pipeline.reingress(self.clock, packet, &mut self.outcomes);
        self.balance.ingress_dropped += self.settle(0, None, out);
    }

    /// Sends the packet whose transmission starts at `at` from its queue through egress.
    fn depart(&mut self, at: Nanos, out: &mut impl Output) {
        let Some(departure) = self.queues.dequeue(at) else {
            return;
        };
        self.clock = self.clock.max(at);
        let Departure {
            port,
            queue,
            item,
            enq_ns,
            enq_length,
            length_after,
            start_ns,
            mut arrival_ns,
            ..
        } = departure;
        self.length_changed(port, queue);
        self.report(item.packet.id(), move || EventKind::Dequeued {
            port,
            queue,
            length: length_after,
            waited_ns: start_ns.saturating_sub(enq_ns),
        });
        let Some(program) = &mut self.program else { return };
        let queueing = Queueing {
            port,
            enq_ns,
            enq_qdepth: enq_length,
            deq_qdepth: length_after,
            qid: queue,
        };
        program
            .pipeline
            .egress(start_ns, item.packet, queueing, &mut self.outcomes);
        let transmitted = self.outcomes.frame.as_ref().map(|transmit| transmit.frame.len() as u32);
        let sent = transmitted.or_else(|| self.outcomes.recirculate.first().map(Recirculated::frame_len));
        if program.pipeline.has_bytes_between()
            && let Some(bytes) = sent
        {
            arrival_ns = self.queues.resize_departure(port, bytes);
        }
        self.balance.egress_dropped += self.settle(item.clone_depth + 1, Some(arrival_ns), out);
    }

    /// Handles the packets that a call of the pipeline produced. Returns 1 if the packet itself was dropped, else 0.
    ///
    /// `clone_depth` is that of the produced packets. `arrival_ns` is the arrival of a frame at the far end of its
    /// link.
    fn settle(&mut self, clone_depth: u8, arrival_ns: Option<Nanos>, out: &mut impl Output) -> u64 {
        if let (Some(trace), Some(program)) = (&mut self.trace, &mut self.program) {
            trace.pass_on(&mut program.pipeline);
        }
        let outcomes = &mut self.outcomes;
        self.balance.parser_errors += u64::from(outcomes.parser_error);
        let produced = outcomes.enqueue.len() + outcomes.recirculate.len() + usize::from(outcomes.frame.is_some());
        let dropped = outcomes.dropped || produced == 0;
        self.balance.became(produced + usize::from(dropped));

        // Most packets become one packet. The list is taken from its end, so a longer one is reversed first.
        outcomes.turn_round();
        while let Some(digest) = self.outcomes.digests.pop() {
            out.digest(digest);
        }
        while let Some(enqueue) = self.outcomes.enqueue.pop() {
            self.enqueue(enqueue, clone_depth);
        }
        while let Some(packet) = self.outcomes.recirculate.pop() {
            let mut leaves_ns = self.clock;
            if let Some(port) = packet.port() {
                leaves_ns = arrival_ns.unwrap_or(self.clock);
                self.traffic[usize::from(port)].transmitted.add(packet.frame_len());
            }
            let id = packet.id();
            if !self.recirculation.push(leaves_ns, packet) {
                self.balance.recirculation_dropped += 1;
                self.report(id, || EventKind::Dropped {
                    why: Loss::Recirculation,
                });
            }
        }
        if let Some(transmit) = self.outcomes.frame.take() {
            let arrival_ns = arrival_ns.unwrap_or(self.clock);
            self.report(self.current_packet(), || EventKind::Transmitted {
                port: transmit.port,
                bytes: transmit.frame.len(),
                data: Data(transmit.frame.to_vec()),
            });
            if let Err(frame) = self.delay_line.push(transmit.port, arrival_ns, transmit.frame) {
                self.balance.delay_dropped += 1;
                self.report(self.current_packet(), || EventKind::Dropped { why: Loss::LinkFull });
                self.recycle_frame(frame);
            }
        }
        // Both lists are empty here.
        self.outcomes.forget();
        u64::from(dropped)
    }

    fn enqueue(&mut self, enqueue: Enqueue, clone_depth: u8) {
        let Enqueue {
            packet,
            port,
            priority,
            frame_len,
        } = enqueue;
        let Some(program) = &mut self.program else { return };
        let id = packet.id();
        if clone_depth > Engine::MAX_CLONE_DEPTH {
            self.balance.clone_depth_dropped += 1;
            program.pipeline.recycle(packet);
            return self.report(id, || EventKind::Dropped { why: Loss::CloneDepth });
        }
        let fields = self.fields.get(usize::from(port));
        let Marks { user, rank, levels } =
            fields.map_or_else(Marks::default, |fields| fields.classify(&program.pipeline, &packet));
        let item = Waiting { packet, clone_depth };
        // another queue that gave up a packet to the memory
        let mut shorter = None;
        match self.queues.enqueue(
            self.clock,
            Offered {
                port,
                priority,
                len: frame_len,
                user,
                rank,
                levels,
                item,
            },
        ) {
            Enqueued::Queued { .. } => {}
            Enqueued::Dropped { item, .. } => {
                self.balance.queue_dropped += 1;
                program.pipeline.recycle(item.packet);
                return self.report(id, || EventKind::Dropped { why: Loss::QueueFull });
            }
            Enqueued::PushedOut { victim, .. } => {
                self.balance.pushed_out += 1;
                shorter = Some((victim.port, victim.queue)).filter(|&queue| queue != (port, priority));
                let victim = victim.item.packet;
                let id = victim.id();
                program.pipeline.recycle(victim);
                self.report(id, || EventKind::Dropped { why: Loss::PushedOut });
            }
        }
        if let Some((port, queue)) = shorter {
            self.length_changed(port, queue);
        }
        self.length_changed(port, priority);
        if self.trace.is_some() {
            let length = self.queues.length(port, priority);
            self.report(id, move || EventKind::Enqueued {
                port,
                queue: priority,
                length,
            });
        }
    }

    /// Reports the length of a queue to the program: to its ghost control, and to the registers that hold queue
    /// lengths.
    fn length_changed(&mut self, port: Port, queue: u8) {
        if self.pipeline().is_some_and(Pipeline::has_ghost) {
            let one_buffer = self.queues.one_buffer(port);
            self.tell_ghost(port, if one_buffer { 0 } else { queue });
        }
        self.store_length(port, queue);
    }

    /// Reports a queue to the ghost control. A shared buffer counts as the first queue; the other queues are then
    /// empty.
    fn tell_ghost(&mut self, port: Port, queue: u8) {
        let Some(program) = &mut self.program else { return };
        let length = match queue {
            1.. if self.queues.one_buffer(port) => 0,
            queue => self.queues.length(port, queue),
        };
        program.pipeline.ghost(self.clock, port, queue, length);
    }

    /// Updates the register cells of a queue; all cells of the port if its priorities share one buffer.
    fn store_length(&mut self, port: Port, queue: u8) {
        let registers = |program: &&mut Program| !program.length_registers.is_empty();
        let Some(program) = self.program.as_mut().filter(registers) else {
            return;
        };
        let (length, queues) = self.queues.length_found(port, queue);
        program.store_length(port, queues, length);
    }

    /// Delivers the frames that reach the far end of their link by `now`.
    fn deliver(&mut self, now: Nanos, out: &mut impl Output) {
        while let Some((port, mut frame, arrival_ns)) = self.delay_line.pop(now) {
            if let Some(traffic) = self.traffic.get_mut(usize::from(port)) {
                traffic.transmitted.add(frame.len() as u32);
            }
            if self.cpu_port == Some(port) {
                self.balance.packets_in += 1;
                out.packet_in(&frame);
            } else {
                self.balance.transmitted += 1;
                out.transmit(port, &mut frame, arrival_ns);
            }
            self.recycle_frame(frame);
        }
    }

    fn recycle_frame(&mut self, frame: Frame) {
        if let Some(program) = &mut self.program {
            program.pipeline.recycle_frame(frame);
        }
    }

    /// Drops everything that belongs to the loaded program.
    fn flush(&mut self) {
        let flushed = &mut self.balance.flushed;
        self.queues.flush(|_| *flushed += 1);
        while self.recirculation.pop().is_some() {
            *flushed += 1;
        }
    }
}
