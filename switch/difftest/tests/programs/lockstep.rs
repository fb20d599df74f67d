//! Runs a program and its model side by side.

use std::fmt::Write as _;

use p4sched_dataplane::MatchKey;
use p4sched_schedulers::config::MAX_P4_QUEUES;
use p4sched_schedulers::fdpa::UNCLASSIFIED;
use p4sched_schedulers::scheme::Discipline;
use p4sched_schedulers::worker::Worker;
use p4sched_schedulers::{Nanos, StatePart, Target};
use p4sched_simulator::frames::{Datagram, flow_cell, is_forwarded};
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::program::Program;
use p4sched_simulator::switch::{Sent, Switch};
use p4sched_simulator::traffic::{Arrivals, FLOWS, USERS};
use p4sched_simulator::workload::seeded;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::lane::{self, Lane, RankSource};
use super::trial::{Mismatch, Tally, Trial};

/// The average number of packets between two changes of settings.
const CHANGE_EVERY: u32 = 300;
/// The number of packets between two comparisons of the whole state.
const COMPARE_EVERY: u64 = 500;

/// Runs a program and its model side by side.
///
/// # Errors
/// If the program does not load, or if program and model differ. Then the report has the seed, the packet, the
/// parameters and the state of both sides.
pub fn run(program: &Program, trial: &Trial) -> Result<Tally, Mismatch> {
    let mut lockstep = Lockstep::new(program, trial)?;
    lockstep.run()?;
    Ok(lockstep.tally)
}

struct Lockstep<'a> {
    trial: &'a Trial,
    random: ChaCha8Rng,
    switch: Switch,
    worker_runs: bool,
    lanes: Vec<Lane>,
    arrivals: Arrivals,
    now: Nanos,
    sent: Sent,
    /// All packets so far, by number.
    datagrams: Vec<Datagram>,
    frame: Vec<u8>,
    tally: Tally,
}

impl<'a> Lockstep<'a> {
    fn new(program: &Program, trial: &'a Trial) -> Result<Lockstep<'a>, Mismatch> {
        let mut random = seeded(trial.seed);
        let switch = Switch::new(program, trial.scheme)?;
        let lanes = lane::lanes(trial, &mut random)?;
        let arrivals = Arrivals::draw(lanes.iter().map(|lane| lane.rate_bps).sum(), &mut random);
        // In half of the trials, FDPA's 32-bit counter of microseconds wraps around during the trial.
        let start = if random.random() {
            0
        } else {
            (1 << 32) * 1000 - random.random_range(0..1_000_000_000)
        };
        let mut lockstep = Lockstep {
            trial,
            random,
            switch,
            worker_runs: false,
            lanes,
            arrivals,
            now: start,
            sent: Sent::default(),
            datagrams: Vec::new(),
            frame: Vec::new(),
            tally: Tally::default(),
        };
        lockstep.switch.advance(start, &mut lockstep.sent);
        lockstep.set_up();
        if trial.worker {
            lockstep.start_worker();
        }
        Ok(lockstep)
    }

    /// Writes routes, users, rank sources and parameters.
    fn set_up(&mut self) {
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            let (port, datagram) = (lane.port, lane.traffic.flow(0));
            let key = [MatchKey::Lpm(datagram.destination.to_vec(), 24)];
            self.switch.set_entry(
                "forwarding.ipv4_routes",
                &key,
                "forward",
                &[u64::from(port), 0x0200_0000_0003],
            );
            for user in 0..USERS {
                self.write_user(index, user);
            }
            if self.trial.scheme.p4().ranks {
                self.write_ranks(index);
            }
            self.write_parameters(index);
        }
    }

    /// Starts a worker packet that visits all ports up to the largest. One round takes as long as 3 to 300 arrivals.
    fn start_worker(&mut self) {
        let ports = 1 + self.lanes.iter().map(|lane| lane.port).max().unwrap_or_default();
        let arrivals = 3.0 * 100f64.powf(self.random.random());
        let pass = 1 + (arrivals * self.arrivals.mean_gap_ns() / f64::from(ports)) as Nanos;
        self.switch.start_worker(ports, pass, &mut self.sent);
        self.worker_runs = true;
        for lane in &mut self.lanes {
            lane.model.start_worker(Worker {
                first: self.now + Nanos::from(lane.port) * pass,
                round: Nanos::from(ports) * pass,
                pass,
            });
        }
    }

