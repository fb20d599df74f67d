//! The end hosts of Netbench, the simulator behind the flow completion times of SP-PIFO, AIFO, PACKS and RIFO.
//!
//! Its transport is NewReno with some special rules. The published figures depend on them, so a comparison needs them:
//!
//! - The initial window is 30 segments in its "pFabric" and 3 segments in its "TCP". The initial slow-start threshold
//!   is 30 segments in both.
//! - There is no smallest timeout. The timeout is srtt + 4 rttvar, at these rates some tens of microseconds. A timeout
//!   doubles it, and the next sample restarts the estimate.
//! - Every data segment that is sent restarts the timer.
//! - A duplicate is an acknowledgement that repeats the last *new* one. So there is no duplicate before the first new
//!   one.
//! - The first and the second duplicate release one segment each, whatever the window (RFC 3042 without its limit).
//! - After a timeout everything is sent again, except what was acknowledged selectively.
//! - The receiver ignores data that arrive before the third segment of the handshake. It acknowledges every other
//!   segment at once.
//!
//! With `ecn` they are the DCTCP hosts of Netbench. The estimated share of marked bytes starts at 0. Each
//! acknowledgement of a marked segment reduces the window, not only one per round trip.

use crate::config::Config;
use crate::endpoint::Endpoint;
use crate::ranges::Ranges;
use crate::segment::{Bytes, Ecn, Kind, Segment};
use crate::statistics::Statistics;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// Initial slow-start threshold, in segments.
const FIRST_THRESHOLD: f64 = 30.0;

/// Smallest slow-start threshold, in segments.
const LEAST_THRESHOLD: f64 = 2.0;

/// g of DCTCP: the weight of the newest measurement of the share of marked bytes.
const GAIN: f64 = 1.0 / 16.0;

/// State of DCTCP.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// alpha, the estimated share of marked bytes.
    alpha: f64,
    acknowledged: u64,
    marked: u64,
    /// The share is measured when this byte is acknowledged.
    end: u64,
}

/// The sender of one flow. Windows are in bytes, with fractions.
#[derive(Clone, Debug)]
pub(crate) struct NetbenchSender {
    pub(crate) statistics: Statistics,
    config: Arc<Config>,
    flow: u32,
    bytes: u64,
    established: bool,
    /// The oldest unacknowledged byte (SND.UNA), the next byte to send (SND.NXT), and the end of the highest segment
    /// sent.
    acknowledged: u64,
    next: u64,
    highest: u64,
    selectively: Ranges,
    congestion_window: f64,
    slow_start_threshold: f64,
    /// The last new acknowledgement, and the number of its repetitions.
    repeated: Option<(u64, u32)>,
    recovers: bool,
    /// The highest byte sent at the beginning of the latest recovery.
    recover: Option<u64>,
    /// Smoothed round-trip time and its variation in ns, measured since the last timeout.
    round_trip: Option<(f64, f64)>,
    timeout: Nanos,
    expires: Option<Nanos>,
    /// The state of DCTCP; only with `ecn`.
    marks: Option<Marks>,
}

