//! Transmission through an interface's queueing discipline.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use p4sched_dataplane::Frame;

use super::socket::{SEND_BATCH, TxSocket};

/// A port whose frames go through the queueing discipline of its interface, and so no faster than that lets them.
///
/// The socket holds few frames. What it does not take waits here, and meanwhile the port is held: packets wait in the
/// switch's queues, as they do in BMv2, whose transmitter blocks.
pub struct QueuedPort {
    socket: TxSocket,
    waiting: VecDeque<Frame>,
    /// Buffers of frames that left.
    spare: Vec<Frame>,
    /// Whether the engine was told to hold the port.
    held: bool,
}

impl QueuedPort {
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn open(interface: i32) -> io::Result<QueuedPort> {
        Ok(QueuedPort {
            socket: TxSocket::through_discipline(interface)?,
            waiting: VecDeque::new(),
            spare: Vec::new(),
            held: false,
        })
    }

    /// The port has this interface from now on.
    ///
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn attach(&mut self, interface: i32) -> io::Result<()> {
        self.socket = TxSocket::through_discipline(interface)?;
        Ok(())
    }

    /// Takes a frame, and leaves one in its place that is done with; it goes with [`QueuedPort::send`].
    pub fn push(&mut self, frame: &mut Frame) {
        let spare = self.spare.pop().unwrap_or_default();
        self.waiting.push_back(std::mem::replace(frame, spare));
    }

    /// Hands the discipline what it takes. Tells `sent` every frame that left the switch, and whether the interface took
    /// it: a discipline that is full refuses a frame, and the frame is lost.
    pub fn send(&mut self, mut sent: impl FnMut(&[u8], bool)) {
        while !self.waiting.is_empty() {
            let batch = self.waiting.iter().take(SEND_BATCH);
            let taken = match self.socket.send(batch.map(|frame| &**frame)) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => 0,
            };
            // The first frame is the one that the kernel refused, if it took none.
            for frame in self.waiting.drain(..taken.max(1)) {
                sent(&frame, taken > 0);
                self.spare.push(frame);
            }
        }
    }

    /// Whether frames wait for the discipline.
    pub fn is_blocked(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the port should be held, if that is another answer than the last one.
    pub fn hold_changed(&mut self) -> Option<bool> {
        let held = self.is_blocked();
        (std::mem::replace(&mut self.held, held) != held).then_some(held)
    }

    /// The frames that wait, for a port that goes around its discipline from now on.
    pub fn into_waiting(self) -> impl Iterator<Item = Frame> {
        self.waiting.into_iter()
    }
}

impl AsFd for QueuedPort {
    /// Writable when the discipline has let half of the socket's frames go.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
