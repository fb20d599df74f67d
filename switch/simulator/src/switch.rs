//! The P4 program under test, in the switch's engine.

use p4sched_dataplane::{
    ActionCall, CloneSession, Count, CounterId, DigestMessage, MatchKey, Pipeline, Port, RegisterId, TableId,
};
use p4sched_engine::{Engine, EventSink, Frame, FrameSink, Output, PortSettings};
use p4sched_proto::constants::{
    CPU_PORT, ETHERTYPE_WORKER, LENGTH_REPORT_BYTES, LENGTH_REPORT_SESSION, RANK_HEADER, RECIRCULATION_PORT_T2NA,
    RECIRCULATION_PORT_TNA, RECIRCULATION_PORT_V1MODEL,
};
use p4sched_schedulers::described::PortExtras;
use p4sched_schedulers::scheme::{P4, WINDOW_PARAMETER};
use p4sched_schedulers::{Config, Nanos, Scheme, Target};
use p4sched_traffic_manager::{CalendarConfig, MemoryConfig, PortConfig, ScrrConfig};

use crate::frames;
use crate::model::Decision;
use crate::parameters::Parameters;
use crate::program::{Program, ProgramError};

/// Size in packets of a queue that ingress keeps short.
const PLENTY: u32 = 1 << 20;

/// Frames that the switch sent.
#[derive(Debug, Default)]
pub struct Sent {
    /// Port, number of the packet, time at the far end, and bytes of each frame.
    pub frames: Vec<(Port, Option<u64>, Nanos, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
}

impl Sent {
    /// Takes out all frames and keeps their memory. `see` gets the port, number of the packet, time at the far end, and
    /// bytes.
    pub fn drain(&mut self, mut see: impl FnMut(Port, Option<u64>, Nanos, &[u8])) {
        for (port, id, due, frame) in self.frames.drain(..) {
            see(port, id, due, &frame);
            self.spare.push(frame);
        }
    }

    /// Returns the memory of a frame for reuse.
    pub fn recycle(&mut self, frame: Vec<u8>) {
        self.spare.push(frame);
    }
}

impl FrameSink for Sent {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(frame);
        self.frames.push((port, frames::id(frame), due, copy));
    }
}

impl Output for Sent {
    fn packet_in(&mut self, _frame: &[u8]) {}

    fn digest(&mut self, _digest: DigestMessage) {}
}

/// Counters of a port, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets enqueued by the traffic manager, by priority.
    pub enqueued: [u64; 8],
    /// Packets that wait in the traffic manager, by priority.
    pub lengths: [u64; 8],
    /// Packets pushed out by the traffic manager.
    pub pushed_out: u64,
    /// Packets admitted by the program, as it counts them.
    pub admitted: u64,
    /// Packets refused by the admission rule, as the program counts them.
    pub refused: u64,
    /// Packets that found no room: counted by the program, or refused by a queue of the traffic manager.
    pub full: u64,
}

/// A program's counters for each (port, priority).
#[derive(Clone, Copy, Debug)]
struct DecisionCounters {
    /// Counter of admitted packets.
    admitted: CounterId,
    /// Counter of refused packets; programs without an admission rule have none.
    refused: Option<CounterId>,
    full: CounterId,
    /// The cells of `full` are ports, not (port, priority).
    full_by_port: bool,
}

/// The port of worker packets and departure reports.
fn recirculation_port(target: Target) -> Port {
    match target {
        Target::V1model => RECIRCULATION_PORT_V1MODEL,
        Target::Tna => RECIRCULATION_PORT_TNA,
        Target::T2na => RECIRCULATION_PORT_T2NA,
    }
}

/// Reason why a program cannot have these parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// There are too many or too few values.
    #[error("{0} parameters for {1}: it takes {2}")]
    Count(usize, &'static str, usize),
    /// A value does not fit into the bits of its parameter.
    #[error("{action}: {name} = {value} does not fit its {width} bits")]
    TooWide {
        action: &'static str,
        name: String,
        value: u64,
        /// Width of the parameter in bits.
        width: u32,
    },
    /// The program has no registers for this window.
    #[error("a window of {0} ranks: the programs were compiled for 1 to {1}")]
    Window(u64, usize),
}

