//! Detection and repair of losses, for known sequences of segments.

use crate::wire::{MS, Path, SECOND, run};
use p4sched_transport::{Config, Control, Endpoint, Kind, Recovery};

/// Segments of 1000 bytes, acknowledged one by one, without handshake. Until the first loss, the number of a segment is
/// the number of its transmission.
fn config(recovery: Recovery) -> Config {
    Config {
        mss: 1000,
        handshake: false,
        delayed_ack: None,
        recovery,
        hystart: false,
        ..Config::kernel(Control::NewReno)
    }
}

const SEGMENTS: u64 = 40;

/// A path of 10 ms. A segment takes one microsecond, so a time in whole milliseconds shows the round trip.
fn path() -> Path {
    Path::new(8_000_000_000, 5 * MS)
}

/// Times at which a segment was sent, in ms.
fn times(run: &crate::wire::Run, number: u64) -> Vec<u64> {
    run.times(number).iter().map(|at| at / MS).collect()
}

fn finishes(run: &crate::wire::Run) -> u64 {
    assert_eq!(run.receiver.received(), run.receiver.delivered());
    assert!(run.sender.finished() && run.receiver.finished());
    run.finished_at.unwrap()
}

#[test]
fn without_loss_slow_start_doubles_the_window_each_round_trip() {
    let run = run(&config(Recovery::Rack), 40_000, &path(), SECOND);
    assert_eq!(run.sequence(), (0..SEGMENTS).collect::<Vec<_>>());
    assert_eq!(
        [times(&run, 9), times(&run, 10), times(&run, 29), times(&run, 30)],
        [[0], [10], [10], [20]]
    );
    assert_eq!(finishes(&run) / MS, 30);
}

/// RFC 5681 Section 3.2: at the third duplicate the segment is sent again, one round trip after the first time.
#[test]
fn one_loss_is_repaired_after_three_later_segments() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack, Recovery::Quic] {
        let run = run(&config(recovery), 40_000, &path().losing([3]), SECOND);
        assert_eq!(times(&run, 3), [0, 10], "{recovery:?}");
        let statistics = run.sender.statistics();
        assert_eq!(
            (statistics.retransmitted, statistics.timeouts, statistics.recoveries),
            (1, 0, 1),
            "{recovery:?}"
        );
        finishes(&run);
    }
}

/// RFC 6582 Section 3.2: each partial acknowledgement repairs one hole, so three losses take three round trips.
#[test]
fn newreno_repairs_one_of_several_losses_in_a_round_trip() {
    let run = run(&config(Recovery::NewReno), 40_000, &path().losing([12, 14, 16]), SECOND);
    assert_eq!(
        [times(&run, 12)[1], times(&run, 14)[1], times(&run, 16)[1]],
        [20, 30, 40]
    );
    let statistics = run.sender.statistics();
    assert_eq!(
        (statistics.retransmitted, statistics.timeouts, statistics.recoveries),
        (3, 0, 1)
    );
    finishes(&run);
}

/// RFC 6675: the scoreboard shows all holes. They are repaired within the round trip in which they are detected.
#[test]
fn sack_repairs_several_losses_in_one_round_trip() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let run = run(&config(recovery), 40_000, &path().losing([12, 14, 16]), SECOND);
        for segment in [12, 14, 16] {
            assert_eq!(times(&run, segment), [10, 20], "{recovery:?}");
        }
        assert_eq!(run.sender.statistics().timeouts, 0);
        finishes(&run);
    }
}

/// One reduction for all losses of a window (RFC 6675 Section 5).
#[test]
fn losses_of_one_window_halve_it_once() {
    let run = run(&config(Recovery::Sack), 400_000, &path().losing([12, 14, 20]), SECOND);
    let least = run
        .windows
        .iter()
        .filter(|(at, _)| *at > 20 * MS)
        .map(|(_, cwnd)| cwnd)
        .min();
    let most = run
        .windows
        .iter()
        .filter(|(at, _)| *at <= 20 * MS)
        .map(|(_, cwnd)| cwnd)
        .max();
    assert_eq!(run.sender.statistics().recoveries, 1);
    assert!(least.unwrap() * 2 >= most.unwrap() - 1, "{least:?} {most:?}");
}

/// RACK detects that a segment sent after the retransmission has arrived (RFC 8985 Section 6.2). RFC 6675 waits for its
/// timer.
#[test]
fn a_lost_retransmission_is_found_by_rack_and_by_the_timer_otherwise() {
    let first = run(&config(Recovery::Sack), 400_000, &path().losing([3]), SECOND);
    let again = first
        .sent
        .iter()
        .position(|sent| sent.at > 0 && sent.segment.seq == 3000)
        .unwrap() as u64;
    let rack = run(&config(Recovery::Rack), 400_000, &path().losing([3, again]), SECOND);
    assert_eq!((rack.sender.statistics().timeouts, times(&rack, 3).len()), (0, 3));
    assert!(times(&rack, 3)[2] <= 21, "{:?}", times(&rack, 3));
    finishes(&rack);
    let sack = run(&config(Recovery::Sack), 400_000, &path().losing([3, again]), SECOND);
    assert_eq!((sack.sender.statistics().timeouts, times(&sack, 3).len()), (1, 3));
    assert!(times(&sack, 3)[2] >= 200, "{:?}", times(&sack, 3));
    finishes(&sack);
}

