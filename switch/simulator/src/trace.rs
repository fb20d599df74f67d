//! A trace without a clock: bursts of arrivals with the decisions of the model, and one departure between two bursts.
//!
//! The time of a switch such as BMv2 cannot be stepped, but its decisions can still be compared with the model. Its
//! queue is slow, and each burst is sent right after a departure. So the switch decides on the whole burst before the
//! next departure.

use crate::workload::seeded;
use p4sched_schedulers::scheme::Discipline;
use p4sched_schedulers::{ConfigError, Model, P4, Packet, Scheduler, Scheme, Target, Verdict};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::frames::{Datagram, RANKED_PORT};
use crate::parameters::Parameters;
use crate::traffic::PortTraffic;

/// Mean number of bursts between two changes of the parameters or of the traffic.
const CHANGE_EVERY: u32 = 25;

/// Reason why there is no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The decisions of the scheme depend on several queues or on a sorted queue.
    #[error("no trace of {0:?}: it does not have a single queue that is served in order")]
    Scheme(Scheme),
    /// The model refuses its parameters.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// True if a scheme has one queue that is served in order. BMv2 has neither a link behind several queues nor a sorted
/// queue.
pub fn has_trace(scheme: Scheme) -> bool {
    scheme.p4().discipline == Discipline::Fifo
}

/// The trace of `packets` packets as JSON:
///
/// - `program`, `rank_source`: the program to load, and the value of `set_rank_source`
/// - `prefix`: the destination of all packets, for the route
/// - `steps`: one object for each burst. `set` is a default action (`table`, `action`, `arguments`) if parameters
///   change before the burst. `burst` holds frames in hexadecimal, each with `queued`, `refused` or `full`. `departs`
///   is the frame that leaves next.
///
/// # Errors
/// If the scheme has no trace ([`has_trace`]).
pub fn trace(scheme: Scheme, seed: u64, packets: usize) -> Result<Value, TraceError> {
    if !has_trace(scheme) {
        return Err(TraceError::Scheme(scheme));
    }
    let mut writer = Writer::new(scheme, seed)?;
    let mut steps = Vec::new();
    while writer.sent < packets {
        steps.push(writer.step()?);
    }
    Ok(json!({
        "program": scheme.p4().program,
        "seed": seed,
        "packets": writer.sent,
        "rank_source": if writer.by_tos { 2 } else { 1 },
        "prefix": "10.200.0.0/16",
        "steps": steps,
    }))
}

struct Writer {
    scheme: Scheme,
    random: ChaCha8Rng,
    traffic: PortTraffic,
    by_tos: bool,
    model: Model,
    /// Parameters that the next step writes.
    changed: Option<Parameters>,
    /// Largest number of arrivals in a burst; it changes from time to time.
    largest_burst: usize,
    frames: Vec<String>,
    sent: usize,
}

impl Writer {
    fn new(scheme: Scheme, seed: u64) -> Result<Writer, TraceError> {
        let mut random = seeded(seed);
        let parameters = draw(scheme, &mut random);
        Ok(Writer {
            scheme,
            traffic: PortTraffic::new(0, &mut random),
            by_tos: random.random(),
            model: parameters.config.model()?,
            changed: Some(parameters),
            // The first packet leaves at once: perhaps before a second one arrives, perhaps after it.
            largest_burst: 1,
            frames: Vec::new(),
            sent: 0,
            random,
        })
    }

    fn step(&mut self) -> Result<Value, TraceError> {
        let set = self.changed.take().map(|parameters| {
            let P4 { table, action, .. } = self.scheme.p4();
            json!({"table": table, "action": action, "arguments": parameters.arguments()})
        });
        // A packet must wait, or there would be no departure.
        let least = usize::from(self.model.len() == 0);
        let count = self.random.random_range(least..=self.largest_burst);
        let burst: Vec<Value> = (0..count).map(|_| self.arrival()).collect();
        let departed = self.model.dequeue(0).expect("an empty queue takes any packet");
        if self.sent == 1 || self.random.random_range(0..CHANGE_EVERY) == 0 {
            self.change()?;
        }
        Ok(json!({"set": set, "burst": burst, "departs": self.frames[departed.id as usize]}))
    }

    fn arrival(&mut self) -> Value {
        let (_, datagram) = self.traffic.next(self.sent as u64, &mut self.random);
        self.sent += 1;
        let verdict = self.model.enqueue(0, self.packet(&datagram));
        let decision = match verdict {
            Verdict::Queued { .. } | Verdict::PushedOut { .. } => "queued",
            Verdict::DroppedByAdmission => "refused",
            Verdict::DroppedFull => "full",
        };
        let mut frame = Vec::new();
        datagram.write(&mut frame);
        let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        self.frames.push(hex.clone());
        json!({"frame": hex, "decision": decision})
    }

    fn packet(&self, datagram: &Datagram) -> Packet {
        let header = if datagram.destination_port == RANKED_PORT {
            datagram.rank
        } else {
            u32::MAX
        };
        Packet {
            id: datagram.id,
            rank: if self.by_tos { u32::from(datagram.tos) } else { header },
            user: 0,
            flow: 0,
            len: datagram.len,
        }
    }

    fn change(&mut self) -> Result<(), TraceError> {
        self.largest_burst = [2, 3, 5, 8][self.random.random_range(0..4)];
        if self.random.random() {
            let parameters = draw(self.scheme, &mut self.random);
            self.model.reconfigure(&parameters.config)?;
            self.changed = Some(parameters);
        } else {
            self.traffic.change(&mut self.random);
        }
        Ok(())
    }
}

/// Random parameters for which the program drops, not the queue.
fn draw(scheme: Scheme, random: &mut ChaCha8Rng) -> Parameters {
    Parameters {
        at_ingress: true,
        ..Parameters::draw(scheme, Target::V1model, random, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_every_decision_and_a_departure_after_each_burst() {
        let trace = trace(Scheme::Aifo, 1, 2000).unwrap();
        let steps = trace["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["departs"].is_string()));
        assert_eq!(steps[0]["burst"].as_array().unwrap().len(), 1);
        let arrivals = || steps.iter().flat_map(|step| step["burst"].as_array().unwrap());
        for decision in ["queued", "refused", "full"] {
            let count = arrivals().filter(|arrival| arrival["decision"] == decision).count();
            assert!(count > 50, "{decision}: {count} of 2000");
        }
        let changes = steps.iter().filter(|step| step["set"].is_object()).count();
        assert!(changes > 5, "{changes} changes of parameters");
    }

    #[test]
    fn schemes_that_need_a_link_behind_several_queues_have_no_trace() {
        assert!(trace(Scheme::Packs, 1, 10).is_err());
    }
}
