//! DualPI2: two queues behind one link, with coupled marks (RFC 9332, Appendix A). It has no program.
//!
//! ```text
//! arrival:   if the buffer is full: drop
//!            ECT(1) or CE: to the queue L; else, with probability p_C and without ECT: drop; to the queue C
//! departure: from L if its first packet, tshift older than it is, is older than that of C; else from C
//!            a packet of L gets a mark with probability max(ramp(its time in the queue), p_CL)
//!            a packet of C with ECT gets a mark with probability p_C
//! each Tupdate, with q the time of the first packet of C in its queue:
//!            p' = p' + alpha (q - target) + beta (q - q before), from 0 to 1;  p_CL = k p';  p_C = p'^2
//! ```
//!
//! If p_CL reaches 1, packets of L are dropped with probability p_C, too (Section A.2). The pseudo code drops at the departure.
//! Here a packet is dropped at its arrival, as with `drop_early` of Linux. A probability is a counter, as in the RFC (`recur`),
//! so nothing is random.

use std::collections::VecDeque;

use crate::scheduler::{Nanos, Packet};

/// The largest p_CL, from which on queue L drops, too.
const MAX_L: f64 = 1.0;

/// Settings, with the names of RFC 9332, Appendix A.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// `limit`, in packets.
    pub buffer: usize,
    /// `target` of the delay of queue C.
    pub target: Nanos,
    /// `RTT_max`: the longest round trip that is expected.
    pub rtt_max: Nanos,
    /// `minTh` and `range` of the ramp of queue L.
    pub min_th: Nanos,
    pub range: Nanos,
    /// `k`, the coupling factor.
    pub coupling: u32,
    /// `tshift`: the advantage of queue L, in time.
    pub shift: Nanos,
}

impl Config {
    /// The defaults of the RFC for the internet. It gives no `tshift`; here that is twice the target.
    pub fn internet(buffer: usize) -> Config {
        Config {
            buffer,
            target: 15_000_000,
            rtt_max: 100_000_000,
            min_th: 800_000,
            range: 400_000,
            coupling: 2,
            shift: 30_000_000,
        }
    }

    /// The first setting without a meaning, as a sentence.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), String> {
        for (name, value) in [("target_ns", self.target), ("rtt_max_ns", self.rtt_max)] {
            if value < 3 {
                return Err(format!("{name} = {value}: it is 3 or more"));
            }
        }
        if self.coupling == 0 {
            return Err("coupling = 0: it is 1 or more".to_owned());
        }
        Ok(())
    }

    /// `Tupdate`.
    fn update(&self) -> Nanos {
        self.target.min(self.rtt_max / 3)
    }
}

/// The two lowest bits of the TOS byte, as far as an AQM cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codepoint {
    NotEct,
    /// ECT(0): a classic sender that understands marks.
    Classic,
    /// ECT(1), or CE: a scalable sender, or a packet with a mark, which nobody can tell from one of these.
    Scalable,
}

/// Decisions of a counter that is true as often as a probability says (`recur`).
#[derive(Clone, Copy, Debug, Default)]
struct Recur(f64);

impl Recur {
    fn is_due(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let due = self.0 > 1.0;
        self.0 -= if due { 1.0 } else { 0.0 };
        due
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: Packet,
    since: Nanos,
    codepoint: Codepoint,
}

/// The answer for a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    Queued,
    /// The AQM drops it.
    Dropped,
    Full,
}

/// The two queues and the controller.
#[derive(Debug)]
pub struct DualPi2 {
    config: Config,
    l: VecDeque<Waiting>,
    c: VecDeque<Waiting>,
    /// p', the base probability.
    base: f64,
    /// The delay of queue C at the last update, and the time of the next one.
    before: Nanos,
    next: Nanos,
    marks_l: Recur,
    marks_c: Recur,
    drops_l: Recur,
    drops_c: Recur,
}

impl DualPi2 {
    pub fn new(config: Config) -> DualPi2 {
        DualPi2 {
            next: config.update(),
            config,
            l: VecDeque::new(),
            c: VecDeque::new(),
            base: 0.0,
            before: 0,
            marks_l: Recur::default(),
            marks_c: Recur::default(),
            drops_l: Recur::default(),
            drops_c: Recur::default(),
        }
    }

