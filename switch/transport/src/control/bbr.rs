//! BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00, with the numbers of Linux (`net/ipv4/tcp_bbr.c`).
//!
//! A path has two parameters: its bandwidth (the highest delivery rate of ten round trips) and its shortest round trip
//! (of ten seconds). Their product fills the path without a queue. Segments leave at the bandwidth times a gain, while
//! less than the product times another gain is in flight.
//!
//! ```text
//! Startup 2.89 --> Drain 0.34 --> ProbeBandwidth 1.25 0.75 1 1 1 1 1 1 ... <--> ProbeRoundTrip: 4 segments for 200 ms
//! ```
//!
//! A loss changes the window for a round trip only. The detection of policers (Linux, `bbr_lt_bw_sampling`) is left
//! out.

use super::aggregation::Aggregation;
use super::window::Window;
use crate::config::Config;
use crate::random::mix;
use p4sched_schedulers::Nanos;

const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000_000_000;
/// Gains are in units of 1 / `UNIT`.
const UNIT: u64 = 256;
/// 2 / ln 2: the smallest gain that doubles the rate in each round trip.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const WINDOW_GAIN: u64 = 2 * UNIT;
/// Pacing gains of the phases in `ProbeBandwidth`: for more bandwidth, against the queue of that, and steady.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// A cycle begins in one of so many phases, but not in the second one.
const FIRST_PHASES: u64 = 7;
/// The bandwidth is the maximum of this round and of the ten before.
const ROUNDS: usize = 11;
/// Bandwidths are in thousandths of a segment per second.
const SCALE: u64 = 1000;
/// Percentage of the bandwidth that is not used, for a shorter queue.
const MARGIN: u64 = 1;
/// After so long without a round trip as short, the queue is drained for a new measurement, and for how long.
const SHORTEST_COUNTS: Nanos = 10 * SECOND;
const MEASUREMENT: Nanos = 200 * MS;
/// Smallest window in segments, except after a loss.
const LEAST: u32 = 4;
/// The path is full after `FULL_ROUNDS` rounds in which the bandwidth grew by less than a quarter.
const FULL_ROUNDS: u32 = 3;
/// Round trip that is assumed before the first one.
const NOMINAL: Nanos = MS;
/// Window without a round trip, and number of first segments for which the window always grows.
const FIRST_SEGMENTS: u32 = 10;
/// Bytes in a burst: those of 1 s / `BURSTS_IN_A_SECOND`, at most `LARGEST_BURST`. Below `SLOW` bytes per second it may
/// be one segment, otherwise it has two.
const BURSTS_IN_A_SECOND: u64 = 1024;
const LARGEST_BURST: u64 = 65_215;
const SLOW: u64 = 150_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRoundTrip,
}

/// The repair of losses that is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repair {
    Nothing,
    Recovery,
    AfterTimeout,
}

/// A delivery rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Segments that had arrived when the sample began.
    pub(crate) before: u64,
    /// Segments that arrived since then.
    pub(crate) segments: u64,
    pub(crate) interval: Nanos,
    /// Whether the flow had too little to send.
    pub(crate) is_limited: bool,
}

/// The content of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) now: Nanos,
    pub(crate) sample: Option<Sample>,
    /// Segments that have arrived: by this acknowledgement, and in all.
    pub(crate) delivered: u32,
    pub(crate) delivered_in_all: u64,
    /// Segments newly counted as lost.
    pub(crate) lost: u32,
    /// Segments in flight before the acknowledgement and after it.
    pub(crate) in_flight_before: u32,
    pub(crate) in_flight: u32,
    pub(crate) rtt: Option<Nanos>,
    pub(crate) smoothed: Option<Nanos>,
    pub(crate) repair: Repair,
    /// The next segment does not leave before this time.
    pub(crate) next_send: Nanos,
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub(crate) struct Bbr {
    flow: u32,
    mss: u32,
    offload: bool,
    mode: Mode,
    /// The highest bandwidth of each of the last rounds, at the round's number modulo `ROUNDS`.
    bandwidths: [u64; ROUNDS],
    round: usize,
    /// The round ends with a segment that was sent when so many had arrived.
    round_end: u64,
    round_begins: bool,
    /// The shortest round trip, and the time of its measurement.
    shortest: Option<Nanos>,
    shortest_at: Nanos,
    /// End of the measurement with four segments in flight, and whether a round has passed in it.
    measured_at: Option<Nanos>,
    round_passed: bool,
    /// Number and start of the phase in `ProbeBandwidth`.
    phase: usize,
    phase_began: Nanos,
    /// The bandwidth that growth is measured by, and rounds without growth.
    full_bandwidth: u64,
    full_rounds: u32,
    is_full: bool,
    aggregation: Aggregation,
    /// The window before a repair or a measurement.
    prior: u32,
    repair: Repair,
    /// Whether only as much leaves as arrives, in the first round of a recovery.
    conserves: bool,
    /// Whether the flow was idle, and nothing has arrived since.
    was_idle: bool,
    /// Pacing rate in bytes per second, and whether it is from a measured round trip.
    rate: u64,
    is_measured: bool,
}

