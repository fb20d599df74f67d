//! Delivery rates: draft-cheng-iccrg-delivery-rate-estimation-00, as in Linux (`net/ipv4/tcp_rate.c`).
//!
//! A sample begins when a segment is sent and ends when it has arrived. Its rate is the number of segments that arrived
//! in that time. Acknowledgements may come in trains, so the time is at least that in which these segments were sent.

use super::scoreboard::Delivered;
use crate::control::Sample;
use p4sched_schedulers::Nanos;
use std::collections::VecDeque;

/// The state of the flow at a transmission.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// Segments that had arrived, and the time of the last arrival (P.delivered, P.delivered_time).
    delivered: u64,
    delivered_at: Nanos,
    /// Sending time of the segment that arrived last (P.first_sent_time).
    first_sent_at: Nanos,
    /// Whether the flow had too little to send (P.is_app_limited).
    is_limited: bool,
}

/// The estimator of a flow. Names in parentheses are those of the draft.
#[derive(Clone, Debug)]
pub(super) struct DeliveryRate {
    /// C.delivered, C.delivered_time and C.first_sent_time.
    delivered: u64,
    delivered_at: Nanos,
    first_sent_at: Nanos,
    /// Samples are limited until more segments than these have arrived (C.app_limited).
    limited_until: Option<u64>,
    /// One for each segment from `first` on, at its last transmission.
    snapshots: VecDeque<Snapshot>,
    first: u64,
    /// The segment sent last among those that an acknowledgement shows: its sending time, number and snapshot.
    newest: Option<(Nanos, u64, Snapshot)>,
}

impl DeliveryRate {
    /// The first segments count as limited: a flow had nothing to send before them.
    pub(super) fn new() -> Self {
        DeliveryRate {
            delivered: 0,
            delivered_at: 0,
            first_sent_at: 0,
            limited_until: Some(0),
            snapshots: VecDeque::new(),
            first: 0,
            newest: None,
        }
    }

    /// Segments that have arrived.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            is_limited: self.limited_until.is_some(),
        }
    }

    /// Records that the next new segment is sent.
    pub(super) fn send_new(&mut self, now: Nanos) {
        if self.snapshots.is_empty() {
            (self.delivered_at, self.first_sent_at) = (now, now);
        }
        self.snapshots.push_back(self.snapshot());
    }

    /// Records that a segment is sent again.
    pub(super) fn send_again(&mut self, index: u64) {
        let snapshot = self.snapshot();
        self.snapshots[(index - self.first) as usize] = snapshot;
    }

    /// Records that a segment has arrived.
    pub(super) fn arrived(&mut self, segment: &Delivered) {
        self.delivered += 1;
        let (sent_at, index) = (segment.sent_at, segment.index);
        if self.newest.is_none_or(|newest| (newest.0, newest.1) < (sent_at, index)) {
            self.newest = Some((sent_at, index, self.snapshots[(index - self.first) as usize]));
        }
    }

    /// The sample of an acknowledgement, after its segments have been recorded and those before `una` are done. A time
    /// below the shortest round trip gives none.
    pub(super) fn sample(&mut self, now: Nanos, una: u64, shortest: Nanos) -> Option<Sample> {
        self.snapshots.drain(..(una - self.first) as usize);
        self.first = una;
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
        let (sent_at, _, then) = self.newest.take()?;
        (self.delivered_at, self.first_sent_at) = (now, sent_at);
        let interval = (sent_at - then.first_sent_at).max(now - then.delivered_at);
        (interval >= shortest.max(1)).then_some(Sample {
            before: then.delivered,
            segments: self.delivered - then.delivered,
            interval,
            is_limited: then.is_limited,
        })
    }

    /// Counts the segments in flight, and all that are sent until they have arrived, as limited.
    pub(super) fn limit(&mut self, in_flight: u32) {
        self.limited_until = Some(self.delivered + u64::from(in_flight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn segment(index: u64, sent_at: Nanos) -> Delivered {
        Delivered {
            index,
            sent_at,
            number: 0,
            again: false,
        }
    }

    /// One segment each ms, each acknowledged after 10 ms.
    #[test]
    fn a_steady_stream_has_its_own_rate() {
        let mut rate = DeliveryRate::new();
        for now in 0..40 {
            if let Some(index) = u64::checked_sub(now, 10) {
                rate.arrived(&segment(index, index * MS));
                let sample = rate.sample(now * MS, index + 1, 10 * MS).unwrap();
                // The first ten were sent before anything had arrived.
                let first = index < 10;
                let expected = if first { (index + 1, index + 10) } else { (10, 10) };
                assert_eq!((sample.segments, sample.interval / MS), expected, "{now}");
                assert_eq!(sample.is_limited, first, "{now}");
            }
            rate.send_new(now * MS);
        }
    }

    /// One segment each ms. Acknowledgements come ten at a time, and later two of them at once.
    #[test]
    fn a_train_of_acknowledgements_is_no_faster_than_the_segments_left() {
        let mut rate = DeliveryRate::new();
        (0..20).for_each(|index| rate.send_new(index * MS));
        (0..10).for_each(|index| rate.arrived(&segment(index, index * MS)));
        rate.sample(20 * MS, 10, MS);
        (20..30).for_each(|index| rate.send_new(index * MS));
        (10..20).for_each(|index| rate.arrived(&segment(index, index * MS)));
        rate.sample(30 * MS, 20, MS);
        (20..22).for_each(|index| rate.arrived(&segment(index, index * MS)));
        // Twelve arrived in 11 ms, but they were sent in 12.
        let sample = rate.sample(31 * MS, 22, MS).unwrap();
        assert_eq!((sample.segments, sample.interval), (12, 12 * MS));
    }

    #[test]
    fn a_time_below_the_shortest_round_trip_gives_no_sample() {
        let mut rate = DeliveryRate::new();
        rate.send_new(0);
        rate.arrived(&segment(0, 0));
        assert!(rate.sample(MS, 1, 2 * MS).is_none());
    }

    #[test]
    fn a_repeated_segment_has_the_state_of_its_last_transmission() {
        let mut rate = DeliveryRate::new();
        (0..3).for_each(|_| rate.send_new(0));
        rate.arrived(&segment(1, 0));
        rate.arrived(&segment(2, 0));
        assert_eq!(rate.sample(10 * MS, 0, MS).unwrap().segments, 2);
        rate.send_again(0);
        rate.arrived(&segment(0, 10 * MS));
        let sample = rate.sample(20 * MS, 3, MS).unwrap();
        assert_eq!((sample.before, sample.segments, sample.interval), (2, 1, 10 * MS));
    }
}
