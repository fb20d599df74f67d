//! One port of the program and of the model: its arrivals, settings and model. All of it is random.

use std::collections::VecDeque;

use p4sched_dataplane::Port;
use p4sched_schedulers::fdpa::{UNCLASSIFIED, UNIT_SCALE};
use p4sched_schedulers::{Nanos, P4, Packet, Target};
use p4sched_simulator::frames::{Datagram, RANKED_PORT, flow_cell};
use p4sched_simulator::model::{Decision, ModelPort};
use p4sched_simulator::parameters::Parameters;
use p4sched_simulator::switch::Counts;
use p4sched_simulator::traffic::{FLOWS, PortTraffic, USERS};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::trial::{Mismatch, Trial};

/// The ports of a trial. The parameters of the first one are the default action, those of the others are entries. The
/// last port number needs all nine bits.
const PORTS: [Port; 3] = [1, 7, 300];
/// The number of decisions in a report.
const HISTORY: usize = 8;

/// The source of ranks, with the values of `set_rank_source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankSource {
    Static = 0,
    Header = 1,
    Tos = 2,
    StartTime = 3,
}

/// One port of the program and of the model.
pub struct Lane {
    pub port: Port,
    pub traffic: PortTraffic,
    pub source: RankSource,
    pub parameters: Parameters,
    pub rate_bps: u64,
    pub scales: [u32; USERS],
    /// A user that no entry classifies.
    pub stranger: Option<usize>,
    pub static_ranks: [u32; FLOWS],
    pub model: ModelPort,
    pub counts: Counts,
    pub history: VecDeque<String>,
}

impl Lane {
    /// The program's identifier of one of the port's users, 0 .. USERS - 1.
    pub fn user(&self, user: usize) -> u32 {
        match self.stranger {
            Some(stranger) if stranger == user => UNCLASSIFIED,
            _ => (1 + self.traffic.number() * USERS + user) as u32,
        }
    }

    /// The packet as the model sees it. The model identifies flows by the program's cells.
    pub fn packet(&self, p4: &P4, flow: usize, datagram: &Datagram) -> Packet {
        let header = if datagram.destination_port == RANKED_PORT {
            datagram.rank
        } else {
            u32::MAX
        };
        Packet {
            id: datagram.id,
            rank: match self.source {
                RankSource::Static => self.static_ranks[flow],
                RankSource::Header => header,
                RankSource::Tos => u32::from(datagram.tos),
                RankSource::StartTime => 0,
            },
            user: self.user(flow % USERS),
            flow: flow_cell(p4, datagram.flow_hash()),
            len: datagram.len,
        }
    }

    /// Records a decision of the program for the report.
    pub fn note(&mut self, now: Nanos, packet: &Packet, decision: Option<Decision>) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        let Packet {
            id,
            rank,
            user,
            flow,
            len,
        } = packet;
        let text = format!("{now} ns: packet {id}, rank {rank}, user {user}, flow {flow}, {len} bytes -> {decision:?}");
        self.history.push_back(text);
    }
}

/// A random link rate from 5 Mbit/s to 5 Gbit/s.
pub fn rate(random: &mut ChaCha8Rng) -> u64 {
    (5e6 * 1000f64.powf(random.random::<f64>())) as u64
}

/// A random 256 / weight, for weights from 1/4 to 8.
pub fn scale(random: &mut ChaCha8Rng) -> u32 {
    [256, 128, 32, 1024, random.random_range(1..1000)][random.random_range(0..5)]
}

/// A random source of the packets' ranks.
pub fn source(random: &mut ChaCha8Rng) -> RankSource {
    [
        RankSource::Static,
        RankSource::Header,
        RankSource::Header,
        RankSource::Tos,
    ][random.random_range(0..4)]
}

/// The parameters of the model. They differ from the program's if the trial has a mistake.
pub fn model_parameters(trial: &Trial, parameters: &Parameters) -> Parameters {
    let mut changed = parameters.clone();
    if let Some(mistake) = trial.mistake {
        let mut nobody = Packet {
            id: 0,
            rank: 0,
            user: 0,
            flow: 0,
            len: 0,
        };
        mistake(&mut changed, &mut nobody);
    }
    changed
}

/// The ports of a trial.
pub fn lanes(trial: &Trial, random: &mut ChaCha8Rng) -> Result<Vec<Lane>, Mismatch> {
    let p4 = trial.scheme.p4();
    let base = rate(random);
    let mut lanes: Vec<Lane> = Vec::new();
    let mut cells = Vec::new();
    for (number, &port) in (0..).zip(&PORTS) {
        let traffic = loop {
            let traffic = PortTraffic::new(number, random);
            let own: Vec<u32> = (0..FLOWS)
                .map(|flow| flow_cell(&p4, traffic.flow(flow).flow_hash()))
                .collect();
            // Flows of different ports that share a cell would influence each other in the program, but not in the
            // models.
            if own.iter().all(|cell| !cells.contains(cell)) {
                cells.extend(own);
                break traffic;
            }
        };
        let parameters = Parameters::draw(trial.scheme, trial.target, random, None);
        // Only these programs charge a flow exactly for its admitted packets.
        let charges = p4.ranks && p4.verdicts && trial.target == Target::V1model;
        let start_time = charges && random.random_range(0..3) == 0;
        let rate_bps = (base as f64 * (0.5 + random.random::<f64>())) as u64;
        let model = ModelPort::new(&model_parameters(trial, &parameters).config, rate_bps, start_time);
        let stranger = random.random_bool(0.5).then(|| random.random_range(0..USERS));
        let mut scales = std::array::from_fn(|_| scale(random));
        if let Some(stranger) = stranger {
            scales[stranger] = UNIT_SCALE;
        }
        lanes.push(Lane {
            port,
            traffic,
            source: if start_time {
                RankSource::StartTime
            } else {
                source(random)
            },
            parameters,
            rate_bps,
            scales,
            stranger,
            static_ranks: std::array::from_fn(|_| random.random_range(0..100)),
            model: model.map_err(|error| Mismatch::Differ(format!("the model refuses its parameters: {error}")))?,
            counts: Counts::default(),
            history: VecDeque::new(),
        });
    }
    Ok(lanes)
}
