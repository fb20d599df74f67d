//! Shared part of the tests: a switch that runs `programs/probe.p4`, and its frames.

use std::sync::OnceLock;

use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_engine::{
    Balance, DigestMessage, Discipline, Engine, Frame, FrameSink, Nanos, NodeConfig, Output, Pipeline, Port,
    PortConfig, PortSettings, QueueConfig, TreeConfig,
};

pub const SECOND: Nanos = 1_000_000_000;
pub const MILLISECOND: Nanos = 1_000_000;

pub const DROP: u8 = 0;
pub const FORWARD: u8 = 1;
pub const MULTICAST: u8 = 2;
pub const RECIRCULATE: u8 = 3;
pub const CLONE: u8 = 4;
pub const DROP_AT_EGRESS: u8 = 5;
pub const DIGEST: u8 = 6;
pub const CLONE_AT_INGRESS: u8 = 7;
pub const PASS_TWICE: u8 = 8;

const HEADER_BYTES: usize = 29;

/// The request in the header of `programs/probe.p4`.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub op: u8,
    pub port: u8,
    pub priority: u8,
    pub user: u8,
    pub rank: u16,
    pub bytes: usize,
}

/// A full-size frame that is to be forwarded to port 2.
pub const FULL: Request = Request {
    op: FORWARD,
    port: 2,
    priority: 0,
    user: 0,
    rank: 0,
    bytes: 1500,
};

impl Request {
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0; self.bytes.max(HEADER_BYTES)];
        frame[..4].copy_from_slice(&[self.op, self.port, self.priority, self.user]);
        frame[4..6].copy_from_slice(&self.rank.to_be_bytes());
        frame
    }
}

/// Values that a frame brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub port: Port,
    pub due: Nanos,
    pub op: u8,
    pub priority: u8,
    pub user: u8,
    pub rank: u16,
    pub depth_at_ingress: u32,
    pub depth_at_egress: u32,
    pub enq_depth: u16,
    pub deq_depth: u16,
    pub enq_timestamp: u32,
    pub deq_timedelta: u32,
    pub setting: u16,
    pub passes: u8,
    pub bytes: usize,
}

impl Probe {
    fn parse(port: Port, frame: &[u8], due: Nanos) -> Probe {
        let u16_at = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) << 16 | u32::from(u16_at(at + 2));
        Probe {
            port,
            due,
            op: frame[0],
            priority: frame[2],
            user: frame[3],
            rank: u16_at(4),
            depth_at_ingress: u32_at(6),
            depth_at_egress: u32_at(10),
            enq_depth: u16_at(14),
            deq_depth: u16_at(16),
            enq_timestamp: u32_at(18),
            deq_timedelta: u32_at(22),
            setting: u16_at(26),
            passes: frame[28],
            bytes: frame.len(),
        }
    }
}

/// Stores everything that the switch sends.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    pub sent: Vec<Probe>,
    pub packets_in: Vec<Probe>,
    pub digests: Vec<DigestMessage>,
}

impl FrameSink for Recorder {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.sent.push(Probe::parse(port, frame, due));
    }
}

impl Output for Recorder {
    fn packet_in(&mut self, frame: &[u8]) {
        self.packets_in.push(Probe::parse(0, frame, 0));
    }

    fn digest(&mut self, digest: DigestMessage) {
        self.digests.push(digest);
    }
}

/// A switch, and everything that it has sent.
pub struct Switch {
    pub engine: Engine,
    pub out: Recorder,
}

impl Switch {
    /// A switch that runs `programs/probe.p4` with its register of queue lengths.
    pub fn new() -> Switch {
        let mut engine = Engine::new();
        engine.load(probe_program(), &["depths".to_string()]).unwrap();
        Switch {
            engine,
            out: Recorder::default(),
        }
    }

    pub fn with_port(port: Port, settings: PortSettings) -> Switch {
        let mut switch = Switch::new();
        switch.engine.set_port(port, settings).unwrap();
        switch
    }

    pub fn receive(&mut self, now: Nanos, request: Request) {
        self.engine.receive(now, 1, &request.frame(), &mut self.out);
    }

    pub fn advance(&mut self, now: Nanos) {
        self.engine.advance(now, &mut self.out);
    }

    /// Advances from event to event until no work is left.
    pub fn finish(&mut self) {
        while let Some(at) = self.engine.next_event() {
            self.advance(at);
        }
    }

    pub fn balance(&self) -> Balance {
        let balance = self.engine.balance();
        assert!(balance.balanced(), "{balance:?}");
        balance
    }

    /// Value of the cell in the register of queue lengths.
    pub fn depth_cell(&self, port: Port, priority: u8) -> u32 {
        let program = self.engine.pipeline().unwrap();
        let register = program.register("depths").unwrap();
        let cell = program
            .register_read(register, usize::from(port) << 3 | usize::from(priority))
            .unwrap();
        cell.into_iter().fold(0, |value, byte| value << 8 | u32::from(byte))
    }
}

/// The compiled program `programs/probe.p4`.
pub fn probe_program() -> Pipeline {
    static JSON: OnceLock<String> = OnceLock::new();
    let json = JSON.get_or_init(|| {
        let source = Input {
            name: "probe.p4",
            text: include_str!("../programs/probe.p4"),
        };
        compile(&source, &EmbeddedIncludes, &Options::default()).unwrap().json
    });
    Pipeline::from_json(json.as_bytes()).unwrap()
}

/// A shaped port whose queues are large enough for every test.
pub fn shaped(rate_bps: u64) -> PortSettings {
    PortSettings {
        config: PortConfig {
            rate_bps,
            queues: [QueueConfig {
                size_packets: 100,
                rate_pps: 0,
            }; 8],
            buffer_packets: 100,
            tree: TreeConfig {
                nodes: vec![NodeConfig::new(0, Discipline::Fifo)],
            },
            ..PortConfig::default()
        },
        user_field: Some("meta.user".to_string()),
        rank_field: Some("meta.rank".to_string()),
        ..PortSettings::default()
    }
}

pub fn with_discipline(discipline: Discipline, settings: PortSettings) -> PortSettings {
    PortSettings {
        config: PortConfig {
            discipline,
            ..settings.config
        },
        ..settings
    }
}
