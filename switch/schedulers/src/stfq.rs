//! STFQ: start-time fair queueing as a rank function (Goyal et al., SIGCOMM 1996; as in AIFO figure 1).
//!
//! The rank of a packet is its virtual start time.
//!
//!   arrival:   start = max(virtual time, finish of the flow's previous packet); rank = start
//!              finish of the flow = start + length / weight
//!   departure: virtual time = start of the packet that leaves
//!
//! AIFO does not say what a drop costs. This is our choice: only a packet that is queued moves the finish of its flow.
//! If it is pushed out later, the finish moves back. So a flow pays only for packets that are sent. In the simulations
//! of SP-PIFO it pays for dropped packets, too ([`Stfq::charging_drops`]).
//!
//! Virtual time is in bytes of a flow of weight 1. A rank is virtual time / 2^shift, so that 32 bits last long enough
//! (shift 8: 1 TB sent per unit of weight). Weights are given as scales, as in FDPA: 256 / weight.

use hashbrown::HashMap;
use p4sched_traffic_manager::SCALE_OF_WEIGHT_1;
use p4sched_traffic_manager::stfq::StartTimes;

use crate::config::{ConfigError, in_range};
use crate::scheduler::{Nanos, Packet, Rank, Scheduler, Verdict};

/// A scheduler whose ranks are virtual start times. It computes the ranks; `S` schedules.
#[derive(Clone, Debug)]
pub struct Stfq<S> {
    scheduler: S,
    /// Start times by flow. A scheduler that does not sort by rank may send in another order.
    times: StartTimes,
    /// Start time of each waiting packet, by identity.
    starts: HashMap<u64, u64>,
    /// Scales of the flows of another weight than 1.
    scales: HashMap<u32, u32>,
    shift: u32,
    charges_drops: bool,
}

impl<S: Scheduler> Stfq<S> {
    /// Gives `scheduler` ranks in units of 2^shift bytes.
    ///
    /// # Errors
    /// If the shift exceeds 31.
    pub fn new(scheduler: S, shift: u32) -> Result<Stfq<S>, ConfigError> {
        in_range("shift of the virtual time", shift as usize, 0, 31, "bits")?;
        Ok(Stfq {
            scheduler,
            times: StartTimes::in_any_order(),
            starts: HashMap::new(),
            scales: HashMap::new(),
            shift,
            charges_drops: false,
        })
    }

    /// Makes a flow pay for packets that are dropped or pushed out, too.
    pub fn charging_drops(mut self) -> Stfq<S> {
        self.charges_drops = true;
        self
    }

    /// Gives a flow the weight 256 / scale. The default scale is 256, weight 1.
    pub fn set_scale(&mut self, flow: u32, scale: u32) {
        if scale != SCALE_OF_WEIGHT_1 {
            self.scales.insert(flow, scale);
        } else if !self.scales.is_empty() {
            self.scales.remove(&flow);
        }
    }

    /// The scheduler that gets the ranks.
    pub fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// The scheduler that gets the ranks, for example to change its parameters.
    pub fn scheduler_mut(&mut self) -> &mut S {
        &mut self.scheduler
    }

    /// Virtual time: the start time of the packet that left last, in bytes.
    pub fn virtual_time(&self) -> u64 {
        self.times.virtual_time()
    }

    /// The virtual start time of the next packet of this flow, in bytes, if it arrives at the current virtual time.
    pub fn start(&self, flow: u32) -> u64 {
        self.times.start(u64::from(flow))
    }

    /// The rank of the next packet of this flow, if it arrives at the current virtual time.
    pub fn rank_of(&self, flow: u32) -> Rank {
        self.rank(self.start(flow))
    }

    fn rank(&self, start: u64) -> Rank {
        Rank::try_from(start >> self.shift).unwrap_or(Rank::MAX)
    }
}

