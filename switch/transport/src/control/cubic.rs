//! Cubic (RFC 9438), in the integer arithmetic of Linux (`net/ipv4/tcp_cubic.c`).
//!
//! After a reduction the window follows W(t) = C (t - K)^3 + W_max: it grows fast up to W_max, slowly around it, and
//! fast beyond. W_max is the window at which segments were lost. K = cbrt((W_max - cwnd) / C). The window is never
//! smaller than that of NewReno.

use super::hystart::HyStart;
use super::window::{Measurement, Window};
use p4sched_schedulers::Nanos;

/// Without timer ticks, the window is computed at most once in this time, as in a kernel with 1000 ticks per second.
const TICK: Nanos = 1_000_000;
/// A result for the same window may be reused for this long.
const FRESH: Nanos = 1_000_000_000 / 32;
/// For this long after a reduction, round-trip times are not used, because the old queue delayed them.
const SETTLE: Nanos = 1_000_000_000;
/// beta_cubic = 7/10 (RFC 9438 Section 4.6).
const BETA: (u32, u32) = (7, 10);

#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    /// W_max, in segments; 0 before the first reduction.
    w_max: u32,
    /// Start of this period of growth; `None` before its first acknowledgement.
    epoch: Option<Nanos>,
    /// The plateau of the curve in segments, and the time from the epoch to it.
    origin: u32,
    k: Nanos,
    /// The window and the time for which `each` was computed.
    computed: (u32, Nanos),
    each: u32,
    /// W_est, NewReno's window (RFC 9438 Section 4.3), and the acknowledged segments for which it has not grown yet.
    w_est: u32,
    acked: u32,
    /// The shortest round trip; 0 before the first one.
    shortest: Nanos,
    hystart: Option<HyStart>,
    /// Interval between two timer ticks, or 0.
    tick: Nanos,
}

impl Cubic {
    pub(crate) fn new(hystart: bool, tick: Nanos) -> Self {
        Cubic {
            hystart: hystart.then(HyStart::default),
            tick,
            ..Cubic::default()
        }
    }

    /// Forgets the state of the path.
    pub(crate) fn reset(&mut self) {
        *self = Cubic::new(self.hystart.is_some(), self.tick);
    }

    pub(crate) fn measure(&mut self, measurement: &Measurement, window: &mut Window) {
        let Some(rtt) = measurement.rtt else { return };
        if self.epoch.is_some_and(|epoch| measurement.now - epoch < SETTLE) {
            return;
        }
        if self.shortest == 0 || rtt < self.shortest {
            self.shortest = rtt.max(1);
        }
        if window.in_slow_start()
            && let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(measurement, self.shortest, window.cwnd)
        {
            window.ssthresh = window.cwnd;
        }
    }

    /// Sets W_max, with fast convergence (RFC 9438 Section 4.7). Returns beta times the window.
    pub(crate) fn reduced(&mut self, cwnd: u32) -> u32 {
        self.epoch = None;
        self.w_max = if cwnd < self.w_max {
            scaled(cwnd, (BETA.1 + BETA.0, 2 * BETA.1))
        } else {
            cwnd
        };
        scaled(cwnd, BETA)
    }

    /// Number of acknowledged segments after which the window grows by one.
    pub(crate) fn segments_for_one_more(&mut self, now: Nanos, cwnd: u32, acked: u32) -> u32 {
        self.acked += acked;
        let (window, at) = self.computed;
        // Time in whole ticks (Linux, bictcp_update: HZ / 32).
        let ticks = |time: Nanos| time / self.tick.max(1);
        if window == cwnd && ticks(now) - ticks(at) <= ticks(FRESH) {
            return self.each;
        }
        let tick = if self.tick == 0 { TICK } else { self.tick };
        if self.epoch.is_none() || now / tick != at / tick {
            self.computed = (cwnd, now);
            self.each = self.cubic(now, cwnd, acked);
        }
        self.each = self.at_least_newreno(cwnd).max(2);
        self.each
    }

    /// Growth towards the value of the curve one round trip later (RFC 9438 Section 4.4).
    fn cubic(&mut self, now: Nanos, cwnd: u32, acked: u32) -> u32 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            (self.acked, self.w_est) = (acked, cwnd);
            self.origin = self.w_max.max(cwnd);
            self.k = plateau(self.origin - cwnd);
            now
        });
        let target = curve(now - epoch + self.shortest, self.k, self.origin);
        let each = match target.checked_sub(cwnd) {
            Some(growth) if growth > 0 => (cwnd / growth).max(1),
            _ => cwnd.saturating_mul(100),
        };
        // Before the first reduction the bandwidth is unknown, and the curve is too cautious.
        if self.w_max == 0 { each.min(20) } else { each }
    }

    /// RFC 9438 Section 4.3: NewReno with beta = 0.7 adds 3 (1 - beta) / (1 + beta) = 9/17 segments a window.
    fn at_least_newreno(&mut self, cwnd: u32) -> u32 {
        let each = scaled(cwnd, (17, 9)).max(1);
        self.w_est += self.acked / each;
        self.acked %= each;
        match self.w_est.checked_sub(cwnd) {
            Some(behind) if behind > 0 => self.each.min(cwnd / behind),
            _ => self.each,
        }
    }
}

