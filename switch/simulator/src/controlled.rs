//! One egress port of a compiled ranked program in stepped time, for a controller in the loop. The controller lets time
//! pass, reads the program's counters and changes its parameters. At the end it gets the departures of the packets.

use p4sched_dataplane::Port;
use p4sched_schedulers::scheme::P4;
use p4sched_schedulers::{Nanos, Scheme, Target};
use serde_json::{Value, json};

use crate::arrivals::Arrival;
use crate::frames::Datagram;
use crate::program::{Program, ProgramError};
use crate::switch::{ArgumentError, Sent, Switch};

const PORT: Port = 1;
/// Number of cells in a logarithmic histogram.
const BUCKETS: usize = 33;

#[derive(Debug, thiserror::Error)]
pub enum ControlledError {
    /// The program cannot run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program cannot have these parameters.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// The program has no admission rule.
    #[error("{0}.p4 does not count decisions by rank; only its departures are known")]
    NoCounters(&'static str),
}

#[derive(Debug)]
pub struct ControlledPort {
    switch: Switch,
    p4: P4,
    arrivals: Vec<Arrival>,
    /// Number of packets that have arrived.
    arrived: usize,
    /// Time at which the last bit of each packet left.
    departed: Vec<Option<Nanos>>,
    sent: Sent,
    frame: Vec<u8>,
}

impl ControlledPort {
    /// A port with a link of this rate. `queue_size`: packets that each queue of the traffic manager can hold.
    ///
    /// # Errors
    /// If the program does not load.
    pub fn new(
        program: &Program,
        scheme: Scheme,
        rate_bps: u64,
        queue_size: u32,
        arrivals: Vec<Arrival>,
    ) -> Result<ControlledPort, ControlledError> {
        let mut switch = Switch::new(program, scheme)?;
        switch.route_ranked(PORT);
        switch.set_link(PORT, rate_bps, |_| queue_size);
        Ok(ControlledPort {
            switch,
            p4: scheme.p4(),
            departed: vec![None; arrivals.len()],
            arrivals,
            arrived: 0,
            sent: Sent::default(),
            frame: Vec::new(),
        })
    }

    /// Changes the parameters: the action data of the program's default action.
    ///
    /// # Errors
    /// If the program takes another number of parameters, or has no window of that size.
    pub fn set_parameters(&mut self, data: &[u64]) -> Result<(), ControlledError> {
        self.switch.check_arguments(data)?;
        self.switch.set_default(self.p4.table, self.p4.action, data);
        Ok(())
    }

    /// Runs every event before `now`.
    pub fn run_until(&mut self, now: Nanos) {
        while let Some(&arrival) = self.arrivals.get(self.arrived).filter(|next| next.at < now) {
            Datagram::ranked(self.arrived as u64, arrival.rank, arrival.frame_bytes).write(&mut self.frame);
            self.switch.receive(arrival.at, &self.frame, &mut self.sent);
            self.arrived += 1;
            self.note_departures();
        }
        if now > 0 {
            self.switch.advance(now - 1, &mut self.sent);
            self.note_departures();
        }
    }

    /// The program's counters of this port, in the form that the control laws read. `admitted`, `refused` and `full`
    /// are in packets and bytes.
    ///
    /// # Errors
    /// If the program has no such counters.
    pub fn counters(&self) -> Result<Value, ControlledError> {
        if !self.p4.verdicts {
            return Err(ControlledError::NoCounters(self.p4.program));
        }
        let first = usize::from(PORT) << 3;
        let verdict = |name: &str| {
            let counts = (first..first + 8).map(|cell| self.switch.counter(name, cell));
            let (packets, bytes) = counts.fold((0, 0), |sum, count| (sum.0 + count.packets, sum.1 + count.bytes));
            json!([packets, bytes])
        };
        let histogram = |name: &str| -> Vec<u64> {
            let cells = (0..BUCKETS).map(|bucket| usize::from(PORT) << 6 | bucket);
            cells.map(|cell| self.switch.counter(name, cell).packets).collect()
        };
        Ok(json!({
            "admitted": verdict("carry_out.admitted"),
            "refused": verdict("carry_out.dropped_by_admission"),
            "full": verdict("carry_out.dropped_full"),
            "ranks": histogram("ranking.rank_histogram"),
            "depths": histogram(match self.switch.target() {
                Target::V1model => "carry_out.depth_histogram",
                Target::Tna | Target::T2na => "count_depth.depth_histogram",
            }),
        }))
    }

