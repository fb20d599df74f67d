//! BBR on a path with a queue: its start, its rate, its queue, and its measurements of the round trip.

use crate::wire::{MS, Path, Run, SECOND, run};
use p4sched_transport::{Config, Control};

const MSS: u64 = 1250; // One segment in 1 ms at 10 Mbit/s.
/// Segments that fill the path of 10 Mbit/s and 20 ms: the delay, and the transmission of one.
const PRODUCT: u32 = 21;
/// Share of the bandwidth at which segments leave (Linux: a margin of 1 %).
const PACED: f64 = 0.99;

fn config() -> Config {
    Config {
        mss: MSS as u32,
        ..Config::kernel(Control::Bbr)
    }
}

fn path(queue: usize) -> Path {
    Path {
        queue,
        ..Path::new(10_000_000, 10 * MS)
    }
}

/// The share of a link of this rate that the flow got between `from` and `to`.
fn share(run: &Run, rate_bps: f64, from: u64, to: u64) -> f64 {
    let acked = |at: u64| {
        let before = run.answers.iter().take_while(|sent| sent.at <= at);
        before.last().map_or(0, |sent| sent.segment.ack)
    };
    (acked(to) - acked(from)) as f64 * 8.0 / ((to - from) as f64 / 1e9) / rate_bps
}

/// Numbers of waiting segments that arrivals between `from` and `to` found.
fn waiting(run: &Run, from: u64, to: u64) -> Vec<usize> {
    let all = run.sent.iter().zip(&run.waiting);
    let within = all.filter(|(sent, _)| (from..to).contains(&sent.at));
    within.map(|(_, &waiting)| waiting).collect()
}