impl<S: Scheduler> Scheduler for Stfq<S> {
    fn enqueue(&mut self, now: Nanos, mut packet: Packet) -> Verdict {
        let start = self.start(packet.flow);
        packet.rank = self.rank(start);
        let verdict = self.scheduler.enqueue(now, packet);
        if verdict.is_queued() || self.charges_drops {
            let scale = self.scales.get(&packet.flow).copied().unwrap_or(SCALE_OF_WEIGHT_1);
            self.times.charge(u64::from(packet.flow), start, packet.len, scale);
        }
        if verdict.is_queued() {
            self.starts.insert(packet.id, start);
        }
        if let Verdict::PushedOut { victim, .. } = verdict
            && let Some(start) = self.starts.remove(&victim.id)
            && !self.charges_drops
        {
            self.times.refund(u64::from(victim.flow), start);
        }
        verdict
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Packet> {
        let packet = self.scheduler.dequeue(now)?;
        if let Some(start) = self.starts.remove(&packet.id) {
            self.times.serve(start);
        }
        Some(packet)
    }

    fn len(&self) -> usize {
        self.scheduler.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pifo::Pifo;

    fn packet(id: u64, flow: u32, len: u32) -> Packet {
        Packet {
            id,
            rank: 0,
            user: 0,
            flow,
            len,
        }
    }

    #[test]
    fn start_times_follow_the_previous_finish_or_the_virtual_time() {
        let mut stfq = Stfq::new(Pifo::new(10).unwrap(), 0).unwrap();
        for id in 0..3 {
            stfq.enqueue(0, packet(id, 1, 100));
        }
        assert_eq!(stfq.start(1), 300);
        assert_eq!(stfq.start(2), 0);
        let ranks: Vec<Rank> = (0..3).map(|_| stfq.dequeue(0).unwrap().rank).collect();
        assert_eq!(ranks, [0, 100, 200]);
        assert_eq!(stfq.start(2), 200, "a new flow starts at the virtual time");
    }

    #[test]
    fn over_a_pifo_bandwidth_follows_the_weights() {
        let mut stfq = Stfq::new(Pifo::new(4000).unwrap(), 0).unwrap();
        stfq.set_scale(2, 128);
        for id in 0..900 {
            stfq.enqueue(0, packet(id, 1, 1000));
            stfq.enqueue(0, packet(1000 + id, 2, 500));
        }
        let mut bytes = [0u64; 3];
        for _ in 0..750 {
            let sent = stfq.dequeue(0).unwrap();
            bytes[sent.flow as usize] += u64::from(sent.len);
        }
        let ratio = bytes[2] as f64 / bytes[1] as f64;
        assert!((ratio - 2.0).abs() < 0.02, "flow 2 has twice the weight: {bytes:?}");
    }

    #[test]
    fn a_flow_is_not_charged_for_a_dropped_packet() {
        let mut stfq = Stfq::new(Pifo::new(1).unwrap(), 0).unwrap();
        stfq.enqueue(0, packet(0, 1, 100));
        assert_eq!(stfq.enqueue(0, packet(1, 1, 100)), Verdict::DroppedFull);
        assert_eq!(stfq.start(1), 100);
    }

    #[test]
    fn a_flow_gets_back_what_a_packet_cost_that_is_pushed_out() {
        let mut stfq = Stfq::new(Pifo::new(2).unwrap(), 0).unwrap();
        stfq.enqueue(0, packet(0, 1, 100));
        stfq.enqueue(0, packet(1, 1, 100));
        let verdict = stfq.enqueue(0, packet(2, 2, 100));
        assert!(matches!(verdict, Verdict::PushedOut { victim, .. } if victim.id == 1));
        assert_eq!(stfq.start(1), 100);
    }

    #[test]
    fn a_flow_pays_for_dropped_packets_if_it_shall() {
        let mut stfq = Stfq::new(Pifo::new(1).unwrap(), 0).unwrap().charging_drops();
        assert!(stfq.enqueue(0, packet(1, 7, 100)).is_queued());
        assert!(!stfq.enqueue(0, packet(2, 7, 100)).is_queued());
        assert_eq!(stfq.start(7), 200);
        let mut stfq = Stfq::new(Pifo::new(2).unwrap(), 0).unwrap().charging_drops();
        assert!(stfq.enqueue(0, packet(1, 7, 100)).is_queued());
        assert!(stfq.enqueue(0, packet(2, 7, 100)).is_queued());
        assert!(matches!(stfq.enqueue(0, packet(3, 8, 100)), Verdict::PushedOut { .. }));
        assert_eq!(stfq.start(7), 200, "its second packet was pushed out");
    }

    #[test]
    fn flows_that_overload_the_link_get_equal_shares_whatever_they_offer() {
        // Flows 1, 2, 3 offer 4, 0.8 and 0.4 times the link rate. The fair share is a third each.
        let mut stfq = Stfq::new(Pifo::new(80).unwrap(), 0).unwrap();
        let mut sent = [0u64; 4];
        for slot in 0..20_000_u64 {
            for copy in 0..4 {
                stfq.enqueue(0, packet(10 * slot + copy, 1, 1000));
            }
            if slot % 5 != 4 {
                stfq.enqueue(0, packet(10 * slot + 4, 2, 1000));
            }
            if slot % 5 < 2 {
                stfq.enqueue(0, packet(10 * slot + 5, 3, 1000));
            }
            sent[stfq.dequeue(0).unwrap().flow as usize] += 1;
        }
        for flow in 1..=3 {
            // A share may miss at most the packets that were in the buffer at the end.
            assert!(sent[flow].abs_diff(20_000 / 3) <= 80, "{sent:?}");
        }
    }
}
