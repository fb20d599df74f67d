//! The receiver of TCP: what has arrived, and when to say so.

use crate::config::{Config, Control, Recovery};
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
    /// The next byte that is expected (RCV.NXT), and the last one that was acknowledged.
    next: u64,
    acknowledged: u64,
    /// Ranges that arrived beyond `next`, and their parts that came last, the newest first (RFC 2018 Section 4).
    beyond: Ranges,
    newest: [Bytes; 3],
    /// The last segment, if all of it had been there (RFC 2883).
    duplicate: Option<Bytes>,
    /// Bytes that came for the first time.
    received: u64,
    /// RFC 7323 Section 4.3: TS.Recent.
    echo: Nanos,
    /// Acknowledgements that are not delayed, still.
    quick: u32,
    acknowledge_at: Option<Nanos>,
    /// The next acknowledgement echoes a mark.
    ece: bool,
}

/// A SYN-ACK that may be lost.
#[derive(Clone, Copy, Debug)]
struct SynAck {
    echo: Nanos,
    again_at: Nanos,
    backoff: u32,
}

impl TcpReceiver {
    /// The receiver of a flow of `bytes` bytes.
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
        }
    }

    /// Says how many bytes the flow has.
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Bytes that have arrived, each counted once.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that the application has: all before this one.
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
        let is_dctcp = self.config.control == Control::Dctcp;
        out.push(Segment {
            flow: self.flow,
            kind: Kind::Ack,
            ack: self.next,
            sack: self.blocks(),
            window: self.config.window,
            // DCTCP says of every packet that it is capable, also of this one (Linux, tcp_ecn_send).
            ecn: if is_dctcp { Ecn::Ect } else { Ecn::NotEct },
            ece: self.ece,
            sent_at: now,
            echo: self.echo,
            ..Segment::default()
        });
    }

    /// The SACK option (RFC 2018 Section 4), with a duplicate before all others (RFC 2883 Section 4).
    fn blocks(&mut self) -> [Bytes; 3] {
        let duplicate = self.duplicate.take();
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

    /// Notes the marks of a segment. Returns whether the sender has to know at once.
    fn see_marks(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) -> bool {
        let marked = segment.ecn == Ecn::Ce;
        if self.config.control != Control::Dctcp {
            // RFC 3168 Section 6.1.3: it echoes the mark until the sender says that it has reduced its window.
            self.ece = marked || (self.ece && !segment.cwr);
            return marked;
        }
        // RFC 8257 Section 3.2: an acknowledgement speaks of marked segments only, or of unmarked ones only.
        let changes = marked != self.ece;
        if changes && self.acknowledge_at.is_some() {
            self.acknowledge(now, out);
        }
        self.ece = marked;
        changes
    }

    fn receive_data(&mut self, now: Nanos, segment: &Segment, out: &mut Vec<Segment>) {
        self.unconfirmed = None;
        let marks_changed = self.see_marks(now, segment, out);
        if segment.seq <= self.acknowledged && segment.sent_at >= self.echo {
            self.echo = segment.sent_at;
        }
        let had_holes = !self.beyond.is_empty();
        let is_new = self.take((segment.seq, segment.seq + u64::from(segment.len)));
        // RFC 5681 Section 4.2: at once for what is out of order, fills a hole or came before, and for every second full segment.
        // The last segment of a flow carries PSH; its acknowledgement is not delayed either.
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
