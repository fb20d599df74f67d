//! A switch ready for packets, and its packets.

use std::path::Path;

use p4sched_dataplane::{DigestMessage, MatchKey, Port};
use p4sched_engine::{Frame, FrameSink, Output};
use p4sched_schedulers::{Config, Headroom, Nanos, Scheme, Sizes, Target};
use p4sched_simulator::frames::{Datagram, RANKED_PORT};
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::Switch;

pub const SCHEMES: [Scheme; 4] = [Scheme::Fifo, Scheme::Fdpa, Scheme::Aifo, Scheme::Packs];
/// Time in ns between packets of 1100 bytes: 11 Gbit/s over a link of 10 Gbit/s, as in PACKS 6.1.
const GAP: Nanos = 800;
const RATE_BPS: u64 = 10_000_000_000;
const PORT: Port = 1;
const USERS: u8 = 20;

/// Counts frames and discards them.
#[derive(Debug, Default)]
pub struct Sink {
    pub frames: u64,
}

impl FrameSink for Sink {
    fn transmit(&mut self, _port: Port, frame: &mut Frame, _due: Nanos) {
        self.frames += u64::from(!frame.is_empty());
    }
}

impl Output for Sink {
    fn packet_in(&mut self, _frame: &[u8]) {}

    fn digest(&mut self, _digest: DigestMessage) {}
}

/// The program of a scheme.
pub fn program(scheme: Scheme, target: Target) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Program::compile(&root.join(target.directory()), scheme.p4().program, target);
    program.unwrap_or_else(|error| panic!("{error}"))
}

/// Edges of FDPA's bands around the fair share: 10 Gbit/s of 20 users are 62,500 bytes in a millisecond.
const FDPA_EDGES: [u64; 7] = [8000, 16_000, 32_000, 62_500, 70_000, 80_000, 125_000];

fn config(scheme: Scheme, sizes: &Sizes) -> Config {
    let config = scheme.config(sizes).or_else(|_| {
        let sizes = vec![sizes.queue_size as u64; sizes.queues];
        let arguments = [1000].into_iter().chain(FDPA_EDGES).chain([0; 10]).chain(sizes);
        scheme.from_arguments(&arguments.collect::<Vec<u64>>())
    });
    config.unwrap_or_else(|error| panic!("{}: {error}", scheme.name()))
}

/// A loaded switch, and frames of 20 users with ranks 0 to 99.
pub struct Ready {
    pub switch: Switch,
    frames: Vec<Vec<u8>>,
    now: Nanos,
    pub sink: Sink,
}

impl Ready {
    /// A switch with eight queues of 10 packets and windows of 16 ranks.
    pub fn new(scheme: Scheme, target: Target, interpret: bool) -> Ready {
        let mut program = program(scheme, target);
        if interpret {
            program.interpret();
        }
        let sizes = Sizes {
            queues: 8,
            queue_size: 10,
            window: 16,
            headroom: Headroom::new(0, 8).expect("no headroom"),
            window_shift: 0,
            target,
        };
        let parameters = Parameters::new(config(scheme, &sizes), target);
        let mut switch = Switch::new(&program, scheme).unwrap_or_else(|error| panic!("{error}"));
        switch.set_port(PORT, &parameters, true, RATE_BPS);
        if scheme.p4().ranks {
            switch.route_ranked(PORT);
        } else {
            let route = [MatchKey::Lpm(vec![10, 200, 0, 0], 16)];
            switch.set_entry("forwarding.ipv4_routes", &route, "forward", &[u64::from(PORT), 1]);
        }
        for user in 1..=USERS {
            let key = [MatchKey::Lpm(vec![10, 0, 0, user], 32)];
            switch.set_entry("users.users_by_prefix", &key, "set_user", &[u64::from(user), 256]);
        }
        let frame = |number: u64| {
            let mut frame = Vec::new();
            let datagram = Datagram {
                id: number,
                source: [10, 0, 0, 1 + number as u8 % USERS],
                destination: [10, 200, 0, 1],
                source_port: 1024,
                destination_port: RANKED_PORT,
                tos: 0,
                rank: (number * 37 % 100) as u32,
                len: 1100,
            };
            datagram.write(&mut frame);
            frame
        };
        Ready {
            switch,
            frames: (0..100).map(frame).collect(),
            now: 0,
            sink: Sink::default(),
        }
    }

    /// Receives the next packets.
    pub fn receive(&mut self, packets: usize) {
        for _ in 0..packets {
            self.now += GAP;
            let frame = &self.frames[(self.now / GAP) as usize % self.frames.len()];
            self.switch.engine().receive(self.now, 0, frame, &mut self.sink);
        }
    }
}