    /// Runs until no packet waits. Returns when the last bit of each packet left, or `None` for a dropped packet.
    pub fn finish(mut self) -> Vec<Option<Nanos>> {
        self.run_until(Nanos::MAX);
        self.departed
    }

    fn note_departures(&mut self) {
        self.sent.drain(|_, id, due, _| {
            if let Some(departed) = id.and_then(|id| self.departed.get_mut(id as usize)) {
                *departed = Some(due);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str) -> Program {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
        Program::compile(&directory, name, Target::V1model).unwrap()
    }

    #[test]
    fn packets_wait_for_the_link_and_a_smaller_target_drops_but_loses_none_that_waits() {
        // Five frames of 1000 bytes at once; each takes 1 ms at 8 Mbit/s.
        let five = (0..5).map(|rank| Arrival {
            at: 10,
            rank,
            frame_bytes: 1000,
        });
        let late = Arrival {
            at: 1_500_000,
            rank: 0,
            frame_bytes: 1000,
        };
        let arrivals: Vec<Arrival> = five.chain([late]).collect();
        let mut port = ControlledPort::new(&program("aifo"), Scheme::Aifo, 8_000_000, 100, arrivals).unwrap();
        port.set_parameters(&[20, 20, 255, 20, 1]).unwrap();
        port.run_until(1_000_000);
        assert_eq!(port.counters().unwrap()["admitted"], json!([5, 5000]));
        // C = 1 with four packets waiting: the arriving packet is refused, the waiting ones are sent.
        port.set_parameters(&[1, 1, 0, 20, 1]).unwrap();
        port.run_until(2_000_000);
        assert_eq!(port.counters().unwrap()["refused"], json!([1, 1000]));
        let sent_at = |ms: u64| Some(10 + ms * 1_000_000);
        assert_eq!(
            port.finish(),
            [sent_at(1), sent_at(2), sent_at(3), sent_at(4), sent_at(5), None]
        );
    }

    #[test]
    fn pifo_keeps_the_most_urgent() {
        let arrivals = (0..4)
            .map(|rank| Arrival {
                at: 0,
                rank: 9 - rank,
                frame_bytes: 1000,
            })
            .collect();
        let port = ControlledPort::new(&program("fifo"), Scheme::Pifo, 8_000_000, 2, arrivals).unwrap();
        let error = port.counters().unwrap_err().to_string();
        assert!(error.starts_with("fifo.p4 does not count decisions by rank"), "{error}");
        // The first packet is on the wire; of 8, 7 and 6, two find room.
        assert_eq!(port.finish(), [Some(1_000_000), None, Some(3_000_000), Some(2_000_000)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut port = ControlledPort::new(&program("packs"), Scheme::Packs, 8_000_000, 10, Vec::new()).unwrap();
        let wrong = |data: &[u64], port: &mut ControlledPort| port.set_parameters(data).unwrap_err().to_string();
        assert_eq!(wrong(&[1, 2], &mut port), "2 parameters for set_packs: it takes 11");
        let sizes = [1, 1, 1, 1, 1, 1, 1, 1, 0, 33, 1];
        assert!(wrong(&sizes, &mut port).contains("compiled for 1 to 32"));
        let sizes = [1, 1, 65_536, 1, 1, 1, 1, 1, 0, 16, 1];
        assert_eq!(
            wrong(&sizes, &mut port),
            "set_packs: size_3 = 65536 does not fit its 16 bits"
        );
    }
}