/// Number of segments that a bandwidth delivers in this time.
pub(super) fn segments_in(bandwidth: u64, time: Nanos) -> u64 {
    (u128::from(bandwidth) * u128::from(time) / u128::from(SECOND * SCALE)) as u64
}

fn bandwidth(segments: u64, time: Nanos) -> u64 {
    (u128::from(segments) * u128::from(SECOND * SCALE) / u128::from(time.max(1))) as u64
}

impl Bbr {
    pub(crate) fn new(flow: u32, config: &Config) -> Self {
        let mut bbr = Bbr {
            flow,
            mss: config.mss,
            offload: config.offload,
            mode: Mode::Startup,
            bandwidths: [0; ROUNDS],
            round: 0,
            round_end: 0,
            round_begins: false,
            shortest: None,
            shortest_at: 0,
            measured_at: None,
            round_passed: false,
            phase: 0,
            phase_began: 0,
            full_bandwidth: 0,
            full_rounds: 0,
            is_full: false,
            aggregation: Aggregation::default(),
            prior: 0,
            repair: Repair::Nothing,
            conserves: false,
            was_idle: false,
            rate: 0,
            is_measured: false,
        };
        bbr.rate = bbr.first_rate(config.initial_window, NOMINAL);
        bbr
    }

    /// Takes the round trip of the handshake, if there was one.
    pub(crate) fn start(&mut self, now: Nanos, rtt: Option<Nanos>, cwnd: u32) {
        (self.shortest, self.shortest_at) = (rtt, now);
        self.aggregation.restart(now);
        if let Some(rtt) = rtt {
            self.rate = self.first_rate(cwnd, rtt);
            self.is_measured = true;
        }
    }

    /// Pacing rate in bytes per second.
    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    /// Whether few segments are in flight on purpose, so that their rate says nothing.
    pub(crate) fn probes_round_trip(&self) -> bool {
        self.mode == Mode::ProbeRoundTrip
    }

    /// Records that the flow was idle.
    pub(crate) fn idle(&mut self, now: Nanos) {
        self.was_idle = true;
        self.aggregation.restart(now);
    }

    /// Keeps the window for the end of a repair.
    pub(crate) fn keep(&mut self, cwnd: u32) {
        let is_cut = self.repair != Repair::Nothing || self.probes_round_trip();
        self.prior = if is_cut { self.prior.max(cwnd) } else { cwnd };
    }

    /// Handles a retransmission timeout.
    pub(crate) fn timeout(&mut self) {
        (self.repair, self.full_bandwidth) = (Repair::AfterTimeout, 0);
    }

    /// Handles the end of a repair without a loss.
    pub(crate) fn undone(&mut self) {
        (self.full_bandwidth, self.full_rounds) = (0, 0);
    }

    /// Handles an acknowledgement: measures the path, then sets the rate and the window.
    pub(crate) fn acknowledged(&mut self, ack: &Acknowledged, window: &mut Window) {
        self.measure_bandwidth(ack);
        if ack.delivered > 0 && ack.sample.is_some() {
            let (now, bandwidth) = (ack.now, self.bandwidth());
            let round_begins = self.round_begins;
            (self.aggregation).measure(now, ack.delivered, round_begins, bandwidth, window.cwnd);
        }
        if self.mode == Mode::ProbeBandwidth && self.phase_ends(ack) {
            self.next_phase(ack.now);
        }
        self.look_for_full_path(ack);
        self.drain(ack);
        self.measure_round_trip(ack, window);
        self.set_rate(ack, window.cwnd);
        self.set_window(ack, window);
    }