/// A program in the engine.
#[derive(Debug)]
pub struct Switch {
    engine: Engine,
    p4: P4,
    target: Target,
    counters: DecisionCounters,
    /// Names of the parameters of the action.
    action_parameters: Vec<&'static str>,
    /// Settings of the ports of a scheme that a file describes.
    extras: Option<&'static PortExtras>,
    /// Their numbers, for the port that was set last.
    calendar: CalendarConfig,
    scrr: ScrrConfig,
}

pub const ROUTES: &str = "forwarding.ipv4_routes";

/// Unwraps the id of a name that every program of this project has.
fn known<T>(what: Option<T>, name: &str) -> T {
    what.unwrap_or_else(|| panic!("the program has no {name}"))
}

/// # Errors
/// If the table of the parameters does not have the action, or the action has other parameters.
fn require_action(
    program: &Program,
    p4: &P4,
    parameters: &[&str],
    target: Target,
    pipeline: &Pipeline,
) -> Result<(), ProgramError> {
    let file = format!("{}.p4", program.name());
    let table = pipeline.table(&format!("{}{}.{}", target.prefix(), p4.ingress(), p4.table));
    // The full name of an action begins with its control, but not with a pipe.
    let holder = p4.table.rsplit_once('.').map_or("", |(holder, _)| holder);
    let name = format!("{}.{holder}.{}", p4.ingress(), p4.action).replace("..", ".");
    let action = table.and_then(|table| pipeline.table_action(table, &name));
    let Some(action) = action else {
        return Err(ProgramError::Lacks { file, name });
    };
    let found: Vec<&str> = pipeline
        .action_params(action)
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    if found == parameters {
        return Ok(());
    }
    let listed = |names: &[&str]| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        }
    };
    Err(ProgramError::Parameters {
        file,
        action: p4.action,
        found: listed(&found),
        described: listed(parameters),
    })
}