/// RFC 8985 Section 7: after two round trips without an acknowledgement, the last segment is sent again.
#[test]
fn a_lost_tail_is_probed() {
    let run = run(&config(Recovery::Rack), 40_000, &path().losing([38, 39]), SECOND);
    // Segments 30 to 39 are sent after 20 ms, and the last acknowledgement comes after 30 ms. The smoothed round trip
    // is 10 ms.
    assert_eq!(times(&run, 39), [20, 50]);
    assert_eq!(times(&run, 38), [20, 60]);
    assert_eq!(run.sender.statistics().timeouts, 0);
    assert_eq!(finishes(&run) / MS, 70);
}

/// 250 ticks per second. Linux's probe waits for two round trips and 2 ms: six ticks from 30 ms on. The seventh tick is
/// at 56 ms.
#[test]
fn timers_run_out_with_a_tick() {
    let config = |recovery| Config {
        tick: 4 * MS,
        ..config(recovery)
    };
    let probe = run(&config(Recovery::Rack), 40_000, &path().losing([38, 39]), SECOND);
    assert_eq!(times(&probe, 39), [20, 56]);
    finishes(&probe);
    // 30 ms + 210 ms, in whole ticks.
    let timeout = run(&config(Recovery::Sack), 40_000, &path().losing([39]), SECOND);
    assert_eq!(times(&timeout, 39), [20, 244]);
    finishes(&timeout);
}

#[test]
fn a_lost_tail_without_a_probe_waits_for_the_timer() {
    let run = run(&config(Recovery::Sack), 40_000, &path().losing([39]), SECOND);
    let again = times(&run, 39)[1];
    // RTO = SRTT + 200 ms, from the last acknowledgement on.
    assert_eq!(again, 30 + 10 + 200);
    assert_eq!(run.sender.statistics().timeouts, 1);
}

/// RFC 6298 Section 5.5: each timeout doubles the next one. Section 2.1: it is 1 s before the first measurement.
#[test]
fn timeouts_double_and_a_measurement_ends_that() {
    let run = run(
        &config(Recovery::Sack),
        3_000,
        &path().losing([0, 1, 2, 3, 4, 5]),
        100 * SECOND,
    );
    assert_eq!(times(&run, 0), [0, 1000, 3000, 7000, 15_000]);
    assert_eq!(run.sender.statistics().timeouts, 4);
    assert_eq!(finishes(&run) / MS, 15_020);
}

#[test]
fn a_lost_syn_is_sent_again_after_one_second() {
    let config = Config {
        handshake: true,
        ..config(Recovery::Rack)
    };
    let run = run(&config, 40_000, &path().losing([0, 1]), 100 * SECOND);
    let syns: Vec<_> = run
        .sent
        .iter()
        .filter(|sent| sent.segment.kind == Kind::Syn)
        .map(|sent| sent.at)
        .collect();
    assert_eq!(syns, [0, SECOND, 3 * SECOND]);
    // Two of the first segments were lost, so the initial window is one segment.
    let first = run
        .sent
        .iter()
        .filter(|sent| sent.segment.kind == Kind::Data && sent.at / MS == 3010);
    assert_eq!(first.count(), 1);
    finishes(&run);
}

#[test]
fn a_lost_syn_ack_and_a_lost_confirmation_do_no_harm() {
    let config = Config {
        handshake: true,
        ..config(Recovery::Rack)
    };
    let run1 = run(&config, 40_000, &path().losing_back([0]), 100 * SECOND);
    assert!(finishes(&run1) < 1100 * MS);
    let run2 = run(&config, 40_000, &path().losing([1]), 100 * SECOND);
    assert_eq!(finishes(&run2) / MS, 40);
    assert_eq!(
        run2.answers
            .iter()
            .filter(|sent| sent.segment.kind == Kind::SynAck)
            .count(),
        1
    );
}

/// A segment that comes three places late looks lost. Its late acknowledgement echoes the first transmission (RFC
/// 3522), so the window is restored.
#[test]
fn a_late_segment_is_sent_again_and_the_reduction_is_taken_back() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let run = run(&config(recovery), 400_000, &path().late(3, 2 * MS), SECOND);
        let statistics = run.sender.statistics();
        assert_eq!((statistics.retransmitted, statistics.undone), (1, 1), "{recovery:?}");
        let cwnd = run
            .windows
            .iter()
            .filter(|(at, _)| *at / MS == 12)
            .map(|(_, cwnd)| *cwnd)
            .next_back();
        assert!(cwnd >= Some(13), "{recovery:?} {cwnd:?}");
        finishes(&run);
    }
}