impl NetbenchSender {
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        let mss = f64::from(config.mss);
        NetbenchSender {
            statistics: Statistics::default(),
            flow,
            bytes,
            established: false,
            acknowledged: 0,
            next: 0,
            highest: 0,
            selectively: Ranges::default(),
            congestion_window: f64::from(config.initial_window) * mss,
            slow_start_threshold: FIRST_THRESHOLD * mss,
            repeated: None,
            recovers: false,
            recover: None,
            round_trip: None,
            timeout: config.initial_rto,
            expires: None,
            marks: config.ecn.then(Marks::default),
            config,
        }
    }

    fn mss(&self) -> f64 {
        self.config.mss.into()
    }

    /// Length of the segment that begins at `seq`, in bytes; 0 at the end of the flow.
    fn len(&self, seq: u64) -> u64 {
        u64::from(self.config.mss).min(self.bytes - seq)
    }

    fn is_selectively_acknowledged(&self, seq: u64) -> bool {
        let len = self.len(seq);
        len > 0 && self.selectively.covering((seq, seq + len)).is_some()
    }

    fn flight(&self) -> u64 {
        self.next - self.acknowledged
    }

    fn restart_timer(&mut self, now: Nanos) {
        let waits = !self.established || self.acknowledged < self.next;
        self.expires = waits.then(|| now + self.timeout);
    }

    fn control(&self, now: Nanos, kind: Kind) -> Segment {
        Segment {
            flow: self.flow,
            kind,
            remaining: self.bytes - self.acknowledged,
            sent_at: now,
            ..Segment::default()
        }
    }

    fn synchronize(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.restart_timer(now);
        out.push(self.control(now, Kind::Syn));
    }

    fn send(&mut self, now: Nanos, seq: u64, out: &mut Vec<Segment>) {
        let len = self.len(seq);
        self.statistics.sent += 1;
        self.statistics.retransmitted += u64::from(seq < self.highest);
        if seq == self.next {
            self.next += len;
        }
        self.highest = self.highest.max(self.next);
        self.restart_timer(now);
        out.push(Segment {
            seq,
            len: len as u32,
            ecn: if self.config.ecn { Ecn::Ect } else { Ecn::NotEct },
            ..self.control(now, Kind::Data)
        });
    }

    /// Sends while a whole segment fits into the window. A selectively acknowledged segment is skipped, but it uses up
    /// room.
    fn fill_window(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        let window = (self.congestion_window as u64).min(self.config.window);
        let end = self.acknowledged + window;
        let mut room = end.saturating_sub(self.next);
        loop {
            let len = self.len(self.next);
            if len == 0 || len > room {
                return;
            }
            room -= len;
            if self.is_selectively_acknowledged(self.next) {
                self.next += len;
            } else {
                self.send(now, self.next, out);
            }
        }
    }

    fn sample(&mut self, round_trip: f64) {
        let (smoothed, variation) = match self.round_trip {
            None => (round_trip, round_trip / 2.0),
            Some((smoothed, variation)) => (
                0.875 * smoothed + 0.125 * round_trip,
                0.75 * variation + 0.25 * (smoothed - round_trip).abs(),
            ),
        };
        self.round_trip = Some((smoothed, variation));
        let timeout = (smoothed + 4.0 * variation) as Nanos;
        self.timeout = timeout.max(self.config.min_rto);
    }

    /// Grows the window for one new acknowledgement, however many bytes it acknowledges.
    fn open(&mut self) {
        let mss = self.mss();
        self.congestion_window += if self.congestion_window < self.slow_start_threshold {
            mss
        } else {
            mss * mss / self.congestion_window
        };
        self.congestion_window = self.congestion_window.min(self.config.window as f64);
    }

    fn resend(&mut self, now: Nanos, seq: u64, out: &mut Vec<Segment>) {
        // After a timeout, `next` may be below `seq`.
        self.next = self.next.max(seq);
        self.send(now, seq, out);
    }

    fn new_acknowledgement(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        let (mss, ack) = (self.mss(), segment.ack);
        let is_marked = self.config.ecn && segment.ece;
        if !self.recovers {
            if !is_marked {
                self.open();
            }
        } else if self.recover.is_some_and(|recover| ack < recover) {
            let newly = (ack - self.acknowledged) as f64;
            self.congestion_window = (self.congestion_window - newly + mss).max(mss);
            self.resend(now, ack, out);
        } else {
            self.congestion_window = self.slow_start_threshold.min(self.flight() as f64 + mss);
            self.recovers = false;
            if !is_marked {
                self.open();
            }
        }
    }

    /// Processes the marks of DCTCP. Once per window, alpha = (1 - g) alpha + g times the share of marked bytes. A
    /// marked acknowledgement reduces the window by alpha / 2.
    fn heed_marks(&mut self, segment: &Segment) {
        let mss = self.mss();
        let Some(marks) = &mut self.marks else {
            return;
        };
        let newly = segment.ack.saturating_sub(self.acknowledged);
        marks.acknowledged += newly;
        marks.marked += if segment.ece { newly } else { 0 };
        if segment.ack >= marks.end {
            let share = match marks.acknowledged {
                0 => None,
                acknowledged => Some(marks.marked as f64 / acknowledged as f64),
            };
            marks.alpha = share.map_or(0.0, |share| (1.0 - GAIN) * marks.alpha + GAIN * share);
            let end = segment.ack + self.congestion_window as u64;
            (marks.acknowledged, marks.marked, marks.end) = (0, 0, end);
        }
        if segment.ece {
            self.congestion_window = ((1.0 - marks.alpha / 2.0) * self.congestion_window).max(mss);
            self.slow_start_threshold = self.congestion_window.max(LEAST_THRESHOLD * mss);
        }
    }

    fn duplicate(&mut self, now: Nanos, ack: u64, count: u32, out: &mut Vec<Segment>) {
        let mss = self.mss();
        // Sequence numbers count the SYN, so `ack` must pass the end of the last recovery by more than one byte.
        let is_past = self.recover.is_none_or(|recover| ack > recover + 1);
        if count == 3 && !self.recovers && is_past {
            self.slow_start_threshold = ((self.flight() / 2) as f64).max(LEAST_THRESHOLD * mss);
            self.congestion_window = self.slow_start_threshold + 3.0 * mss;
            self.recover = Some(self.highest);
            self.recovers = true;
            self.resend(now, ack, out);
        } else if self.recovers {
            self.congestion_window += mss;
        } else if count <= 2 {
            while self.is_selectively_acknowledged(self.next) {
                self.next += self.len(self.next);
            }
            if self.len(self.next) > 0 {
                self.send(now, self.next, out);
            }
        }
    }

    fn receive_ack(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        self.sample((now - segment.echo) as f64);
        if self.finished() {
            return;
        }
        for &(start, end) in segment.sack.iter().filter(|block| block.1 > self.acknowledged) {
            self.selectively.insert((start, end));
        }
        let ack = segment.ack;
        let mut is_new = false;
        match &mut self.repeated {
            Some((last, count)) if *last == ack => {
                *count += 1;
                let count = *count;
                self.duplicate(now, ack, count, out);
            }
            _ if ack > self.acknowledged => {
                self.repeated = Some((ack, 0));
                is_new = true;
                self.new_acknowledgement(now, segment, out);
            }
            _ => {}
        }
        self.heed_marks(segment);
        self.acknowledged = self.acknowledged.max(ack);
        while let Some(range) = self.selectively.take_from(self.acknowledged) {
            self.acknowledged = self.acknowledged.max(range.1);
        }
        self.next = self.next.max(self.acknowledged);
        self.fill_window(now, out);
        if self.finished() {
            self.expires = None;
        } else if is_new && !self.recovers {
            self.restart_timer(now);
        }
    }
}

