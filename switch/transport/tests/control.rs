//! Windows and rates of each congestion control on a path with a queue.

use crate::wire::{Fate, MS, Path, Run, SECOND, US, run};
use p4sched_transport::{Config, Control, Endpoint, Kind, Recovery};

const MSS: u64 = 1250; // One segment in 1 ms at 10 Mbit/s.

fn config(control: Control) -> Config {
    Config {
        mss: MSS as u32,
        ..Config::kernel(control)
    }
}

/// A path of 10 Mbit/s and 20 ms: the bandwidth-delay product is 20 segments.
fn path(queue: usize) -> Path {
    Path {
        queue,
        ..Path::new(10_000_000, 10 * MS)
    }
}

/// The share of the link that the flow got between `from` and `to`.
fn share(run: &Run, from: u64, to: u64) -> f64 {
    let acked = |at: u64| {
        run.answers
            .iter()
            .take_while(|sent| sent.at <= at)
            .last()
            .map_or(0, |sent| sent.segment.ack)
    };
    (acked(to) - acked(from)) as f64 * 8.0 / ((to - from) as f64 / 1e9) / 10e6
}

/// The largest window before and the smallest one after each reduction. Windows after a reduction below `least` are
/// left out.
fn reductions(run: &Run, least: u32) -> Vec<(u32, u32)> {
    let mut reductions = Vec::new();
    let mut top = 0;
    for pair in run.windows.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        top = top.max(before);
        if after > before && top > before + before / 8 && before >= least {
            reductions.push((top, before));
            top = 0;
        }
    }
    reductions
}

/// The reductions of a sender without timeouts that keeps the link behind such a buffer busy.
fn reductions_on_a_busy_link(control: Control, buffer: usize) -> Vec<(u32, u32)> {
    let run = run(&config(control), u64::MAX, &path(buffer), 60 * SECOND);
    let busy = share(&run, 10 * SECOND, 60 * SECOND);
    assert!(busy > 0.98, "{busy}");
    assert_eq!(run.sender.statistics().timeouts, 0);
    let late = reductions(&run, 10);
    assert!(late.len() > 5);
    late
}

/// A buffer of one bandwidth-delay product keeps the link busy while NewReno halves its window.
#[test]
fn newreno_fills_a_link_with_one_bandwidth_delay_product_of_buffer() {
    let late = reductions_on_a_busy_link(Control::NewReno, 20);
    // 40 segments fit. The 42nd is lost, and half of the window remains.
    for (before, after) in &late[2..] {
        assert!(
            (41..=43).contains(before) && (19..=22).contains(after),
            "{before} {after}"
        );
    }
}

/// RFC 9438 Section 4.6: 0.7 of the window remains, so half of that buffer is enough.
#[test]
fn cubic_fills_a_link_with_half_of_that_buffer() {
    let late = reductions_on_a_busy_link(Control::Cubic, 10);
    for (before, after) in &late[2..] {
        let expected = before * 7 / 10;
        assert!(
            (31..=33).contains(before) && after.abs_diff(expected) <= 1,
            "{before} {after}"
        );
    }
}

/// With offload, segments leave together: a millisecond of the expected rate, but at least two segments and at most
/// half of the window.
#[test]
fn segments_leave_in_bursts_of_a_millisecond() {
    let largest = |offload, rate_bps, delay| {
        let config = Config {
            offload,
            ..config(Control::Cubic)
        };
        let path = Path {
            queue: 50,
            ..Path::new(rate_bps, delay)
        };
        let run = run(&config, u64::MAX, &path, 10 * SECOND);
        let late = &run.sends[run.sends.len() / 2..];
        late.iter().map(|event| event.sent).max().unwrap()
    };
    // At 100 Mbit/s, 1.2 times the data of 1 s / 1024 is 11 segments.
    assert!(largest(false, 100_000_000, 5 * MS / 2) <= 4);
    assert!((9..=13).contains(&largest(true, 100_000_000, 5 * MS / 2)));
    assert!(largest(true, 10_000_000, 10 * MS) <= 4);
}