/// Gaps between segments that leave between `from` and `to`.
fn gaps(run: &Run, from: u64, to: u64) -> Vec<u64> {
    let times: Vec<_> = run.sent.iter().map(|sent| sent.at).collect();
    let within: Vec<_> = times.into_iter().filter(|at| (from..to).contains(at)).collect();
    within.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The rate doubles in each round trip: 200 segments in flight after five of them. Three rounds without growth end the
/// start, and one round drains its queue. With the queue, a round trip takes at most 2.89 times as long.
#[test]
fn the_start_reaches_the_rate_of_the_link_in_nine_round_trips() {
    let (rate, delay) = (100_000_000, 10 * MS);
    let run = run(&config(), u64::MAX, &Path::new(rate, delay), 2 * SECOND);
    let started = 9 * 2 * delay * 289 / 100;
    assert!(started < SECOND);
    let got = share(&run, rate as f64, started, 2 * SECOND);
    assert!(got > PACED - 0.02, "{got}");
    assert_eq!(run.sender.statistics().retransmitted, 0);
    // The start leaves 1.89 products in the queue at most, and a round of drain removes them.
    let longest = waiting(&run, 0, started).into_iter().max().unwrap();
    assert!((100..=400).contains(&longest), "{longest}");
}

/// Behind the queue of the link a flow alone has no more than its window in flight: two products, and the bursts at
/// both ends. One product is in the path.
#[test]
fn a_flow_alone_keeps_the_link_busy_and_the_queue_below_a_product() {
    let run = run(&config(), u64::MAX, &path(usize::MAX), 10 * SECOND);
    let got = share(&run, 10e6, 2 * SECOND, 10 * SECOND);
    assert!(got > PACED - 0.01, "{got}");
    let steady = waiting(&run, 2 * SECOND, 10 * SECOND);
    let longest = *steady.iter().max().unwrap();
    let mean = steady.iter().sum::<usize>() as f64 / steady.len() as f64;
    assert!(longest <= PRODUCT as usize, "{longest}");
    // One round in eight adds a quarter of a product, and the next one removes it.
    assert!(mean < f64::from(PRODUCT) / 4.0, "{mean}");
}

/// After ten seconds without a shorter round trip, four segments remain in flight for 200 ms and a round. The queue is
/// empty then. Afterwards the window is what it was, also if 200 ms are more than the ten rounds of the bandwidth.
#[test]
fn a_measurement_of_the_round_trip_empties_the_queue() {
    for delay in [10 * MS, 5 * MS / 2] {
        measures_the_round_trip(delay);
    }
}

fn measures_the_round_trip(delay: u64) {
    let run = run(&config(), u64::MAX, &Path::new(10_000_000, delay), 14 * SECOND);
    let few: Vec<_> = run
        .windows
        .iter()
        .filter(|window| window.1 == 4)
        .map(|window| window.0)
        .collect();
    let (from, to) = (few[0], *few.last().unwrap());
    // The shortest round trip was measured in the first second.
    assert!((10 * SECOND..11 * SECOND).contains(&from), "{from}");
    // The window is reached after at most two round trips with a queue.
    assert!((200 * MS..300 * MS).contains(&(to - from)), "{from} {to}");
    assert!(waiting(&run, from + 100 * MS, to).iter().all(|&waiting| waiting <= 3));
    let window = |at: u64| run.windows.iter().take_while(|window| window.0 < at).last().unwrap().1;
    assert!(
        window(to + 100 * MS) >= window(from) - 2,
        "{} {}",
        window(from),
        window(to + 100 * MS)
    );
    let got = share(&run, 10e6, to + 100 * MS, 14 * SECOND);
    assert!(got > PACED - 0.02, "{got}");
}

/// Segments leave one by one, at the bandwidth times the gain of the phase. A gap is half as long if the segment before
/// was late.
#[test]
fn segments_leave_at_equal_gaps() {
    let run = run(&config(), u64::MAX, &path(usize::MAX), 10 * SECOND);
    let mut gaps = gaps(&run, 2 * SECOND, 10 * SECOND);
    gaps.sort_unstable();
    let steady = 1e6 / PACED;
    let median = gaps[gaps.len() / 2] as f64;
    // A bandwidth of ten round trips counts whole segments, one in 21.
    assert!((median / steady - 1.0).abs() < 1.0 / 21.0, "{median}");
    assert!(gaps[0] as f64 > steady / 1.25 / 2.0, "{}", gaps[0]);
}

/// With offload a burst is what the rate allows in 1 s / 1024: 9 segments at 100 Mbit/s, 12 with the gain of a probe.
#[test]
fn bursts_leave_at_equal_gaps() {
    let config = Config {
        offload: true,
        ..config()
    };
    let run = run(&config, u64::MAX, &Path::new(100_000_000, 10 * MS), 5 * SECOND);
    let late = &run.sends[run.sends.len() / 2..];
    let largest = late.iter().map(|event| event.sent).max().unwrap();
    assert!((9..=12).contains(&largest), "{largest}");
    let got = share(&run, 100e6, 2 * SECOND, 5 * SECOND);
    assert!(got > PACED - 0.02, "{got}");
}

/// One segment in a hundred is lost at random places. NewReno's window is then sqrt(1.5 / 0.01) = 12 segments at most
/// (Mathis et al., CCR 1997), and a product is 20.
#[test]
fn losses_do_not_halve_the_rate() {
    let lossy = || path(usize::MAX).losing((1..400).map(|number| number * 101 + number * number % 37));
    let bbr = run(&config(), u64::MAX, &lossy(), 20 * SECOND);
    let newreno = run(
        &Config {
            control: Control::NewReno,
            ..config()
        },
        u64::MAX,
        &lossy(),
        20 * SECOND,
    );
    let of = |run: &Run| share(run, 10e6, 2 * SECOND, 10 * SECOND);
    // Without queue and margin a hundredth would be missing.
    assert!(of(&bbr) > PACED - 0.01 - 0.02, "{}", of(&bbr));
    assert!(of(&newreno) < 12.0 / 20.0 + 0.1, "{}", of(&newreno));
    assert_eq!(bbr.sender.statistics().timeouts, 0);
}
