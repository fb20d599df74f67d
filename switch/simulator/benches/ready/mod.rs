//! A switch that is ready for packets, and packets for it.

use std::path::Path;

use p4sched_dataplane::{DigestMessage, MatchKey, Port};
use p4sched_engine::{FrameSink, Output};
use p4sched_schedulers::{Headroom, Nanos, Scheme, Sizes, Target};
use p4sched_simulator::frames::{Datagram, RANKED_PORT};
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::Switch;
use p4sched_simulator::workload::seeded;

pub const SCHEMES: [Scheme; 4] = [Scheme::Fifo, Scheme::Fdpa, Scheme::Aifo, Scheme::Packs];
/// Between packets of 1100 bytes: 11 Gbit/s over a link of 10 Gbit/s, as in PACKS 6.1.
const GAP: Nanos = 800;
const RATE_BPS: u64 = 10_000_000_000;
const PORT: Port = 1;
const USERS: u8 = 20;

/// Takes frames, and forgets them.
#[derive(Debug, Default)]
pub struct Sink {
    /// Frames taken.
    pub frames: u64,
}

impl FrameSink for Sink {
    fn transmit(&mut self, _port: Port, frame: &[u8], _due: Nanos) {
        self.frames += u64::from(!frame.is_empty());
    }
}

impl Output for Sink {
    fn packet_in(&mut self, _frame: &[u8]) {}

    fn digest(&mut self, _digest: DigestMessage) {}
}

/// The program of a scheme.
pub fn program(scheme: Scheme) -> Program {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let program = Program::compile(&directory, scheme.p4().program, Target::V1model);
    program.unwrap_or_else(|error| panic!("{error}"))
}

/// A loaded switch, and frames of 20 users with ranks 0 to 99.
pub struct Ready {
    switch: Switch,
    frames: Vec<Vec<u8>>,
    now: Nanos,
    pub sink: Sink,
}

impl Ready {
    /// Eight queues of 10 packets, windows of 16 ranks.
    pub fn new(scheme: Scheme, interpret: bool) -> Ready {
        let mut program = program(scheme);
        if interpret {
            program.interpret();
        }
        let sizes = Sizes {
            queues: 8,
            queue_size: 10,
            window: 16,
            headroom: Headroom::new(0, 8).expect("no headroom"),
            window_shift: 0,
            target: Target::V1model,
        };
        // The edges of FDPA's bands are rates, which do not follow from sizes.
        let parameters = match scheme.config(&sizes) {
            Ok(config) => Parameters::new(config, Target::V1model),
            Err(_) => Parameters::draw(scheme, Target::V1model, &mut seeded(1), None),
        };
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

    /// The next packets arrive.
    pub fn receive(&mut self, packets: usize) {
        for _ in 0..packets {
            self.now += GAP;
            let frame = &self.frames[(self.now / GAP) as usize % self.frames.len()];
            self.switch.receive(self.now, frame, &mut self.sink);
        }
    }
}
