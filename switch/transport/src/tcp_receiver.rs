//! The receiver of TCP: it records which bytes have arrived, and decides when to acknowledge them.

use crate::config::{Config, Recovery};
use crate::endpoint::Endpoint;
use crate::ranges::Ranges;
use crate::segment::{Bytes, Ecn, Kind, Segment};
use crate::tcp::runs_out;
use p4sched_schedulers::Nanos;
use std::sync::Arc;

/// The receiver of one flow.
#[derive(Clone, Debug)]
pub(crate) struct TcpReceiver {
    config: Arc<Config>,
    flow: u32,
    bytes: u64,
    /// The answer to a SYN that is not confirmed yet.
    unconfirmed: Option<SynAck>,
    /// The next expected byte (RCV.NXT), and the last acknowledgement that was sent.
    next: u64,
    acknowledged: u64,
    /// Ranges that arrived beyond `next`, and the parts of them that came last, the newest first (RFC 2018 Section 4).
    beyond: Ranges,
    newest: [Bytes; 3],
    /// The bytes of the last segment, if all of them had arrived before (RFC 2883).
    duplicate: Option<Bytes>,
    /// Number of different bytes that have arrived.
    received: u64,
    /// RFC 7323 Section 4.3: TS.Recent.
    echo: Nanos,
    /// Number of acknowledgements that are still sent without delay.
    quick: u32,
    acknowledge_at: Option<Nanos>,
    /// Whether the next acknowledgement echoes a mark.
    ece: bool,
    /// Go-back-N: whether the next expected segment was asked for.
    asked: bool,
}

/// A SYN-ACK that may get lost.
#[derive(Clone, Copy, Debug)]
struct SynAck {
    echo: Nanos,
    again_at: Nanos,
    backoff: u32,
}

impl TcpReceiver {
    pub(crate) fn new(flow: u32, bytes: u64, config: Arc<Config>) -> Self {
        TcpReceiver {
            quick: config.quick_acks,
            config,
            flow,
            bytes,
            unconfirmed: None,
            next: 0,
            acknowledged: 0,
            beyond: Ranges::default(),
            newest: Default::default(),
            duplicate: None,
            received: 0,
            echo: 0,
            acknowledge_at: None,
            ece: false,
            asked: false,
        }
    }

