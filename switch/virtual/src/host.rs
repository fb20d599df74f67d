//! An end host as the network sees it.

use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::{HostCounters, HostKind, RunState};
use thiserror::Error;

use crate::run::Run;

/// A host of one network interface. It has no clock: each call says what time it is, and times never go back.
///
/// Frames are whole Ethernet frames without FCS.
pub trait Host: Send {
    /// What it is.
    fn kind(&self) -> HostKind;
    /// A frame has arrived.
    fn receive(&mut self, now: Nanos, frame: &[u8], out: &mut Outbox);
    /// When it wants to be woken; `None`: never. Every other call may change it.
    fn next_event(&self) -> Option<Nanos>;
    /// The time of [`Host::next_event`] has come. A call that comes too early does nothing.
    ///
    /// # Errors
    /// If the host cannot go on: the run of the network ends.
    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError>;

    /// Whether a run could be planned here.
    ///
    /// # Errors
    /// Why not, in a sentence.
    fn check(&self, run: &Run) -> Result<(), String>;
    /// Plans a run that was checked. It starts by itself at its time, which may be `now`.
    fn plan(&mut self, now: Nanos, run: Run);
    /// Ends a run, as SIGTERM ends a program; one that has ended stays as it is.
    fn stop(&mut self, now: Nanos, name: &str, out: &mut Outbox);
    /// What became of a run so far; `None` if none has this name.
    fn state(&self, name: &str) -> Option<RunState>;
    /// The log of a run; empty if it has none.
    fn log(&self, name: &str) -> Vec<u8>;
    /// Connections with this address will have DCTCP, which both ends must know before they connect.
    fn expect_dctcp(&mut self, _now: Nanos, _with: Ipv4Addr) {}
    /// Changes how the connections behave that are opened from now on.
    fn set_tcp(&mut self, settings: TcpSettings);
    /// What its network stack counted.
    ///
    /// # Errors
    /// If the host cannot tell: the run of the network ends.
    fn counters(&mut self, now: Nanos) -> Result<HostCounters, HostError>;
}

/// A host cannot go on; the message says which one and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct HostError(pub String);

/// Options of a host's routes; `None` changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSettings {
    /// The least that the retransmission timeout is longer than the round-trip time (ip-route(8), `rto_min`), in ns.
    pub rto_min: Option<Nanos>,
    /// Segments before the first acknowledgement (ip-route(8), `initcwnd`).
    pub initial_window: Option<u32>,
}

/// Frames that a host sends now, one behind the other.
#[derive(Debug, Default)]
pub struct Outbox {
    frames: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Sends a frame that `write` appends to an empty buffer.
    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut frame = self.buffer();
        write(&mut frame);
        self.frames.push(frame);
    }

    /// An empty buffer for a frame.
    pub fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Takes the frames out, in their order.
    pub fn drain(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.frames.drain(..)
    }

    /// Takes back the buffer of a frame that has arrived, so that none is allocated for the next one.
    pub fn give_back(&mut self, frame: Vec<u8>) {
        self.spare.push(frame);
    }
}