    /// Packets in both queues.
    pub fn len(&self) -> usize {
        self.l.len() + self.c.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// p', the base probability.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// p_CL, which couples queue L to the congestion of queue C.
    pub fn coupled(&self) -> f64 {
        (f64::from(self.config.coupling) * self.base).min(MAX_L)
    }

    /// p_C, the probability of queue C.
    pub fn squared(&self) -> f64 {
        self.base * self.base
    }

    /// Makes the updates that are due. Between two packets the queues do not change, so they are exact.
    fn catch_up(&mut self, now: Nanos) {
        let update = self.config.update();
        while self.next <= now {
            let delay = self.c.front().map_or(0, |first| self.next.saturating_sub(first.since));
            self.step(delay);
            self.next += update;
            if self.base == 0.0 && self.before == 0 && self.c.is_empty() {
                // nothing changes until the next packet
                self.next += (now.saturating_sub(self.next) / update) * update;
            }
        }
    }

    /// `dualpi2_update` with this delay of queue C.
    fn step(&mut self, delay: Nanos) {
        let seconds = |time: Nanos| time as f64 / 1e9;
        let rtt_max = seconds(self.config.rtt_max);
        let alpha = 0.1 * seconds(self.config.update()) / (rtt_max * rtt_max);
        let beta = 0.3 / rtt_max;
        let error = seconds(delay) - seconds(self.config.target);
        let growth = seconds(delay) - seconds(self.before);
        self.base = (self.base + alpha * error + beta * growth).clamp(0.0, 1.0);
        self.before = delay;
    }

    /// `laqm`: the native probability of queue L.
    fn ramp(&self, delay: Nanos) -> f64 {
        let Config { min_th, range, .. } = self.config;
        match delay.checked_sub(min_th) {
            None => 0.0,
            Some(above) if above >= range => 1.0,
            Some(above) => above as f64 / range as f64,
        }
    }

    /// Takes a packet, or drops it.
    pub fn enqueue(&mut self, now: Nanos, packet: Packet, codepoint: Codepoint) -> Offered {
        self.catch_up(now);
        if self.len() >= self.config.buffer {
            return Offered::Full;
        }
        let squared = self.squared();
        let dropped = match codepoint {
            Codepoint::NotEct => self.drops_c.is_due(squared),
            Codepoint::Classic => false,
            Codepoint::Scalable => self.coupled() >= MAX_L && self.drops_l.is_due(squared),
        };
        if dropped {
            return Offered::Dropped;
        }
        let queue = match codepoint {
            Codepoint::Scalable => &mut self.l,
            _ => &mut self.c,
        };
        queue.push_back(Waiting {
            packet,
            since: now,
            codepoint,
        });
        Offered::Queued
    }

    /// Sends the next packet; true: with a mark.
    pub fn dequeue(&mut self, now: Nanos) -> Option<(Packet, bool)> {
        self.catch_up(now);
        let is_l = match (self.l.front(), self.c.front()) {
            (Some(l), Some(c)) => l.since <= c.since.saturating_add(self.config.shift),
            (l, _) => l.is_some(),
        };
        if is_l {
            let first = self.l.pop_front()?;
            // `Th_len`: a packet that leaves none behind waited for its own link alone
            let native = match self.l.is_empty() {
                true => 0.0,
                false => self.ramp(now.saturating_sub(first.since)),
            };
            let likelihood = native.max(self.coupled());
            return Some((first.packet, self.marks_l.is_due(likelihood)));
        }
        let first = self.c.pop_front()?;
        let squared = self.squared();
        let marked = first.codepoint == Codepoint::Classic && self.marks_c.is_due(squared);
        Some((first.packet, marked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn packet(id: u64) -> Packet {
        Packet {
            id,
            rank: 0,
            user: 0,
            flow: 0,
            len: 1514,
        }
    }

    /// The AQM with this base probability, and without updates.
    fn held(base: f64) -> DualPi2 {
        let mut aqm = DualPi2::new(Config::internet(1000));
        (aqm.base, aqm.next) = (base, Nanos::MAX);
        aqm
    }

    /// Of 1000 packets that come and go one by one: marked and dropped ones.
    fn passed(mut aqm: DualPi2, codepoint: Codepoint) -> (usize, usize) {
        let (mut marked, mut dropped) = (0, 0);
        for id in 0..1000 {
            match aqm.enqueue(id, packet(id), codepoint) {
                Offered::Queued => marked += usize::from(aqm.dequeue(id).is_some_and(|(_, mark)| mark)),
                Offered::Dropped => dropped += 1,
                Offered::Full => panic!("no packet waits"),
            }
        }
        (marked, dropped)
    }

    /// RFC 9332, equations 1 and 2, with p' = 0.2 and k = 2.
    #[test]
    fn scalable_senders_get_twice_and_classic_ones_the_square() {
        let near = |(marked, dropped): (usize, usize), expected: (usize, usize)| {
            assert!(
                marked.abs_diff(expected.0) <= 1 && dropped.abs_diff(expected.1) <= 1,
                "{marked} {dropped}"
            );
        };
        near(passed(held(0.2), Codepoint::Scalable), (400, 0));
        near(passed(held(0.2), Codepoint::Classic), (40, 0));
        near(passed(held(0.2), Codepoint::NotEct), (0, 40));
    }

    /// With p' = 0.6, p_CL is 1: a third and more of the packets of L are dropped, and all others marked.
    #[test]
    fn an_overload_drops_scalable_packets_too() {
        let (marked, dropped) = passed(held(0.6), Codepoint::Scalable);
        assert!(dropped.abs_diff(360) <= 1, "{dropped}");
        assert!((marked + dropped).abs_diff(1000) <= 1, "{marked}");
        assert_eq!(passed(held(0.4), Codepoint::Scalable).1, 0);
    }

    /// `alpha` = 0.1 Tupdate / RTT_max^2 = 0.15 Hz and `beta` = 0.3 / RTT_max = 3 Hz: a delay of 35 ms after one of 0 adds
    /// 0.15 * 0.02 + 3 * 0.035, and the same delay again 0.15 * 0.02.
    #[test]
    fn the_controller_integrates_the_delay_and_follows_its_change() {
        let mut aqm = DualPi2::new(Config::internet(1000));
        aqm.step(35 * MS);
        assert!((aqm.base() - 0.108).abs() < 1e-12, "{}", aqm.base());
        aqm.step(35 * MS);
        assert!((aqm.base() - 0.111).abs() < 1e-12, "{}", aqm.base());
        aqm.step(0);
        aqm.step(0);
        assert!(aqm.base() < 0.005, "{}", aqm.base());
    }

    /// The delay is that of the first packet of C at each multiple of 15 ms, whenever the next packet comes.
    #[test]
    fn updates_between_two_packets_are_made_as_of_their_time() {
        let mut aqm = DualPi2::new(Config::internet(1000));
        aqm.enqueue(0, packet(0), Codepoint::Classic);
        aqm.enqueue(50 * MS, packet(1), Codepoint::Classic);
        let mut by_hand = DualPi2::new(Config::internet(1000));
        [15, 30, 45].iter().for_each(|delay| by_hand.step(delay * MS));
        assert_eq!(aqm.base().to_bits(), by_hand.base().to_bits());
        assert!(aqm.base() > 0.13, "{}", aqm.base());
    }

    #[test]
    fn an_idle_queue_forgets_its_congestion_and_keeps_the_grid_of_updates() {
        let mut aqm = DualPi2::new(Config::internet(1000));
        aqm.enqueue(0, packet(0), Codepoint::Classic);
        aqm.dequeue(40 * MS);
        aqm.enqueue(3_600_001 * MS, packet(1), Codepoint::Classic);
        assert_eq!((aqm.base(), aqm.next), (0.0, 3_600_015 * MS));
    }

    /// A ramp of 0.8 to 1.2 ms, if another packet is behind.
    #[test]
    fn queue_l_marks_by_the_time_that_its_first_packet_waited() {
        let marks = |delay: Nanos, behind: u64| {
            let mut aqm = held(0.0);
            let mut mark = || {
                (0..=behind)
                    .for_each(|id| assert_eq!(aqm.enqueue(0, packet(id), Codepoint::Scalable), Offered::Queued));
                let mark = aqm.dequeue(delay).is_some_and(|(_, mark)| mark);
                aqm.l.clear();
                mark
            };
            (0..100).filter(|_| mark()).count()
        };
        assert_eq!(
            (marks(8 * MS / 10, 1), marks(12 * MS / 10, 1), marks(2 * MS, 0)),
            (0, 99, 0)
        );
        assert!(marks(MS, 1).abs_diff(50) <= 1, "{}", marks(MS, 1));
    }

    /// The time-shifted FIFO: a packet of L goes before one of C that came up to `tshift` earlier.
    #[test]
    fn queue_l_goes_first_unless_queue_c_has_waited_too_long() {
        let order = |later: Nanos| {
            let mut aqm = held(0.0);
            aqm.enqueue(0, packet(0), Codepoint::Classic);
            aqm.enqueue(later, packet(1), Codepoint::Scalable);
            aqm.dequeue(later).map(|(packet, _)| packet.id)
        };
        assert_eq!((order(30 * MS), order(31 * MS)), (Some(1), Some(0)));
    }

    #[test]
    fn both_queues_share_one_buffer() {
        let mut aqm = DualPi2::new(Config::internet(2));
        let offered: Vec<_> = [Codepoint::Scalable, Codepoint::Classic, Codepoint::Scalable]
            .into_iter()
            .map(|codepoint| aqm.enqueue(0, packet(0), codepoint))
            .collect();
        assert_eq!(offered, [Offered::Queued, Offered::Queued, Offered::Full]);
    }

    #[test]
    fn settings_without_a_meaning_are_named() {
        let refused = |change: fn(&mut Config)| {
            let mut config = Config::internet(100);
            change(&mut config);
            config.check().unwrap_err()
        };
        assert_eq!(refused(|config| config.target = 0), "target_ns = 0: it is 3 or more");
        assert_eq!(refused(|config| config.coupling = 0), "coupling = 0: it is 1 or more");
    }
}