    /// Writes a user as a prefix; the last user of a port has a ternary key. A stranger is not written.
    fn write_user(&mut self, lane: usize, user: usize) {
        let source = [10, lane as u8, user as u8, 0];
        let id = self.lanes[lane].user(user);
        if id == UNCLASSIFIED {
            return;
        }
        let data = [u64::from(id), u64::from(self.lanes[lane].scales[user])];
        if user + 1 < USERS {
            let key = [MatchKey::Lpm(source.to_vec(), 24)];
            self.switch.set_entry("users.users_by_prefix", &key, "set_user", &data);
        } else {
            let any = || MatchKey::Ternary(vec![0], vec![0]);
            let source = MatchKey::Ternary(source.to_vec(), vec![255, 255, 255, 0]);
            let protocol = MatchKey::Ternary(vec![17], vec![255]);
            let key = [source, any(), protocol, any(), any()];
            let action = match self.trial.target {
                Target::V1model => "set_user",
                Target::Tna | Target::T2na => "set_flow_user",
            };
            self.switch.set_entry("users.users_by_flow", &key, action, &data);
        }
    }

    /// Writes the rank source of a port, and the static ranks of its flows.
    fn write_ranks(&mut self, lane: usize) {
        let Lane {
            port,
            source,
            traffic,
            static_ranks,
            ..
        } = &self.lanes[lane];
        let key = [MatchKey::Exact(port.to_be_bytes().to_vec())];
        self.switch
            .set_entry("ranking.rank_sources", &key, "set_rank_source", &[*source as u64]);
        for (flow, &rank) in static_ranks.iter().enumerate() {
            let any = || MatchKey::Ternary(vec![0], vec![0]);
            let datagram = traffic.flow(flow);
            let source = MatchKey::Ternary(datagram.source.to_vec(), vec![255; 4]);
            let source_port = MatchKey::Ternary(datagram.source_port.to_be_bytes().to_vec(), vec![255; 2]);
            let key = [source, any(), any(), source_port, any()];
            self.switch
                .set_entry("ranking.flow_ranks", &key, "set_rank", &[u64::from(rank)]);
        }
    }

    fn write_parameters(&mut self, lane: usize) {
        let Lane {
            port,
            parameters,
            rate_bps,
            ..
        } = &self.lanes[lane];
        self.switch.set_port(*port, parameters, lane == 0, *rate_bps);
    }

