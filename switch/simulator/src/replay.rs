//! A trace of arrivals at one port, through the model of a scheme or through its compiled program in the engine. The
//! result has the same form for both: the lost packets, the order of the others, and their waiting times.
//!
//! Inversions and drops are counted as in [`crate::inversions`].

use std::collections::BTreeSet;

use p4sched_dataplane::{Pipeline, Port};
use p4sched_schedulers::config::MAX_P4_QUEUES;
use p4sched_schedulers::scheme::WINDOW_PARAMETER;
use p4sched_schedulers::{Config, ConfigError, Nanos, Packet, Rank, Scheme, Sizes};

use crate::arrivals::Arrival;
use crate::frames::Datagram;
use crate::inversions::Outcome;
use crate::model::{Decision, ModelPort};
use crate::parameters::Parameters;
use crate::program::{Program, ProgramError};
use crate::switch::{Counts, Sent, Switch};

const PORT: Port = 1;
/// Rate of the link: one byte a nanosecond, so times are exact.
const RATE_BPS: u64 = 8_000_000_000;
/// Scale of a user with weight 1.
const UNIT_SCALE: u32 = 256;

/// Reason why a program cannot be used at the port.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The program cannot run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The scheme cannot have these sizes.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The programs have no registers for this window.
    #[error(
        "a window of {0} ranks does not fit into the P4 programs, which have {1} registers for it; \
         ask for 1 to {1} ranks, or for the models"
    )]
    Window(usize, usize),
    /// The programs do not have so many queues.
    #[error("{0} queues: the P4 programs have 1 to {MAX_P4_QUEUES}")]
    Queues(usize),
    /// The programs do not take so large a queue.
    #[error("{0} queues of {1} packets: the P4 programs take 1 to {MAX_P4_PACKETS} packets in all")]
    Buffer(usize, usize),
}

/// Largest queue size and target length that the P4 programs take: 16 bits.
const MAX_P4_PACKETS: usize = 65_535;

#[derive(Debug)]
pub enum Scheduler<'a> {
    Model(Config),
    Program {
        program: &'a Program,
        parameters: Parameters,
        /// The loaded program. It is kept, because loading takes longer than a trace.
        loaded: Option<Box<Pipeline>>,
    },
}

/// Result of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayResult {
    pub outcome: Outcome,
    /// Waiting time of each packet until its transmission began; `None` for a lost packet.
    pub waited: Vec<Option<Nanos>>,
}

