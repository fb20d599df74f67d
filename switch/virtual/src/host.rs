//! An end host, as the network sees it.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1::{HostCounters, HostKind, RunState};
use thiserror::Error;

use crate::run::Run;

/// A host with one network interface. It has no clock: each call passes the time, and times never go back.
///
/// Frames are whole Ethernet frames without FCS.
pub trait Host: Send {
    fn kind(&self) -> HostKind;
    /// Takes a frame that has arrived.
    fn receive(&mut self, now: Nanos, frame: &[u8], out: &mut Outbox);
    /// Time at which it wants to be woken; `None`: never. Every other call may change it.
    fn next_event(&self) -> Option<Nanos>;
    /// Does the work that is due at [`Host::next_event`]. A call that is too early does nothing.
    ///
    /// # Errors
    /// If the host fails. Then the run of the network ends.
    fn advance(&mut self, now: Nanos, out: &mut Outbox) -> Result<(), HostError>;

    /// Checks whether the host can plan a run.
    ///
    /// # Errors
    /// Says in a sentence why it cannot.
    fn check(&self, run: &Run) -> Result<(), String>;
    /// Plans a checked run. It starts by itself at its time, which may be `now`.
    fn plan(&mut self, now: Nanos, run: Run);
    /// Ends a run, as SIGTERM ends a program. A run that has ended does not change.
    fn stop(&mut self, now: Nanos, name: &str, out: &mut Outbox);
    /// The state of a run; `None` if no run has this name.
    fn state(&self, name: &str) -> Option<RunState>;
    /// The log of a run; empty if it has none.
    fn log(&self, name: &str) -> Vec<u8>;
    /// Announces that connections with this address will use DCTCP. Both ends must know this before they connect.
    fn expect_dctcp(&mut self, _now: Nanos, _with: Ipv4Addr) {}
    /// Changes the behaviour of connections that are opened from now on.
    fn set_tcp(&mut self, settings: TcpSettings);
    /// Counters of the host's network stack.
    ///
    /// # Errors
    /// If the host cannot read them. Then the run of the network ends.
    fn counters(&mut self, now: Nanos) -> Result<HostCounters, HostError>;
}

/// The failure of a host. The message has its name and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct HostError(pub String);

/// Options of a host's routes. `None` leaves an option unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSettings {
    /// Smallest difference between retransmission timeout and round-trip time (ip-route(8), `rto_min`), in ns.
    pub rto_min: Option<Nanos>,
    /// Number of segments before the first acknowledgement (ip-route(8), `initcwnd`).
    pub initial_window: Option<u32>,
}

/// The memory of all frames in the network, by number, and the list of the frames that a host sends at the moment.
#[derive(Debug, Default)]
pub struct Outbox {
    frames: Vec<Vec<u8>>,
    /// Numbers that can be used again. Their buffers stay.
    free: Vec<u32>,
    sent: VecDeque<u32>,
}

impl Outbox {
    /// Sends a frame. `write` appends it to an empty buffer.
    pub fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let number = self.insert(write);
        self.sent.push_back(number);
    }

    /// Stores a frame and returns its number. `write` appends it to an empty buffer.
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

    /// Removes the next frame from the list of frames to send.
    pub fn next_sent(&mut self) -> Option<u32> {
        self.sent.pop_front()
    }

    pub fn frame(&self, number: u32) -> &[u8] {
        &self.frames[number as usize]
    }

    pub fn frame_mut(&mut self, number: u32) -> &mut [u8] {
        &mut self.frames[number as usize]
    }

    /// Takes a frame that has arrived.
    pub fn take(&mut self, number: u32) -> Vec<u8> {
        std::mem::take(&mut self.frames[number as usize])
    }

    /// Takes back the buffer of a taken frame, so that the next frame needs no new one.
    pub fn give_back(&mut self, number: u32, frame: Vec<u8>) {
        self.frames[number as usize] = frame;
        self.free.push(number);
    }
}