impl Endpoint for NetbenchSender {
    fn start(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.synchronize(now, out);
    }

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::SynAck => {
                out.push(self.control(now, Kind::Confirm));
                if !self.established {
                    self.established = true;
                    self.restart_timer(now);
                    self.fill_window(now, out);
                }
            }
            Kind::Ack if self.established => self.receive_ack(now, segment, out),
            _ => {}
        }
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.expires.is_none_or(|expires| now < expires) {
            return;
        }
        self.expires = None;
        self.statistics.timeouts += 1;
        self.recovers = false;
        self.slow_start_threshold = (self.flight() as f64 / 2.0).max(LEAST_THRESHOLD * self.mss());
        self.congestion_window = self.mss();
        self.round_trip = None;
        self.timeout = self.timeout.saturating_mul(2).min(self.config.max_rto);
        if self.established {
            self.next = self.acknowledged;
            self.fill_window(now, out);
        } else {
            self.synchronize(now, out);
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Nanos> {
        self.expires
    }

    #[inline]
    fn finished(&self) -> bool {
        self.acknowledged == self.bytes
    }
}

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub(crate) struct NetbenchReceiver {
    config: Arc<Config>,
    flow: u32,
    bytes: u64,
    /// Whether the third segment of the handshake has arrived.
    established: bool,
    /// The next expected byte: RCV.NXT.
    next: u64,
    beyond: Ranges,
    received: u64,
    timeout: Nanos,
    /// Time at which the answer to the SYN is repeated.
    expires: Option<Nanos>,
}

impl NetbenchReceiver {
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        NetbenchReceiver {
            flow,
            bytes,
            established: false,
            next: 0,
            beyond: Ranges::default(),
            received: 0,
            timeout: config.initial_rto,
            expires: None,
            config,
        }
    }

    /// Number of different bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Number of bytes that the application has received in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.next
    }

    fn answer(&self, now: Nanos, kind: Kind, echo: Nanos) -> Segment {
        Segment {
            flow: self.flow,
            kind,
            ack: self.next,
            window: self.config.window,
            sent_at: now,
            echo,
            ..Segment::default()
        }
    }

    fn synchronize(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.expires = Some(now + self.timeout);
        out.push(self.answer(now, Kind::SynAck, 0));
    }

    /// Takes the bytes of a segment. Returns the range beyond a hole that contains them, if any.
    fn take(&mut self, (start, end): Bytes) -> Option<Bytes> {
        if end <= self.next || self.beyond.covering((start, end)).is_some() {
            return None;
        }
        self.received += end - start;
        let range = self.beyond.insert((start, end));
        if let Some(range) = self.beyond.take_from(self.next) {
            self.next = range.1;
            return None;
        }
        Some(range)
    }

    /// Three ranges beyond a hole, the newest first. Netbench sends all ranges; here the sender remembers earlier ones.
    fn blocks(&self, newest: Option<Bytes>) -> [Bytes; 3] {
        let others = self.beyond.iter().filter(|&range| Some(range) != newest);
        let mut blocks = [(0, 0); 3];
        for (block, range) in blocks.iter_mut().zip(newest.into_iter().chain(others)) {
            *block = range;
        }
        blocks
    }
}

