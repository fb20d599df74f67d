//! Times and content of the receiver's acknowledgements.

use p4sched_transport::{Config, Control, Ecn, Endpoint, Kind, Receiver, Recovery, Segment};
use std::sync::Arc;

const MS: u64 = 1_000_000;

fn receiver(change: impl Fn(&mut Config)) -> Receiver {
    let mut config = Config {
        mss: 1000,
        quick_acks: 0,
        ..Config::kernel(Control::NewReno)
    };
    change(&mut config);
    Receiver::new(0, 100_000, Arc::new(config))
}

/// The acknowledgements after the arrival of the full segment with this number.
fn arrives(receiver: &mut Receiver, now: u64, number: u64) -> Vec<Segment> {
    arrives_with(receiver, now, number, |_| {})
}

fn arrives_with(receiver: &mut Receiver, now: u64, number: u64, change: impl Fn(&mut Segment)) -> Vec<Segment> {
    let mut segment = Segment {
        kind: Kind::Data,
        seq: number * 1000,
        len: 1000,
        sent_at: now,
        ..Segment::default()
    };
    change(&mut segment);
    let mut out = Vec::new();
    receiver.receive(now, &segment, &mut out);
    out
}

fn acks(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|segment| segment.ack).collect()
}

/// RFC 5681 Section 4.2: an acknowledgement for every second full segment, or after 40 ms.
#[test]
fn every_second_segment_is_acknowledged_or_the_first_after_the_delay() {
    let mut receiver = receiver(|_| {});
    assert_eq!(acks(&arrives(&mut receiver, 0, 0)), []);
    assert_eq!(acks(&arrives(&mut receiver, MS, 1)), [2000]);
    assert_eq!(receiver.next_timer(), None);
    assert_eq!(acks(&arrives(&mut receiver, 2 * MS, 2)), []);
    assert_eq!(receiver.next_timer(), Some(42 * MS));
    let mut out = Vec::new();
    receiver.timer(41 * MS, &mut out);
    assert_eq!(acks(&out), []);
    receiver.timer(42 * MS, &mut out);
    assert_eq!((acks(&out), receiver.next_timer()), (vec![3000], None));
}

/// RFC 7323 Section 4.3: a delayed acknowledgement echoes the older segment, so the round-trip time includes the delay.
#[test]
fn a_delayed_acknowledgement_echoes_the_first_segment() {
    let mut receiver = receiver(|_| {});
    arrives(&mut receiver, 5, 0);
    assert_eq!(arrives(&mut receiver, 6, 1)[0].echo, 5);
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    let mut receiver = receiver(|config| config.quick_acks = 2);
    assert_eq!(acks(&arrives(&mut receiver, 0, 0)), [1000]);
    assert_eq!(acks(&arrives(&mut receiver, 0, 1)), [2000]);
    assert_eq!(acks(&arrives(&mut receiver, 0, 2)), []);
}

/// RFC 5681 Section 4.2: acknowledgements are not delayed while there is a hole, and when it is filled.
#[test]
fn what_is_out_of_order_is_acknowledged_at_once() {
    let mut receiver = receiver(|_| {});
    assert_eq!(acks(&arrives(&mut receiver, 0, 1)), [0]);
    assert_eq!(acks(&arrives(&mut receiver, 0, 2)), [0]);
    assert_eq!(acks(&arrives(&mut receiver, 0, 0)), [3000]);
    assert_eq!(acks(&arrives(&mut receiver, 0, 3)), []);
}

#[test]
fn the_end_of_the_flow_is_acknowledged_at_once() {
    let config = Config {
        mss: 1000,
        quick_acks: 0,
        ..Config::kernel(Control::NewReno)
    };
    let mut receiver = Receiver::new(0, 1000, Arc::new(config));
    assert_eq!(acks(&arrives(&mut receiver, 0, 0)), [1000]);
}

/// As in RFC 2018 Section 7, case 3: every second segment is lost.
#[test]
fn the_newest_blocks_come_first() {
    let mut receiver = receiver(|_| {});
    let blocks: Vec<_> = [1, 3, 5, 7]
        .map(|number| arrives(&mut receiver, 0, number)[0].sack)
        .into();
    assert_eq!(blocks[0], [(1000, 2000), (0, 0), (0, 0)]);
    assert_eq!(blocks[2], [(5000, 6000), (3000, 4000), (1000, 2000)]);
    assert_eq!(blocks[3], [(7000, 8000), (5000, 6000), (3000, 4000)]);
    // The second hole is filled. The block that results is the newest one.
    assert_eq!(
        arrives(&mut receiver, 0, 4)[0].sack,
        [(3000, 6000), (7000, 8000), (0, 0)]
    );
}

#[test]
fn without_sack_there_are_no_blocks() {
    let mut receiver = receiver(|config| config.recovery = Recovery::NewReno);
    assert_eq!(arrives(&mut receiver, 0, 1)[0].sack, [(0, 0); 3]);
}

/// RFC 2883 Section 4.1: bytes that came twice are the first block.
#[test]
fn a_duplicate_is_reported() {
    let mut receiver = receiver(|_| {});
    arrives(&mut receiver, 0, 0);
    arrives(&mut receiver, 0, 1);
    assert_eq!(arrives(&mut receiver, 0, 3)[0].sack[0], (3000, 4000));
    let again = arrives(&mut receiver, 0, 0);
    assert_eq!((again[0].ack, again[0].sack), (2000, [(0, 1000), (3000, 4000), (0, 0)]));
    assert_eq!(receiver.received(), 3000);
}

/// RFC 3168 Section 6.1.3: a mark is echoed until the sender confirms it.
#[test]
fn a_mark_is_echoed_until_the_window_is_reduced() {
    let mut receiver = receiver(|config| (config.delayed_ack, config.ecn) = (None, true));
    assert!(!arrives(&mut receiver, 0, 0)[0].ece);
    assert!(arrives_with(&mut receiver, 0, 1, |segment| segment.ecn = Ecn::Ce)[0].ece);
    assert!(arrives(&mut receiver, 0, 2)[0].ece);
    assert!(!arrives_with(&mut receiver, 0, 3, |segment| segment.cwr = true)[0].ece);
}

/// RFC 8257 Section 3.2, Figure 1: when the marks change, the segments before are acknowledged at once.
#[test]
fn dctcp_acknowledges_marked_and_unmarked_segments_apart() {
    let mut receiver = receiver(|config| (config.control, config.ecn) = (Control::Dctcp, true));
    let echoes = |out: Vec<Segment>| out.iter().map(|ack| (ack.ack, ack.ece)).collect::<Vec<_>>();
    let marked = |segment: &mut Segment| segment.ecn = Ecn::Ce;
    assert_eq!(echoes(arrives(&mut receiver, 0, 0)), []);
    assert_eq!(
        echoes(arrives_with(&mut receiver, 0, 1, marked)),
        [(1000, false), (2000, true)]
    );
    assert_eq!(echoes(arrives_with(&mut receiver, 0, 2, marked)), []);
    assert_eq!(echoes(arrives_with(&mut receiver, 0, 3, marked)), [(4000, true)]);
    assert_eq!(echoes(arrives(&mut receiver, 0, 4)), [(5000, false)]);
}