    fn bandwidth(&self) -> u64 {
        self.bandwidths.iter().copied().max().unwrap_or(0)
    }

    fn measure_bandwidth(&mut self, ack: &Acknowledged) {
        self.round_begins = false;
        let Some(sample) = ack.sample else { return };
        if sample.before >= self.round_end {
            self.round_end = ack.delivered_in_all;
            self.round = (self.round + 1) % ROUNDS;
            self.bandwidths[self.round] = 0;
            (self.round_begins, self.conserves) = (true, false);
        }
        let measured = bandwidth(sample.segments, sample.interval);
        if !sample.is_limited || measured >= self.bandwidth() {
            self.bandwidths[self.round] = self.bandwidths[self.round].max(measured);
        }
    }

    fn pacing_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBandwidth => CYCLE[self.phase],
            Mode::ProbeRoundTrip => UNIT,
        }
    }

    fn window_gain(&self) -> u64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth => WINDOW_GAIN,
            Mode::ProbeRoundTrip => UNIT,
        }
    }

    /// Segments that leave together. Without offload each leaves alone.
    fn burst(&self) -> u32 {
        if !self.offload {
            return 1;
        }
        let bytes = (self.rate / BURSTS_IN_A_SECOND).min(LARGEST_BURST);
        let least = if self.rate < SLOW { 1 } else { 2 };
        (bytes / u64::from(self.mss)).clamp(least, 127) as u32
    }

    /// The bandwidth-delay product times a gain, in segments, rounded up.
    fn product(&self, gain: u64) -> u32 {
        let Some(shortest) = self.shortest else {
            return FIRST_SEGMENTS;
        };
        let scaled = u128::from(self.bandwidth()) * u128::from(shortest) * u128::from(gain) / u128::from(UNIT);
        u32::try_from(scaled.div_ceil(u128::from(SECOND * SCALE))).unwrap_or(u32::MAX / 2)
    }

    /// Room for bursts at both ends and for delayed acknowledgements.
    fn with_bursts(&self, segments: u32) -> u32 {
        let even = (segments + 3 * self.burst()).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBandwidth && self.phase == 0;
        even + if probes { 2 } else { 0 }
    }

    fn target(&self, gain: u64) -> u32 {
        self.with_bursts(self.product(gain))
    }

    /// Segments in the network when the next one leaves.
    fn in_flight_then(&self, ack: &Acknowledged, in_flight: u32) -> u64 {
        let arrive = segments_in(self.bandwidth(), ack.next_send.saturating_sub(ack.now));
        let with_next = if self.pacing_gain() > UNIT { self.burst() } else { 0 };
        u64::from(in_flight + with_next).saturating_sub(arrive)
    }

    /// A phase lasts a shortest round trip. The first one goes on until its gain is in flight, the second one ends as
    /// soon as the queue of the first one has gone.
    fn phase_ends(&self, ack: &Acknowledged) -> bool {
        let gain = self.pacing_gain();
        let is_long = ack.now - self.phase_began > self.shortest.unwrap_or(Nanos::MAX);
        let in_flight = self.in_flight_then(ack, ack.in_flight_before);
        match gain {
            UNIT => is_long,
            UNIT.. => is_long && (ack.lost > 0 || in_flight >= self.target(gain).into()),
            _ => is_long || in_flight <= self.target(UNIT).into(),
        }
    }

    fn next_phase(&mut self, now: Nanos) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_began = now;
    }

    /// Flows must not probe in step, so each begins in another phase. It follows from the time and the flow.
    fn probe_bandwidth(&mut self, now: Nanos) {
        self.mode = Mode::ProbeBandwidth;
        self.phase = CYCLE.len() - 1 - (mix(now ^ u64::from(self.flow) << 40) % FIRST_PHASES) as usize;
        self.next_phase(now);
    }

    fn look_for_full_path(&mut self, ack: &Acknowledged) {
        if self.is_full || !self.round_begins || ack.sample.is_some_and(|sample| sample.is_limited) {
            return;
        }
        if self.bandwidth() >= self.full_bandwidth * 5 / 4 {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn drain(&mut self, ack: &Acknowledged) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight_then(ack, ack.in_flight) <= self.target(UNIT).into() {
            self.probe_bandwidth(ack.now);
        }
    }

    fn measure_round_trip(&mut self, ack: &Acknowledged, window: &mut Window) {
        let is_old = ack.now > self.shortest_at + SHORTEST_COUNTS;
        // The acknowledgement of a single segment may have been delayed.
        let is_delayed = ack.delivered == 1 && ack.sample.is_some_and(|sample| sample.segments == 1);
        if let Some(rtt) = ack.rtt
            && (self.shortest.is_none_or(|shortest| rtt < shortest) || (is_old && !is_delayed))
        {
            (self.shortest, self.shortest_at) = (Some(rtt.max(1)), ack.now);
        }
        if is_old && !self.was_idle && !self.probes_round_trip() {
            self.mode = Mode::ProbeRoundTrip;
            self.keep(window.cwnd);
            self.measured_at = None;
        }
        if self.probes_round_trip() {
            self.hold_few_in_flight(ack, window);
        }
        if ack.sample.is_some() {
            self.was_idle = false;
        }
    }

    /// Four segments in flight, for 200 ms and a round at least.
    fn hold_few_in_flight(&mut self, ack: &Acknowledged, window: &mut Window) {
        match self.measured_at {
            None if ack.in_flight <= LEAST => {
                self.measured_at = Some(ack.now + MEASUREMENT);
                (self.round_passed, self.round_end) = (false, ack.delivered_in_all);
            }
            None => {}
            Some(end) => {
                self.round_passed |= self.round_begins;
                if self.round_passed && ack.now > end {
                    self.shortest_at = ack.now;
                    window.cwnd = window.cwnd.max(self.prior);
                    if self.is_full {
                        self.probe_bandwidth(ack.now);
                    } else {
                        self.mode = Mode::Startup;
                    }
                }
            }
        }
    }

    fn first_rate(&self, cwnd: u32, rtt: Nanos) -> u64 {
        self.bytes_per_second(bandwidth(cwnd.into(), rtt), HIGH_GAIN)
    }

    fn bytes_per_second(&self, bandwidth: u64, gain: u64) -> u64 {
        let bytes = u128::from(bandwidth) * u128::from(self.mss) * u128::from(gain * (100 - MARGIN));
        (bytes / u128::from(UNIT * 100 * SCALE)) as u64
    }

    fn set_rate(&mut self, ack: &Acknowledged, cwnd: u32) {
        if let (false, Some(smoothed)) = (self.is_measured, ack.smoothed) {
            self.rate = self.first_rate(cwnd, smoothed);
            self.is_measured = true;
        }
        let rate = self.bytes_per_second(self.bandwidth(), self.pacing_gain());
        if self.is_full || rate > self.rate {
            self.rate = rate;
        }
    }

    fn set_window(&mut self, ack: &Acknowledged, window: &mut Window) {
        if ack.delivered > 0 {
            window.cwnd = self.window(ack, window.cwnd);
        }
        if self.probes_round_trip() {
            window.cwnd = window.cwnd.min(LEAST);
        }
    }

    fn window(&mut self, ack: &Acknowledged, cwnd: u32) -> u32 {
        let mut cwnd = if ack.lost > 0 {
            cwnd.saturating_sub(ack.lost).max(1)
        } else {
            cwnd
        };
        let before = std::mem::replace(&mut self.repair, ack.repair);
        if ack.repair == Repair::Recovery && before != Repair::Recovery {
            (self.conserves, self.round_end) = (true, ack.delivered_in_all);
            cwnd = ack.in_flight + ack.delivered;
        } else if ack.repair == Repair::Nothing && before != Repair::Nothing {
            self.conserves = false;
            cwnd = cwnd.max(self.prior);
        }
        if self.conserves {
            return cwnd.max(ack.in_flight + ack.delivered);
        }
        let more = if self.is_full {
            self.aggregation.segments(self.bandwidth())
        } else {
            0
        };
        let target = self.with_bursts(self.product(self.window_gain()) + more);
        if self.is_full {
            cwnd = (cwnd + ack.delivered).min(target);
        } else if cwnd < target || ack.delivered_in_all < FIRST_SEGMENTS.into() {
            cwnd += ack.delivered;
        }
        cwnd.max(LEAST)
    }
}