fn scaled(value: u32, (numerator, denominator): (u32, u32)) -> u32 {
    (u64::from(value) * u64::from(numerator) / u64::from(denominator)) as u32
}

/// K for a plateau `segments` above the window: cbrt(segments / C) seconds, C = 0.4, in steps of a microsecond.
fn plateau(segments: u32) -> Nanos {
    let cube = u128::from(segments) * 2_500_000_000_000_000_000;
    let (mut low, mut high) = (0_u64, 1 << 37);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if u128::from(middle).pow(3) <= cube {
            low = middle
        } else {
            high = middle - 1
        }
    }
    low * 1000
}

/// C (t - K)^3 + origin, in whole segments.
fn curve(t: Nanos, k: Nanos, origin: u32) -> u32 {
    let micros = u128::from(t.abs_diff(k) / 1000);
    let distance = u32::try_from(micros.pow(3) * 2 / 5_000_000_000_000_000_000).unwrap_or(u32::MAX);
    if t < k {
        origin.saturating_sub(distance)
    } else {
        origin.saturating_add(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    /// RFC 9438 Section 4.2 with floating point.
    fn formula(seconds: f64, w_max: f64, cwnd: f64) -> f64 {
        let k = ((w_max - cwnd) / 0.4).cbrt();
        0.4 * (seconds - k).powi(3) + w_max
    }

    #[test]
    fn the_curve_is_that_of_the_rfc() {
        let k = plateau(300);
        for tenth in 0..300_u64 {
            let expected = formula(tenth as f64 / 10.0, 1000.0, 700.0);
            let segments = curve(tenth * SECOND / 10, k, 1000);
            assert!(
                (f64::from(segments) - expected).abs() <= 1.01,
                "{tenth}: {segments}, {expected}"
            );
        }
    }

    /// The window of a long path, acknowledged every 10 ms, compared with the formula at each acknowledgement.
    #[test]
    fn the_window_follows_the_curve_within_one_round_trip() {
        let mut cubic = Cubic {
            w_max: 2000,
            shortest: SECOND / 10,
            ..Cubic::new(false, 0)
        };
        let mut window = Window {
            cwnd: 1400,
            ssthresh: 1400,
            credit: 0,
        };
        for step in 0..1200_u64 {
            let acked = window.cwnd / 10;
            let each = cubic.segments_for_one_more(step * SECOND / 100, window.cwnd, acked);
            window.additive(each, acked);
            let seconds = step as f64 / 100.0;
            let (now, ahead) = (formula(seconds, 2000.0, 1400.0), formula(seconds + 0.1, 2000.0, 1400.0));
            assert!(
                f64::from(window.cwnd) >= now - 0.02 * now - 2.0,
                "{seconds} s: {} < {now}",
                window.cwnd
            );
            assert!(
                f64::from(window.cwnd) <= ahead + 2.0,
                "{seconds} s: {} > {ahead}",
                window.cwnd
            );
        }
    }

    #[test]
    fn a_short_path_gets_what_newreno_would_have() {
        let mut cubic = Cubic {
            w_max: 20,
            shortest: SECOND / 1000,
            ..Cubic::new(false, 0)
        };
        let mut window = Window {
            cwnd: 14,
            ssthresh: 14,
            credit: 0,
        };
        for trip in 0..1000_u64 {
            let each = cubic.segments_for_one_more(trip * SECOND / 1000, window.cwnd, window.cwnd);
            let acked = window.cwnd;
            window.additive(each, acked);
        }
        // 9/17 of a segment per round trip; the curve itself is at 18 after 1 s. A result may be reused for up to 32
        // trips.
        let newreno = 14.0 + 1000.0 * 9.0 / 17.0;
        let behind = newreno - f64::from(window.cwnd);
        assert!((-1.0..=32.0 * 9.0 / 17.0).contains(&behind), "{behind}");
    }

    #[test]
    fn a_reduction_below_the_last_one_gives_way_to_others() {
        let mut cubic = Cubic::new(false, 0);
        assert_eq!((cubic.reduced(100), cubic.w_max), (70, 100));
        assert_eq!((cubic.reduced(90), cubic.w_max), (63, 76));
    }
}