impl Endpoint for NetbenchReceiver {
    fn start(&mut self, _now: Nanos, _out: &mut Vec<Segment>) {}

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::Syn if !self.established && self.expires.is_none() => self.synchronize(now, out),
            Kind::Confirm => (self.established, self.expires) = (true, None),
            Kind::Data if self.established => {
                let newest = self.take((segment.seq, segment.seq + u64::from(segment.len)));
                out.push(Segment {
                    sack: self.blocks(newest),
                    ece: segment.ecn == Ecn::Ce,
                    ..self.answer(now, Kind::Ack, segment.sent_at)
                });
            }
            _ => {}
        }
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if self.expires.is_some_and(|expires| now >= expires) {
            self.timeout = self.timeout.saturating_mul(2).min(self.config.max_rto);
            self.synchronize(now, out);
        }
    }

    #[inline]
    fn next_timer(&self) -> Option<Nanos> {
        self.expires
    }

    #[inline]
    fn finished(&self) -> bool {
        self.received == self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Control;

    const MSS: u64 = 1380;

    fn ends(bytes: u64) -> (NetbenchSender, NetbenchReceiver) {
        let config = Arc::new(Config {
            mss: MSS as u32,
            initial_window: 30,
            window: 65_535,
            initial_rto: 96_384,
            min_rto: 1,
            ..Config::kernel(Control::Netbench)
        });
        (
            NetbenchSender::new(0, bytes, config.clone()),
            NetbenchReceiver::new(0, bytes, config),
        )
    }

    /// Segments that the end sends after receiving these.
    fn answers(to: &mut impl Endpoint, now: Nanos, segments: &[Segment]) -> Vec<Segment> {
        let mut out = Vec::new();
        for segment in segments {
            to.receive(now, segment, &mut out);
        }
        out
    }

    /// The sender's first segments, after a handshake of 1000 ns.
    fn connected(sender: &mut NetbenchSender, receiver: &mut NetbenchReceiver) -> Vec<Segment> {
        let mut syn = Vec::new();
        sender.start(0, &mut syn);
        let syn_ack = answers(receiver, 500, &syn);
        let mut sent = answers(sender, 1000, &syn_ack);
        assert_eq!(sent[0].kind, Kind::Confirm);
        answers(receiver, 1500, &sent[..1]);
        sent.split_off(1)
    }

    fn numbers(segments: &[Segment]) -> Vec<u64> {
        segments.iter().map(|segment| segment.seq / MSS).collect()
    }

    #[test]
    fn the_first_burst_is_the_whole_first_window() {
        let (mut sender, mut receiver) = ends(1_000_000);
        let sent = connected(&mut sender, &mut receiver);
        assert_eq!(numbers(&sent), (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn a_flow_of_one_byte_takes_two_round_trips() {
        let (mut sender, mut receiver) = ends(1);
        let sent = connected(&mut sender, &mut receiver);
        assert_eq!(sent.len(), 1);
        assert!(!sender.finished());
        let acks = answers(&mut receiver, 1500, &sent);
        assert!(receiver.finished());
        assert!(answers(&mut sender, 2000, &acks).is_empty());
        assert!(sender.finished());
        assert_eq!(sender.next_timer(), None);
    }

    #[test]
    fn a_first_burst_in_reverse_order_is_no_loss() {
        let (mut sender, mut receiver) = ends(30 * MSS);
        let mut sent = connected(&mut sender, &mut receiver);
        sent.reverse();
        let acks = answers(&mut receiver, 1500, &sent);
        assert!(acks[..29].iter().all(|ack| ack.ack == 0));
        assert!(answers(&mut sender, 2000, &acks).is_empty());
        assert!(sender.finished());
    }

    #[test]
    fn the_third_duplicate_sends_again_and_a_partial_acknowledgement_too() {
        let (mut sender, mut receiver) = ends(1_000_000);
        let sent = connected(&mut sender, &mut receiver);
        let arrived: Vec<_> = sent
            .iter()
            .copied()
            .filter(|segment| ![1, 5].contains(&(segment.seq / MSS)))
            .collect();
        let acks = answers(&mut receiver, 1500, &arrived);
        // One new acknowledgement: the window moves by one segment.
        assert_eq!(numbers(&answers(&mut sender, 2000, &acks[..1])), [30]);
        // Limited transmit twice, then the lost segment.
        assert_eq!(numbers(&answers(&mut sender, 2000, &acks[1..4])), [31, 32, 1]);
        let window = sender.congestion_window;
        // 32 segments are in flight: half of them, and one for each duplicate.
        assert_eq!(window, 19.0 * MSS as f64);
        let rest = answers(&mut sender, 2000, &acks[4..]);
        assert!(numbers(&rest).iter().all(|&number| number > 32), "{rest:?}");
        let [partial] = answers(&mut receiver, 2500, &[sent[1]])[..] else {
            panic!("each segment has one answer");
        };
        assert_eq!(partial.ack, 5 * MSS);
        assert_eq!(numbers(&answers(&mut sender, 3000, &[partial]))[0], 5);
    }

    #[test]
    fn a_timeout_doubles_and_sends_all_again_but_what_was_acknowledged_selectively() {
        let (mut sender, mut receiver) = ends(5 * MSS);
        let sent = connected(&mut sender, &mut receiver);
        let acks = answers(&mut receiver, 1500, &sent[1..2]);
        answers(&mut sender, 2000, &acks);
        // One sample of 1000 ns: 1000 + 4 * 500. The last segment had set the timer before the sample.
        assert_eq!(sender.timeout, 3000);
        let expires = sender.next_timer().unwrap();
        assert_eq!(expires, 1000 + 96_384);
        let mut again = Vec::new();
        sender.timer(expires - 1, &mut again);
        assert!(again.is_empty());
        sender.timer(expires, &mut again);
        assert_eq!(numbers(&again), [0]);
        assert_eq!(sender.next_timer(), Some(expires + 6000));
        let acks = answers(&mut receiver, expires + 500, &again);
        assert_eq!(acks[0].ack, 2 * MSS);
        assert_eq!(numbers(&answers(&mut sender, expires + 1000, &acks)), [2, 3]);
        assert_eq!(sender.timeout, 3000);
        assert_eq!(sender.statistics.timeouts, 1);
    }

    #[test]
    fn marks_reduce_the_window_by_their_share() {
        let config = |ecn| {
            Arc::new(Config {
                mss: MSS as u32,
                initial_window: 3,
                window: 65_535,
                ecn,
                ..Config::kernel(Control::Netbench)
            })
        };
        let ends = |ecn| {
            (
                NetbenchSender::new(0, 1_000_000, config(ecn)),
                NetbenchReceiver::new(0, 1_000_000, config(ecn)),
            )
        };
        let mark = |segments: &mut [Segment]| segments.iter_mut().for_each(|segment| segment.ecn = Ecn::Ce);

        let (mut sender, mut receiver) = ends(true);
        let mut sent = connected(&mut sender, &mut receiver);
        assert!(sent.iter().all(|segment| segment.ecn == Ecn::Ect));
        mark(&mut sent);
        let acks = answers(&mut receiver, 1500, &sent);
        assert!(acks.iter().all(|ack| ack.ece));
        answers(&mut sender, 2000, &acks[..1]);
        // All bytes so far were marked: alpha = 1/16, and slow start has ended.
        let window = 3.0 * MSS as f64 * (1.0 - 1.0 / 32.0);
        assert_eq!(sender.congestion_window, window);
        assert_eq!(sender.slow_start_threshold, window);

        let (mut sender, mut receiver) = ends(false);
        let mut sent = connected(&mut sender, &mut receiver);
        assert!(sent.iter().all(|segment| segment.ecn == Ecn::NotEct));
        mark(&mut sent);
        let acks = answers(&mut receiver, 1500, &sent);
        answers(&mut sender, 2000, &acks[..1]);
        assert_eq!(
            sender.congestion_window,
            4.0 * MSS as f64,
            "marks have no effect without ecn"
        );
    }

    #[test]
    fn data_before_the_end_of_the_handshake_are_not_known() {
        let (mut sender, mut receiver) = ends(MSS);
        let mut syn = Vec::new();
        sender.start(0, &mut syn);
        let syn_ack = answers(&mut receiver, 500, &syn);
        let sent = answers(&mut sender, 1000, &syn_ack);
        assert!(answers(&mut receiver, 1500, &sent[1..]).is_empty());
        // The answer to the SYN comes again, and so does the third segment.
        let mut again = Vec::new();
        receiver.timer(500 + 96_384, &mut again);
        let confirm = answers(&mut sender, 97_000, &again);
        assert_eq!(confirm.len(), 1);
        answers(&mut receiver, 97_500, &confirm);
        assert_eq!(answers(&mut receiver, 98_000, &sent[1..])[0].ack, MSS);
    }
}