fn bytes(value: u64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

impl Switch {
    /// Loads the program, with empty tables.
    ///
    /// # Errors
    /// If the program does not load, or lacks a table or counter that the programs of this project have.
    pub fn new(program: &Program, scheme: Scheme) -> Result<Switch, ProgramError> {
        Switch::with(program, scheme, program.pipeline()?)
    }

    /// Takes a loaded program, with the entries of its pipeline.
    ///
    /// # Errors
    /// Those of [`Switch::new`].
    pub fn with(program: &Program, scheme: Scheme, mut pipeline: Pipeline) -> Result<Switch, ProgramError> {
        let (p4, target) = (scheme.p4(), program.target());
        if target == Target::Tna {
            let session = CloneSession {
                replicas: vec![(recirculation_port(target), 1)],
                group: None,
                truncate_to: Some(LENGTH_REPORT_BYTES),
                class_of_service: 0,
            };
            pipeline.clone_session_set(LENGTH_REPORT_SESSION, session);
        }
        let lacks = |name: String| ProgramError::Lacks {
            file: format!("{}.p4", program.name()),
            name,
        };
        let whole = |name: &str| format!("{}{}.{name}", target.prefix(), p4.ingress());
        let ranks = p4.ranks.then_some("ranking.rank_sources");
        let tables = [ROUTES, p4.table].into_iter().chain(ranks).map(whole);
        if let Some(missing) = tables.into_iter().find(|name| pipeline.table(name).is_none()) {
            return Err(lacks(missing));
        }
        let counter = |name: &str| pipeline.counter(&whole(name)).ok_or_else(|| lacks(whole(name)));
        let action_parameters = scheme.action_parameters();
        require_action(program, &p4, &action_parameters, target, &pipeline)?;
        let verdicts = pipeline.counter(&whole("carry_out.admitted")).is_some();
        let counters = if verdicts || p4.verdicts {
            DecisionCounters {
                admitted: counter("carry_out.admitted")?,
                refused: Some(counter("carry_out.dropped_by_admission")?),
                full: counter("carry_out.dropped_full")?,
                full_by_port: false,
            }
        } else {
            DecisionCounters {
                admitted: counter("admit.band_admitted")?,
                refused: None,
                full: counter("admit.port_dropped")?,
                full_by_port: true,
            }
        };
        let mut engine = Engine::new();
        engine
            .load(pipeline, program.queue_depth_registers())
            .unwrap_or_else(|error| panic!("{}: {error}", program.name()));
        if target == Target::Tna {
            engine.set_recirculation_latency(0);
        }
        Ok(Switch {
            engine,
            p4,
            target,
            counters,
            action_parameters,
            extras: match scheme {
                Scheme::Folder(described) => Some(&described.port),
                _ => None,
            },
            calendar: CalendarConfig::default(),
            scrr: ScrrConfig::default(),
        })
    }

    /// The program with its entries, restarted: registers and counters are as after loading.
    pub fn into_restarted(mut self) -> Option<Pipeline> {
        let mut pipeline = self.engine.unload()?;
        pipeline.restart();
        Some(pipeline)
    }

    /// Sends the events of packets to `sink` from then on.
    pub fn trace(&mut self, sink: EventSink) {
        self.engine.trace(sink);
    }

    pub fn target(&self) -> Target {
        self.target
    }

    /// Name of the ingress control on the control plane.
    pub fn ingress(&self) -> String {
        format!("{}{}", self.target.prefix(), self.p4.ingress())
    }

    /// Tables and registers of the program.
    pub fn pipeline(&self) -> &Pipeline {
        known(self.engine.pipeline(), "pipeline")
    }

    fn pipeline_mut(&mut self) -> &mut Pipeline {
        known(self.engine.pipeline_mut(), "pipeline")
    }

    fn call(&self, table: &str, action: &str, data: &[u64]) -> (TableId, ActionCall) {
        let name = format!("{}.{table}", self.ingress());
        let pipeline = self.pipeline();
        let id = known(pipeline.table(&name), &name);
        // The full name of an action begins with its control, but not with a pipe.
        let holder = table.rsplit_once('.').map_or("", |(holder, _)| holder);
        let action = format!("{}.{holder}.{action}", self.p4.ingress()).replace("..", ".");
        let action = known(pipeline.table_action(id, &action), &action);
        let params = data.iter().map(|&value| bytes(value)).collect();
        (id, ActionCall::Action { action, params })
    }

    /// Names and widths in bits of an action's parameters, for a table below the ingress control.
    pub fn action_params(&self, table: &str, action: &str) -> &[(String, u32)] {
        match self.call(table, action, &[]) {
            (_, ActionCall::Action { action, .. }) => self.pipeline().action_params(action),
            _ => &[],
        }
    }

    /// Adds an entry to a table below the ingress control, or changes its action.
    ///
    /// # Panics
    /// If the program has no such table or action, or refuses the entry.
    pub fn set_entry(&mut self, table: &str, key: &[MatchKey], action: &str, data: &[u64]) {
        let (table, call) = self.call(table, action, data);
        let priority = i32::from(self.pipeline().table_has_priority(table));
        let found = self.pipeline().table_find(table, key, priority);
        let pipeline = self.pipeline_mut();
        let written = match found {
            Some(entry) => pipeline.table_modify(table, entry, &call),
            None => pipeline.table_insert(table, key, priority, &call).map(drop),
        };
        written.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Changes the default action of a table below the ingress control.
    ///
    /// # Panics
    /// Same as [`Switch::set_entry`].
    pub fn set_default(&mut self, table: &str, action: &str, data: &[u64]) {
        let (table, call) = self.call(table, action, data);
        let written = self.pipeline_mut().table_set_default(table, Some(&call));
        written.unwrap_or_else(|error| panic!("{error}"));
    }

    /// # Errors
    /// If the action cannot have these arguments, or the program has no registers for so large a window.
    pub fn check_arguments(&self, data: &[u64]) -> Result<(), ArgumentError> {
        let P4 { table, action, .. } = self.p4;
        let parameters = &self.action_parameters;
        if data.len() != parameters.len() {
            return Err(ArgumentError::Count(data.len(), action, parameters.len()));
        }
        let most = self.target.max_window();
        let window = parameters.iter().position(|&name| name == WINDOW_PARAMETER);
        if let Some(size) = window.map(|at| data[at])
            && !(1..=most as u64).contains(&size)
        {
            return Err(ArgumentError::Window(size, most));
        }
        for ((name, width), &value) in self.action_params(table, action).iter().zip(data) {
            if *width < u64::BITS && value >> width != 0 {
                let (name, width) = (name.clone(), *width);
                return Err(ArgumentError::TooWide {
                    action,
                    name,
                    value,
                    width,
                });
            }
        }
        Ok(())
    }

    /// Sends 10.200.0.0/16 to this port, and takes ranks from the rank header of datagrams.
    ///
    /// # Panics
    /// Same as [`Switch::set_entry`].
    pub fn route_ranked(&mut self, port: Port) {
        let route = [MatchKey::Lpm(vec![10, 200, 0, 0], 16)];
        self.set_entry(ROUTES, &route, "forward", &[u64::from(port), 1]);
        self.set_default("ranking.rank_sources", "set_rank_source", &[RANK_HEADER]);
    }

    /// Configures a port: the scheduler's parameters as an entry or as the default action, and the rate and sizes of
    /// its queues.
    ///
    /// # Panics
    /// Same as [`Switch::set_entry`], or if the engine refuses the settings.
    pub fn set_port(&mut self, port: Port, parameters: &Parameters, by_default: bool, rate_bps: u64) {
        let P4 { table, action, .. } = self.p4;
        let data = parameters.arguments();
        if let Config::Folder(config) = &parameters.config {
            (self.calendar, self.scrr) = (config.calendar, config.scrr);
        }
        if by_default {
            self.set_default(table, action, &data);
        } else {
            self.set_entry(table, &[MatchKey::Exact(bytes(u64::from(port)))], action, &data);
        }
        self.set_link(port, rate_bps, |priority| {
            parameters.queue_size(priority).map_or(PLENTY, |size| size as u32)
        });
    }

    /// Configures the link of a port: its rate, and the sizes in packets of its queues by priority.
    ///
    /// # Panics
    /// If the engine refuses the settings.
    pub fn set_link(&mut self, port: Port, rate_bps: u64, size: impl Fn(usize) -> u32) {
        let mut config = PortConfig {
            rate_bps,
            discipline: self.p4.discipline,
            buffer_packets: size(0),
            ..PortConfig::default()
        };
        for (priority, queue) in config.queues.iter_mut().enumerate() {
            queue.size_packets = size(priority);
        }
        let mut settings = PortSettings {
            config,
            rank_field: self.p4.rank_field.map(str::to_owned),
            ..PortSettings::default()
        };
        if let Some(extras) = self.extras {
            settings.config.calendar = self.calendar;
            settings.config.scrr = self.scrr;
            settings.config.tree = extras.tree.clone();
            if let Some(quantum) = extras.quantum_bytes {
                settings.config.quantum_bytes = quantum;
            }
            settings.user_field = extras.user_field.clone();
            settings.leaf_field = extras.leaf_field.clone();
            settings.level_rank_fields = extras.level_rank_fields.clone();
        }
        let set = self.engine.set_port(port, settings);
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Sets the propagation delay of the link of a configured port.
    ///
    /// # Panics
    /// If the engine refuses the settings.
    pub fn set_delay(&mut self, port: Port, delay_ns: Nanos) {
        let mut settings = self.engine.port(port);
        settings.config.delay_ns = delay_ns;
        let set = self.engine.set_port(port, settings);
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Configures the memory that all ports share.
    ///
    /// # Panics
    /// If the engine refuses the settings.
    pub fn set_memory(&mut self, memory: MemoryConfig) {
        let set = self.engine.set_memory(memory);
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Runs every event that is due by `now`.
    pub fn advance(&mut self, now: Nanos, sent: &mut impl Output) {
        self.catch_up(now, sent);
        self.engine.advance(now, sent);
    }

    /// Runs the engine up to `now`. One call of the engine makes a limited number of recirculations
    /// (engine/src/recirculation.rs), so each time has its own calls.
    fn catch_up(&mut self, now: Nanos, sent: &mut impl Output) {
        while let Some(at) = self.engine.next_event()
            && at <= now
        {
            self.engine.advance(at, sent);
        }
    }

    /// Takes an arriving frame.
    pub fn receive(&mut self, now: Nanos, frame: &[u8], sent: &mut impl Output) {
        self.catch_up(now, sent);
        self.engine.receive(now, 0, frame, sent);
    }

    /// Starts a worker packet (`p4/include/worker.p4`). It visits the ports 0 .. `ports` - 1, one in each `pass`.
    ///
    /// # Panics
    /// Never: the switch has a CPU port.
    pub fn start_worker(&mut self, ports: u16, pass: Nanos, sent: &mut Sent) {
        self.engine.set_cpu_port(Some(CPU_PORT));
        self.engine.set_recirculation_latency(pass);
        let mut frame = vec![0; 22];
        frame[12..14].copy_from_slice(&ETHERTYPE_WORKER.to_be_bytes());
        frame[14..16].copy_from_slice(&ports.to_be_bytes());
        let now = self.engine.clock();
        self.engine.packet_out(now, &frame, sent).expect("there is a CPU port");
    }

    /// Drops the worker packet at its next pass: its port has no room then.
    pub fn stop_worker(&mut self) {
        self.set_link(recirculation_port(self.target), 0, |_| 0);
    }

    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    pub fn next_event(&self) -> Option<Nanos> {
        self.engine.next_event()
    }

    /// Time of the next departure or recirculation.
    pub fn next_departure(&self) -> Option<Nanos> {
        self.engine.next_departure()
    }

    /// Time at which the first frame on the link of a port reaches the far end.
    pub fn next_arrival(&self, port: Port) -> Option<Nanos> {
        self.engine.next_arrival(port)
    }

    /// Number of packets that wait at a port.
    pub fn waiting(&self, port: Port) -> u32 {
        self.engine.waiting(port)
    }

    /// True if the engine accounts for every packet.
    pub fn balanced(&self) -> bool {
        self.engine.balance().balanced()
    }

    /// Packets and bytes that a port has sent.
    pub fn transmitted(&self, port: Port) -> p4sched_traffic_manager::Count {
        self.engine.traffic(port).transmitted
    }

    /// Packets dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.engine.balance().dropped()
    }

    pub fn counts(&self, port: Port) -> Counts {
        let stats = self.engine.queue_stats(port);
        let first = usize::from(port) << 3;
        let pipeline = self.pipeline();
        let cell = |counter, cell| pipeline.counter_read(counter, cell).map_or(0, |count| count.packets);
        let port_sum = |counter| (first..first + 8).map(|at| cell(counter, at)).sum::<u64>();
        let full = match self.counters.full_by_port {
            true => cell(self.counters.full, usize::from(port)),
            false => port_sum(self.counters.full),
        };
        Counts {
            enqueued: std::array::from_fn(|queue| stats.queues[queue].enqueued.packets),
            lengths: std::array::from_fn(|queue| stats.queues[queue].length.packets),
            pushed_out: stats.total(|queue| queue.pushed_out).packets,
            admitted: port_sum(self.counters.admitted),
            refused: self.counters.refused.map_or(0, port_sum),
            full: full + stats.total(|queue| queue.dropped).packets,
        }
    }

    /// Reads a cell of a counter.
    ///
    /// # Panics
    /// If the program has no such counter or cell.
    pub fn counter(&self, name: &str, cell: usize) -> Count {
        let name = format!("{}.{name}", self.ingress());
        let id = known(self.pipeline().counter(&name), &name);
        let count = self.pipeline().counter_read(id, cell);
        count.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Reads a register cell of at most 64 bits. `name`: the name without its pipe.
    ///
    /// # Panics
    /// If the program has no such register or cell.
    pub fn register(&self, name: &str, cell: usize) -> u64 {
        let id = known(self.register_id(name), name);
        let value = self.pipeline().register_read(id, cell);
        let value = value.unwrap_or_else(|error| panic!("{error}"));
        value.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn register_id(&self, name: &str) -> Option<RegisterId> {
        self.pipeline().register(&format!("{}{name}", self.target.prefix()))
    }
}

impl Counts {
    /// The decision that explains the change from `before`; `None` if the counters do not show exactly one.
    pub fn decision_since(&self, before: &Counts) -> Option<Decision> {
        let queued: Vec<usize> = (0..8)
            .filter(|&queue| self.enqueued[queue] != before.enqueued[queue])
            .collect();
        let added: u64 = self.enqueued.iter().sum::<u64>() - before.enqueued.iter().sum::<u64>();
        let changes = (
            added,
            self.pushed_out - before.pushed_out,
            self.refused - before.refused,
            self.full - before.full,
        );
        match changes {
            (1, 0, 0, 0) => Some(Decision::Queued { priority: queued[0] }),
            (1, 1, 0, 0) => Some(Decision::PushedOut),
            (0, 0, 1, 0) => Some(Decision::Refused),
            (0, 0, 0, 1) => Some(Decision::Full),
            _ => None,
        }
    }
}
