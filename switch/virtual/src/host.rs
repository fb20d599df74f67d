//! An end host as the network sees it.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::{HostCounters, HostKind, RunState};
use thiserror::Error;

use crate::run::Run;

/// A host of one network interface. It has no clock: each call says what time it is, and times never go back.
///
/// Frames are whole Ethernet frames without FCS.
pub trait Host: Send {
    /// Kind of the host.
    fn kind(&self) -> HostKind;
    /// A frame has arrived.
    fn receive(&mut self, now: Nanos, frame: &[u8], out: &mut Outbox);
    /// Time at which it wants to be woken; `None`: never. Every other call may change it.
    fn next_event(&self) -> Option<Nanos>;
    /// The time of [`Host::next_event`] has come. A call that comes too early does nothing.
    ///
    /// # Errors
    /// If the host fails: the run of the network ends.
    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError>;

    /// Checks that a run can be planned here.
    ///
    /// # Errors
    /// Why not, in a sentence.
    fn check(&self, run: &Run) -> Result<(), String>;
    /// Plans a run that was checked. It starts by itself at its time, which may be `now`.
    fn plan(&mut self, now: Nanos, run: Run);
    /// Ends a run, as SIGTERM ends a program; one that has ended stays unchanged.
    fn stop(&mut self, now: Nanos, name: &str, out: &mut Outbox);
    /// State of a run; `None` if none has this name.
    fn state(&self, name: &str) -> Option<RunState>;
    /// The log of a run; empty if it has none.
    fn log(&self, name: &str) -> Vec<u8>;
    /// Connections with this address will have DCTCP, which both ends must know before they connect.
    fn expect_dctcp(&mut self, _now: Nanos, _with: Ipv4Addr) {}
    /// Changes how the connections behave that are opened from now on.
    fn set_tcp(&mut self, settings: TcpSettings);
    /// Counters of its network stack.
    ///
    /// # Errors
    /// If the host cannot tell: the run of the network ends.
    fn counters(&mut self, now: Nanos) -> Result<HostCounters, HostError>;
}

/// Failure of a host; the message has its name and the reason.
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

/// The memory of the frames that are on their way, by number; and those that a host sends now, one behind the other.
#[derive(Debug, Default)]
pub struct Outbox {
    frames: Vec<Vec<u8>>,
    /// Numbers to use again. Their buffers stay.
    free: Vec<u32>,
    sent: VecDeque<u32>,
}

impl Outbox {
    /// Sends a frame that `write` appends to an empty buffer.
    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let number = self.insert(write);
        self.sent.push_back(number);
    }

    /// Takes in a frame that `write` appends to an empty buffer, and gives it a number.
    pub fn insert(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.frames.push(Vec::new());
            self.frames.len() as u32 - 1
        });
        let frame = &mut self.frames[number as usize];
        frame.clear();
        write(frame);
        number
    }

    /// The next frame to be sent.
    pub fn next_sent(&mut self) -> Option<u32> {
        self.sent.pop_front()
    }

    /// A frame.
    pub fn frame(&self, number: u32) -> &[u8] {
        &self.frames[number as usize]
    }

    /// Takes out a frame that has arrived.
    pub fn take(&mut self, number: u32) -> Vec<u8> {
        std::mem::take(&mut self.frames[number as usize])
    }

    /// Takes back the buffer of such a frame, so that none is allocated for the next one.
    pub fn give_back(&mut self, number: u32, frame: Vec<u8>) {
        self.frames[number as usize] = frame;
        self.free.push(number);
    }
}