    /// Sets the number of bytes of the flow.
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Number of different bytes that have arrived.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Number of bytes that the application has received in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.next
    }

    fn answer_syn(&mut self, now: Nanos, echo: Nanos, backoff: u32, out: &mut Vec<Segment>) {
        let wait = self
            .config
            .initial_rto
            .saturating_mul(1 << backoff.min(30))
            .min(self.config.max_rto);
        self.unconfirmed = Some(SynAck {
            echo,
            again_at: now + wait,
            backoff,
        });
        out.push(Segment {
            flow: self.flow,
            kind: Kind::SynAck,
            window: self.config.window,
            sent_at: now,
            echo,
            ..Segment::default()
        });
    }

    fn acknowledge(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        self.quick = self.quick.saturating_sub(1);
        (self.acknowledged, self.acknowledge_at) = (self.next, None);
        let control = self.config.control;
        out.push(Segment {
            flow: self.flow,
            kind: Kind::Ack,
            ack: self.next,
            sack: self.blocks(),
            window: self.config.window,
            // DCTCP and Prague mark every packet as ECN-capable, also this one (Linux, tcp_ecn_send).
            ecn: if control.is_scalable() {
                control.capable()
            } else {
                Ecn::NotEct
            },
            ece: self.ece,
            sent_at: now,
            echo: self.echo,
            ..Segment::default()
        });
    }

    /// The SACK option (RFC 2018 Section 4), with a duplicate before all others (RFC 2883 Section 4).
    fn blocks(&mut self) -> [Bytes; 3] {
        let duplicate = self.duplicate.take();
        if self.config.recovery == Recovery::GoBackN {
            // the block names the segment that was discarded
            let discarded = duplicate.filter(|block| block.0 > self.next);
            return [discarded.unwrap_or_default(), (0, 0), (0, 0)];
        }
        if matches!(self.config.recovery, Recovery::NewReno) {
            return Default::default();
        }
        let mut blocks = self.newest;
        if let Some(duplicate) = duplicate {
            blocks.rotate_right(1);
            blocks[0] = duplicate;
        }
        blocks
    }

    /// Takes the bytes of a segment. Returns whether any of them are new.
    fn take(&mut self, (start, end): Bytes) -> bool {
        let new: u64 = self
            .beyond
            .holes((start.max(self.next), end.max(self.next)))
            .map(|hole| hole.1 - hole.0)
            .sum();
        if new == 0 {
            self.duplicate = Some((start, end));
            return false;
        }
        self.received += new;
        let whole = self.beyond.insert((start, end));
        if whole.0 <= self.next {
            self.next = whole.1;
            self.beyond.remove_before(self.next);
        }
        let (next, mut kept) = (self.next, [(0, 0); 4]);
        let others = self
            .newest
            .into_iter()
            .filter(|block| block.0 < whole.0 || whole.1 < block.1);
        let blocks = [whole].into_iter().chain(others).filter(|block| block.1 > next);
        kept.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        self.newest.copy_from_slice(&kept[..3]);
        true
    }

    /// Records the mark of a segment. Returns whether the sender must be told at once.
    fn see_marks(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) -> bool {
        let marked = segment.ecn == Ecn::Ce;
        if !self.config.control.is_scalable() {
            // RFC 3168 Section 6.1.3: echo the mark until the sender says that it has reduced its window.
            self.ece = marked || (self.ece && !segment.cwr);
            return marked;
        }
        // RFC 8257 Section 3.2, also in place of Prague's accurate feedback (RFC 9768): an acknowledgement covers either marked or unmarked segments, never both.
        let changes = marked != self.ece;
        if changes && self.acknowledge_at.is_some() {
            self.acknowledge(now, out);
        }
        self.ece = marked;
        changes
    }

    /// Go-back-N: discards a segment that is not the next one. The first one since the last in order asks for that.
    fn discards(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) -> bool {
        let ahead = segment.seq > self.next;
        if ahead && !self.asked {
            self.duplicate = Some((segment.seq, segment.seq + u64::from(segment.len)));
            self.acknowledge(now, out);
        }
        // a segment that had arrived before changes nothing
        self.asked = if segment.seq == self.next {
            false
        } else {
            self.asked || ahead
        };
        ahead
    }

    fn receive_data(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        self.unconfirmed = None;
        let marks_changed = self.see_marks(now, segment, out);
        let is_quic = self.config.recovery == Recovery::Quic;
        if is_quic || (segment.seq <= self.acknowledged && segment.sent_at >= self.echo) {
            self.echo = segment.sent_at;
        }
        if self.config.recovery == Recovery::GoBackN && self.discards(now, segment, out) {
            return;
        }
        let had_holes = !self.beyond.is_empty();
        let is_new = self.take((segment.seq, segment.seq + u64::from(segment.len)));
        // RFC 5681 Section 4.2: acknowledge at once if the segment is out of order, fills a hole or came before, and
        // for every second full segment. The last segment of a flow carries PSH, so its acknowledgement is not delayed
        // either.
        let at_once = !is_new
            || had_holes
            || !self.beyond.is_empty()
            || self.next - self.acknowledged > self.config.mss.into()
            || self.next == self.bytes
            || self.quick > 0
            || marks_changed;
        match self.config.delayed_ack {
            Some(delay) if !at_once => {
                let due = runs_out(now, delay, self.config.tick);
                self.acknowledge_at = self.acknowledge_at.or(Some(due));
            }
            _ => self.acknowledge(now, out),
        }
    }
}

impl Endpoint for TcpReceiver {
    fn start(&mut self, _now: Nanos, _out: &mut Vec<Segment>) {}

    fn receive(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        match segment.kind {
            Kind::Syn if self.received == 0 => {
                let backoff = self.unconfirmed.map_or(0, |syn_ack| syn_ack.backoff);
                self.answer_syn(now, segment.sent_at, backoff, out);
            }
            Kind::Confirm => self.unconfirmed = None,
            Kind::Data => self.receive_data(now, segment, out),
            Kind::Syn | Kind::SynAck | Kind::Ack => {}
        }
    }

    fn timer(&mut self, now: Nanos, out: &mut Vec<Segment>) {
        if let Some(syn_ack) = self.unconfirmed.filter(|syn_ack| syn_ack.again_at <= now) {
            self.answer_syn(now, syn_ack.echo, syn_ack.backoff + 1, out);
        }
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(now, out);
        }
    }

    fn next_timer(&self) -> Option<Nanos> {
        let again_at = self.unconfirmed.map(|syn_ack| syn_ack.again_at);
        [again_at, self.acknowledge_at].into_iter().flatten().min()
    }

    fn finished(&self) -> bool {
        self.next == self.bytes
    }
}