impl<'a> Scheduler<'a> {
    /// The model of a scheme, or its program.
    ///
    /// # Errors
    /// If it cannot have these sizes.
    pub fn new(scheme: Scheme, sizes: &Sizes, program: Option<&'a Program>) -> Result<Scheduler<'a>, ReplayError> {
        let config = scheme.config(sizes)?;
        let Some(program) = program else {
            let config = config.on(sizes.target);
            config.model()?;
            return Ok(Scheduler::Model(config));
        };
        let target = program.target();
        let windowed = scheme.p4().parameters.contains(&WINDOW_PARAMETER);
        let longest = target.max_window();
        if windowed && !(1..=longest).contains(&sizes.window) {
            return Err(ReplayError::Window(sizes.window, longest));
        }
        if !(1..=MAX_P4_QUEUES).contains(&sizes.queues) {
            return Err(ReplayError::Queues(sizes.queues));
        }
        if !(1..=MAX_P4_PACKETS / sizes.queues).contains(&sizes.queue_size) {
            return Err(ReplayError::Buffer(sizes.queues, sizes.queue_size));
        }
        Ok(Scheduler::Program {
            program,
            parameters: Parameters::new(config, target),
            loaded: None,
        })
    }

    /// Sends a trace to an empty port, and then drains the port. Arrivals are in order of time.
    ///
    /// # Errors
    /// If the program does not load.
    pub fn play(&mut self, arrivals: &[Arrival]) -> Result<ReplayResult, ReplayError> {
        let history = match self {
            Scheduler::Model(config) => by_model(config, arrivals)?,
            Scheduler::Program {
                program,
                parameters,
                loaded,
            } => {
                let pipeline = loaded.take().map_or_else(|| program.pipeline(), |loaded| Ok(*loaded))?;
                let scheme = parameters.config.scheme();
                let mut switch = Switch::with(program, scheme, pipeline)?;
                let history = by_program(&mut switch, parameters, arrivals);
                *loaded = switch.into_restarted().map(Box::new);
                history
            }
        };
        Ok(history.played(arrivals))
    }
}

fn by_model(config: &Config, arrivals: &[Arrival]) -> Result<History, ConfigError> {
    let mut port = ModelPort::new(config, RATE_BPS, false)?;
    let mut history = History::default();
    for (id, arrival) in (0..).zip(arrivals) {
        port.advance(arrival.at);
        let packet = Packet {
            id,
            rank: arrival.rank,
            user: arrival.rank,
            flow: arrival.rank,
            len: arrival.frame_bytes,
        };
        history
            .decisions
            .push(Some(port.enqueue(arrival.at, packet, UNIT_SCALE)));
    }
    port.advance(Nanos::MAX);
    while let Some(departed) = port.next_departed() {
        history.leave(departed.id, departed.arrival, arrivals);
    }
    Ok(history)
}

fn by_program(switch: &mut Switch, parameters: &Parameters, arrivals: &[Arrival]) -> History {
    switch.route_ranked(PORT);
    switch.set_port(PORT, parameters, true, RATE_BPS);
    let mut history = History::default();
    let (mut sent, mut frame, mut counts) = (Sent::default(), Vec::new(), Counts::default());
    for (id, arrival) in (0..).zip(arrivals) {
        Datagram::ranked(id, arrival.rank, arrival.frame_bytes).write(&mut frame);
        switch.receive(arrival.at, &frame, &mut sent);
        let now = switch.counts(PORT);
        history.decisions.push(now.decision_since(&counts));
        counts = now;
        history.note(&mut sent, arrivals);
    }
    while let Some(at) = switch.next_event() {
        switch.advance(at, &mut sent);
        history.note(&mut sent, arrivals);
    }
    history
}

/// Events observed at the port.
#[derive(Debug, Default)]
struct History {
    /// Decisions by packet; `None` if the counters contradict each other.
    decisions: Vec<Option<Decision>>,
    /// Number and start of transmission of each sent packet.
    departures: Vec<(u64, Nanos)>,
}

impl History {
    fn note(&mut self, sent: &mut Sent, arrivals: &[Arrival]) {
        sent.drain(|_, id, due, _| self.leave(id.unwrap_or(u64::MAX), due, arrivals));
    }

    fn leave(&mut self, id: u64, due: Nanos, arrivals: &[Arrival]) {
        self.departures
            .push((id, due - Nanos::from(arrivals[id as usize].frame_bytes)));
    }

    /// Counts inversions and drops. If a departure starts when a packet arrives, the departure comes first.
    fn played(self, packets: &[Arrival]) -> ReplayResult {
        let mut waited = vec![None; packets.len()];
        for &(id, start) in &self.departures {
            waited[id as usize] = Some(start - packets[id as usize].at);
        }
        let mut outcome = Outcome::default();
        let mut waiting: BTreeSet<(Rank, u64)> = BTreeSet::new();
        let mut departures = self.departures.into_iter().peekable();
        let arrivals = packets.iter().zip(&self.decisions).enumerate().map(Some).chain([None]);
        for arrival in arrivals {
            let (count, now) = arrival.map_or((u64::MAX, Nanos::MAX), |(index, (packet, _))| (index as u64, packet.at));
            // A packet that finds an idle link starts to leave when it arrives.
            while let Some((id, _)) = departures.next_if(|&(id, start)| start <= now && id < count) {
                depart(&mut outcome, &mut waiting, packets[id as usize].rank, id);
            }
            let Some((index, (&Arrival { rank, .. }, decision))) = arrival else {
                break;
            };
            if let Some(Decision::Queued { .. } | Decision::PushedOut) = decision {
                waiting.insert((rank, index as u64));
            } else {
                *outcome.drops.entry(rank).or_default() += 1;
            }
            if let Some(Decision::PushedOut) = decision {
                let victim = waiting
                    .iter()
                    .rev()
                    .find(|&&(_, id)| waited[id as usize].is_none())
                    .copied();
                if let Some(victim) = victim {
                    waiting.remove(&victim);
                    *outcome.drops.entry(victim.0).or_default() += 1;
                }
            }
        }
        ReplayResult { outcome, waited }
    }
}

fn depart(outcome: &mut Outcome, waiting: &mut BTreeSet<(Rank, u64)>, rank: Rank, id: u64) {
    waiting.remove(&(rank, id));
    if waiting.first().is_some_and(|&(lowest, _)| lowest < rank) {
        *outcome.inversions.entry(rank).or_default() += 1;
    }
    *outcome.departures.entry(rank).or_default() += 1;
    outcome.sent.push(id);
}