/// HyStart leaves slow start before the queue overflows.
#[test]
fn hystart_saves_the_losses_of_slow_start() {
    let dropped = |hystart| {
        let path = Path {
            queue: 400,
            ..Path::new(100_000_000, 20 * MS)
        };
        run(
            &Config {
                hystart,
                ..config(Control::Cubic)
            },
            u64::MAX,
            &path,
            SECOND / 2,
        )
        .dropped
    };
    assert_eq!(dropped(true), 0);
    assert!(dropped(false) > 100, "{}", dropped(false));
}

/// RFC 8257 and the DCTCP paper (Alizadeh et al., SIGCOMM 2010, Section 3.3): the queue stays near the threshold K,
/// without loss.
#[test]
fn dctcp_keeps_the_queue_at_the_threshold() {
    let path = Path {
        mark_at: 10,
        ..path(100)
    };
    let run = run(&config(Control::Dctcp), u64::MAX, &path, 60 * SECOND);
    assert_eq!((run.dropped, run.sender.statistics().retransmitted), (0, 0));
    assert!(
        share(&run, 10 * SECOND, 60 * SECOND) > 0.99,
        "{}",
        share(&run, 10 * SECOND, 60 * SECOND)
    );
    let steady = &run.waiting[run.waiting.len() / 2..];
    let longest = steady.iter().max().unwrap();
    let mean = steady.iter().sum::<usize>() as f64 / steady.len() as f64;
    assert!(*longest <= 13 && mean > 3.0 && mean < 11.0, "{longest} {mean}");
}

/// RFC 3168 Section 6.1.2: a mark counts as a loss, once per window, and nothing is sent again.
#[test]
fn a_marked_newreno_halves_its_window_without_a_retransmission() {
    let mut path = path(usize::MAX);
    path.fates.extend([(500, Fate::Marked), (503, Fate::Marked)]);
    let run = run(
        &Config {
            ecn: true,
            ..config(Control::NewReno)
        },
        u64::MAX,
        &path,
        2 * SECOND,
    );
    assert_eq!(run.sender.statistics().retransmitted, 0);
    let before = run.windows.iter().map(|(_, cwnd)| *cwnd).max().unwrap();
    let after = run
        .windows
        .iter()
        .skip_while(|(_, cwnd)| *cwnd < before)
        .map(|(_, cwnd)| *cwnd)
        .min()
        .unwrap();
    assert_eq!(after, before / 2);
    assert_eq!(run.sent.iter().filter(|sent| sent.segment.cwr).count(), 1);
}

/// pFabric Section 4.3: a flow starts at line rate, and only a timeout of three round trips shows a loss.
#[test]
fn pfabric_starts_at_line_rate_and_sends_again_after_three_round_trips() {
    let config = Config::pfabric(20 * US, 12);
    let path = Path::new(0, 10 * US).losing([3]);
    let run = run(&config, 20 * 1448, &path, SECOND);
    assert_eq!(run.sent.iter().filter(|sent| sent.at == 0).count(), 12);
    // Acknowledgements of 0 to 2 come after 20 us and restart the timer. No duplicate causes an earlier retransmission.
    assert_eq!(run.times(3), [0, 80 * US]);
    assert_eq!(
        (run.sender.statistics().timeouts, run.sender.statistics().retransmitted),
        (1, 1)
    );
    assert!(run.sender.finished());
}