    fn run(&mut self) -> Result<(), Mismatch> {
        for number in 0..self.trial.packets {
            if self.random.random_range(0..CHANGE_EVERY) == 0 {
                self.advance()?;
                self.change()?;
            }
            self.now += self.arrivals.gap(&mut self.random);
            self.arrive(number)?;
            if number % COMPARE_EVERY == 0 {
                self.compare_state()?;
            }
        }
        if self.worker_runs {
            self.switch.stop_worker();
            self.worker_runs = false;
        }
        // The slowest link sends a full queue in less than a second, even if its rate changed last.
        self.now += 1_000_000_000_000;
        self.advance()?;
        self.compare_state()?;
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].model.next_departed().is_some() || self.switch.next_event().is_some() {
                return Err(self.differ(lane, "packets are left over when all should have departed"));
            }
        }
        match self.switch.balanced() {
            true => Ok(()),
            false => Err(self.differ(0, "the engine lost track of a packet")),
        }
    }

    /// Advances time on both sides; the departures must be equal.
    fn advance(&mut self) -> Result<(), Mismatch> {
        for lane in &mut self.lanes {
            lane.model.advance(self.now);
        }
        self.switch.advance(self.now, &mut self.sent);
        self.compare_departures()
    }

    /// Sends one packet to both sides.
    fn arrive(&mut self, number: u64) -> Result<(), Mismatch> {
        let at = self.random.random_range(0..self.lanes.len());
        for lane in &mut self.lanes {
            lane.model.advance(self.now);
        }
        let lane = &mut self.lanes[at];
        let (flow, datagram) = lane.traffic.next(number, &mut self.random);
        let mut packet = lane.packet(&self.trial.scheme.p4(), flow, &datagram);
        if let Some(mistake) = self.trial.mistake {
            mistake(&mut lane.parameters.clone(), &mut packet);
        }
        let expected = lane.model.enqueue(self.now, packet, lane.scales[flow % USERS]);

        self.datagrams.push(datagram);
        datagram.write(&mut self.frame);
        self.switch.receive(self.now, &self.frame, &mut self.sent);
        self.compare_departures()?;

        let lane = &mut self.lanes[at];
        let counts = self.switch.counts(lane.port);
        // Departures happened before this arrival; depths are compared separately.
        let found = counts.decision_since(&lane.counts);
        let before = std::mem::replace(&mut lane.counts, counts);
        lane.note(self.now, &packet, found);
        if found != Some(expected) {
            let seen = found.map_or_else(
                || format!("counts went from {before:?} to {counts:?}"),
                |d| format!("{d:?}"),
            );
            let what = format!("decision: the model says {expected:?}, the program {seen}");
            return Err(self.differ(at, &what));
        }
        if counts.lengths != lane.model.lengths() {
            let what = format!(
                "queues (priority 0 to 7): model {:?}, switch {:?}",
                lane.model.lengths(),
                counts.lengths
            );
            return Err(self.differ(at, &what));
        }
        self.tally.count(expected);
        Ok(())
    }

    fn compare_departures(&mut self) -> Result<(), Mismatch> {
        for (port, id, due, frame) in std::mem::take(&mut self.sent.frames) {
            let Some(at) = self.lanes.iter().position(|lane| lane.port == port) else {
                return Err(self.differ(0, &format!("a frame left by port {port}, to which no route leads")));
            };
            let expected = self.lanes[at].model.next_departed();
            let found = format!("packet {id:?}, which is at the far end at {due} ns");
            let Some(expected) = expected else {
                return Err(self.differ(
                    at,
                    &format!("departure: the model sends nothing more, the switch {found}"),
                ));
            };
            if (Some(expected.id), expected.arrival) != (id, due) {
                let what = format!("departure: the model sends {expected:?}, the switch {found}");
                return Err(self.differ(at, &what));
            }
            let mut original = Vec::new();
            self.datagrams[expected.id as usize].write(&mut original);
            if !is_forwarded(&frame, &original) {
                return Err(self.differ(at, &format!("packet {} came out with other bytes", expected.id)));
            }
            self.sent.recycle(frame);
        }
        Ok(())
    }

    fn compare_state(&mut self) -> Result<(), Mismatch> {
        self.advance()?;
        for at in 0..self.lanes.len() {
            let lane = &self.lanes[at];
            for compared in self.compare(lane) {
                if compared.model != compared.program {
                    return Err(self.differ(at, &format!("{} differ", compared.name)));
                }
            }
            let counts = self.switch.counts(lane.port);
            // What the traffic manager drops was admitted first.
            let at_ingress = self.trial.scheme.p4().verdicts && lane.parameters.at_ingress;
            if at_ingress && counts.admitted != counts.enqueued.iter().sum::<u64>() {
                return Err(self.differ(at, &format!("the program counted {counts:?}")));
            }
        }
        Ok(())
    }

    /// The state of a port that both sides store and show.
    fn compare(&self, lane: &Lane) -> Vec<StatePart> {
        let (p4, model) = (self.trial.scheme.p4(), &lane.model);
        let port = usize::from(lane.port);
        let length = |priority: usize| match p4.discipline {
            Discipline::Strict => model.lengths()[priority],
            // One buffer serves all priorities. The ghost thread assigns it to the first queue.
            _ if self.trial.target == Target::T2na && priority > 0 => 0,
            _ => model.lengths().iter().sum(),
        };
        let mut compared = Vec::new();
        // On Tofino 1, a program learns a length late or not at all.
        if self.trial.target != Target::Tna {
            // The ghost thread of Tofino 2 has 11 bits for the length of a queue.
            let cells = if self.trial.target == Target::T2na {
                1 << 11
            } else {
                1 << 12
            };
            let cell = |queue| self.switch.register("queue_depths", (port << 3 | queue) % cells);
            compared.push(StatePart {
                name: "lengths of the queues",
                model: (0..MAX_P4_QUEUES).map(length).collect(),
                program: (0..MAX_P4_QUEUES).map(cell).collect(),
            });
        }
        if self.worker_runs
            && let Some(length) = model.model().length_from_worker(self.now)
        {
            compared.push(StatePart {
                name: "length that the worker reported",
                model: vec![length],
                program: vec![self.switch.register("queue_length_ingress", port)],
            });
        }
        if p4.ranks && self.trial.target == Target::V1model {
            compared.push(StatePart {
                name: "virtual time",
                model: vec![model.virtual_time()],
                program: vec![self.switch.register("virtual_time", port)],
            });
        }
        let ingress = p4.ingress();
        let register = |name: &str| self.switch.register(&format!("{ingress}.{name}"), port);
        compared.extend(model.model().compare(&register));
        compared
    }

    /// Changes a random setting of one port, on both sides.
    fn change(&mut self) -> Result<(), Mismatch> {
        self.tally.changes += 1;
        let at = self.random.random_range(0..self.lanes.len());
        let (scheme, random) = (self.trial.scheme, &mut self.random);
        let lane = &mut self.lanes[at];
        match random.random_range(0..8) {
            0..4 => {
                lane.parameters = Parameters::draw(scheme, self.trial.target, random, Some(&lane.parameters));
                self.reconfigure(at)?;
            }
            4 => {
                lane.rate_bps = lane::rate(random);
                lane.model.set_rate(lane.rate_bps);
                self.write_parameters(at);
            }
            5 => {
                lane.traffic.change(random);
                let total = self.lanes.iter().map(|lane| lane.rate_bps).sum();
                self.arrivals = Arrivals::draw(total, random);
            }
            6 => {
                let user = random.random_range(0..USERS);
                if lane.stranger != Some(user) {
                    lane.scales[user] = lane::scale(random);
                    self.write_user(at, user);
                }
            }
            _ if scheme.p4().ranks && lane.source != RankSource::StartTime => {
                lane.source = lane::source(random);
                lane.static_ranks[random.random_range(0..FLOWS)] = random.random_range(0..100);
                self.write_ranks(at);
            }
            _ => {}
        }
        Ok(())
    }

    fn reconfigure(&mut self, at: usize) -> Result<(), Mismatch> {
        let lane = &mut self.lanes[at];
        let parameters = lane::model_parameters(self.trial, &lane.parameters);
        if let Err(error) = lane.model.reconfigure(&parameters.config) {
            return Err(self.differ(at, &format!("the model refuses its parameters: {error}")));
        }
        self.write_parameters(at);
        Ok(())
    }

    /// The mismatch with its report.
    fn differ(&self, at: usize, what: &str) -> Mismatch {
        let lane = &self.lanes[at];
        let Trial {
            scheme, seed, packets, ..
        } = self.trial;
        let mut report = format!(
            "{}.p4 differs from its model ({scheme:?} for {})\n  {what}\n",
            scheme.p4().program,
            self.trial.target.name()
        );
        let mut line = |name: &str, text: String| {
            let _ = writeln!(report, "  {name:<12} {text}");
        };
        line("seed", format!("{seed}, {packets} packets"));
        line(
            "packet",
            format!("number {}, at {} ns", self.datagrams.len().saturating_sub(1), self.now),
        );
        line("port", format!("{}, {} bit/s", lane.port, lane.rate_bps));
        line(
            "ranks",
            format!("{:?}, {}", lane.source, lane.traffic.rank_pattern().name()),
        );
        line("parameters", format!("{:?}", lane.parameters));
        line("weights", format!("256 / weight of the users: {:?}", lane.scales));
        for compared in self.compare(lane) {
            line("state", compared.name.to_owned());
            line("  model", format!("{:?}", compared.model));
            line("  program", format!("{:?}", compared.program));
        }
        if let Ok(datagram) = self.datagrams.last().ok_or(()) {
            line(
                "virtual start",
                format!(
                    "{:?}",
                    lane.model.start_time(flow_cell(&scheme.p4(), datagram.flow_hash()))
                ),
            );
        }
        for arrival in &lane.history {
            line("arrival", arrival.clone());
        }
        Mismatch::Differ(report)
    }
}