/// RACK has seen reordering, so it waits for a quarter of the round trip (RFC 8985 Section 6.2 step 4).
#[test]
fn once_reordering_was_seen_rack_waits_for_late_segments() {
    let path = path().late(3, 2 * MS).late(40, 2 * MS).late(60, 2 * MS);
    let run = run(&config(Recovery::Rack), 400_000, &path, SECOND);
    assert_eq!(run.sender.statistics().retransmitted, 1);
    finishes(&run);
}

/// Two segments change places: there is one duplicate, and nothing is sent again.
#[test]
fn reordering_by_one_place_is_no_loss() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let path = Path::new(80_000_000, 5 * MS).late(3, 150_000);
        let run = run(&config(recovery), 40_000, &path, SECOND);
        let statistics = run.sender.statistics();
        assert_eq!(
            (statistics.retransmitted, statistics.recoveries),
            (0, 0),
            "{recovery:?}"
        );
    }
}

/// The acknowledgements are late, not the data. Nothing is lost, so the timeout is undone.
#[test]
fn a_timeout_without_loss_is_taken_back() {
    let mut path = path();
    for number in 0..11 {
        path.fates_back.insert(number, crate::wire::Fate::Late(1200 * MS));
    }
    let run = run(&config(Recovery::Sack), 400_000, &path, 10 * SECOND);
    let statistics = run.sender.statistics();
    assert_eq!((statistics.timeouts, statistics.undone), (1, 1));
    assert!(
        run.windows
            .iter()
            .filter(|(at, _)| *at > 1250 * MS)
            .all(|(_, cwnd)| *cwnd >= 10)
    );
    finishes(&run);
}

/// RFC 9002 Section 6.1.2: with one later packet, 9/8 of a round trip decide. RACK would wait for its probe.
#[test]
fn quic_takes_a_packet_for_lost_after_nine_eighths_of_a_round_trip() {
    let run = run(&config(Recovery::Quic), 40_000, &path().losing([38]), SECOND);
    assert_eq!(times(&run, 38), [20, 31]);
    let statistics = run.sender.statistics();
    assert_eq!((statistics.retransmitted, statistics.timeouts), (1, 0));
    finishes(&run);
}

/// RFC 9002 Section 6.1.1: packets are numbered by transmission, so a second loss of the same data is found as the first.
#[test]
fn quic_finds_the_loss_of_a_retransmission_without_a_timeout() {
    let first = run(&config(Recovery::Quic), 400_000, &path().losing([3]), SECOND);
    let again = first.sequence().iter().rposition(|&number| number == 3).unwrap() as u64;
    let run = run(&config(Recovery::Quic), 400_000, &path().losing([3, again]), SECOND);
    let statistics = run.sender.statistics();
    assert_eq!((statistics.retransmitted, statistics.timeouts), (2, 0));
    assert!(times(&run, 3)[2] <= 21, "{:?}", times(&run, 3));
    finishes(&run);
}

/// RFC 9002 Section 6.2: the timer sends a probe, and its acknowledgement shows what is lost.
#[test]
fn a_lost_tail_of_quic_takes_one_probe() {
    let run = run(
        &config(Recovery::Quic),
        40_000,
        &path().losing([36, 37, 38, 39]),
        SECOND,
    );
    let statistics = run.sender.statistics();
    assert_eq!((statistics.retransmitted, statistics.timeouts), (4, 1));
    finishes(&run);
}

/// The receiver discards what comes after a hole, so all 13 segments from there on are sent again.
#[test]
fn go_back_n_sends_everything_after_a_loss_again() {
    let run = run(&config(Recovery::GoBackN), 40_000, &path().losing([3]), SECOND);
    let statistics = run.sender.statistics();
    assert_eq!(
        (statistics.retransmitted, statistics.timeouts, statistics.recoveries),
        (13, 0, 1)
    );
    assert_eq!(times(&run, 3), [0, 10]);
    // it asks once, and its acknowledgements name nothing else
    let asked = run.answers.iter().filter(|answer| answer.segment.sack[0] != (0, 0));
    assert_eq!(
        asked.map(|answer| answer.segment.sack[0]).collect::<Vec<_>>(),
        [(4000, 5000)]
    );
    finishes(&run);
}

/// A segment that comes late is as good as lost.
#[test]
fn go_back_n_does_not_wait_for_reordering() {
    let run = run(&config(Recovery::GoBackN), 40_000, &path().late(3, MS), SECOND);
    let statistics = run.sender.statistics();
    assert!(
        statistics.retransmitted >= 6 && statistics.timeouts == 0,
        "{statistics:?}"
    );
    finishes(&run);
}