/// After five timeouts in a row the flow sends one byte at a time, until an acknowledgement arrives.
#[test]
fn pfabric_probes_after_five_timeouts() {
    let config = Config::pfabric(20 * US, 4);
    let path = Path::new(0, 10 * US).losing(0..11);
    let run = run(&config, 10 * 1448, &path, SECOND);
    let sizes: Vec<_> = run
        .sent
        .iter()
        .take(13)
        .map(|sent| (sent.at / US, sent.segment.len))
        .collect();
    let first = [(0, 1448); 4];
    let again = [(60, 1448), (120, 1448), (180, 1448), (240, 1448)];
    let probes = [(300, 1), (360, 1), (420, 1), (480, 1)];
    assert_eq!(sizes[..12], [first, again, probes].concat());
    assert_eq!(sizes[12], (500, 1448));
    assert!(run.sender.finished() && run.receiver.received() == 14_480);
}

/// The intervals are equal, and rounding errors of a third of a microsecond each do not add up.
#[test]
fn udp_keeps_its_rate() {
    let config = Config {
        mss: 1000,
        ..Config::kernel(Control::Udp {
            rate_bps: 24_000_000_000,
            jitter_ns: 0,
            seed: 0,
        })
    };
    let run = run(&config, 3_000_500, &Path::new(0, MS), SECOND);
    assert_eq!(
        (run.sent[1].at, run.sent[2].at, run.sent[3000].at),
        (334, 667, 1_000_000)
    );
    assert_eq!((run.sent.len(), run.sent[3000].segment.len), (3001, 500));
    assert!(run.answers.is_empty() && run.receiver.finished());
}

/// A datagram is up to the jitter later than at equal intervals, also if the jitter is longer than an interval.
#[test]
fn udp_with_jitter_keeps_its_mean_rate_and_its_order() {
    let sent = |jitter_ns: u64, seed: u64| {
        let config = Config {
            mss: 1000,
            ..Config::kernel(Control::Udp {
                rate_bps: 8_000_000_000,
                jitter_ns,
                seed,
            })
        };
        let run = run(&config, 1_000_000, &Path::new(0, MS), SECOND);
        assert!(run.receiver.finished());
        run.sent.iter().map(|sent| sent.at).collect::<Vec<_>>()
    };
    for jitter in [500, 5000] {
        let times = sent(jitter, 1);
        assert!(times.is_sorted());
        let late: Vec<u64> = (0..).zip(&times).map(|(number, &at)| at - 1000 * number).collect();
        assert!(late.iter().all(|&late| late <= jitter), "{late:?}");
        assert!(late.iter().max() > late.iter().min());
        assert_ne!(sent(jitter, 2), times);
        assert_eq!(sent(jitter, 1), times);
    }
}

/// RFC 5681 Section 4.2: after the first acknowledgements, there is one for every two segments.
#[test]
fn a_bulk_flow_has_one_acknowledgement_for_two_segments() {
    let run = run(&config(Control::Cubic), 1000 * MSS, &path(usize::MAX), 60 * SECOND);
    let acks = run.answers.iter().filter(|sent| sent.segment.kind == Kind::Ack).count();
    assert_eq!(acks, 16 + 984 / 2);
}

#[test]
fn the_receivers_window_bounds_what_is_on_its_way() {
    let config = Config {
        window: 10 * MSS,
        ..config(Control::Cubic)
    };
    let run = run(&config, u64::MAX, &path(usize::MAX), 10 * SECOND);
    assert!(run.sends.iter().all(|send| send.in_flight <= 10));
    // Ten segments in 20 ms plus the time of one or two of them.
    assert!(
        (0.43..0.51).contains(&share(&run, SECOND, 10 * SECOND)),
        "{}",
        share(&run, SECOND, 10 * SECOND)
    );
    // A window that is not used does not grow (RFC 7661).
    assert!(run.windows.iter().all(|(_, cwnd)| *cwnd <= 21));
}

#[test]
fn each_recovery_fills_the_link() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Rack] {
        let run = run(
            &Config {
                recovery,
                ..config(Control::NewReno)
            },
            u64::MAX,
            &path(20),
            60 * SECOND,
        );
        assert!(
            share(&run, 10 * SECOND, 60 * SECOND) > 0.95,
            "{recovery:?} {}",
            share(&run, 10 * SECOND, 60 * SECOND)
        );
    }
}
