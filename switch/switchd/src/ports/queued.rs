//! Transmission through an interface's queueing discipline.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::socket::{SEND_BATCH, TxSocket};

/// A port whose frames go through the queueing discipline of its interface, and so no faster than that lets them.
///
/// The socket holds few frames. What it does not take waits here, and meanwhile the port is held: packets wait in the
/// switch's queues, as they do in BMv2, whose transmitter blocks.
pub struct QueuedPort {
    socket: TxSocket,
    waiting: VecDeque<Vec<u8>>,
    /// Whether the engine was told to hold the port.
    held: bool,
}

impl QueuedPort {
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn open() -> io::Result<QueuedPort> {
        Ok(QueuedPort {
            socket: TxSocket::through_discipline()?,
            waiting: VecDeque::new(),
            held: false,
        })
    }

    /// Takes a frame; it leaves with [`QueuedPort::send`].
    pub fn push(&mut self, frame: &[u8]) {
        self.waiting.push_back(frame.to_vec());
    }

    /// Hands the discipline what it takes. Tells `sent` every frame that left the switch, and whether the interface took
    /// it: a discipline that is full refuses a frame, and the frame is lost.
    pub fn send(&mut self, interface: i32, mut sent: impl FnMut(&[u8], bool)) {
        while !self.waiting.is_empty() {
            let batch = self.waiting.iter().take(SEND_BATCH);
            let taken = match self.socket.send(batch.map(|frame| (interface, frame.as_slice()))) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => 0,
            };
            self.waiting.drain(..taken).for_each(|frame| sent(&frame, true));
            if taken == 0
                && let Some(frame) = self.waiting.pop_front()
            {
                sent(&frame, false);
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
    pub fn into_waiting(self) -> impl Iterator<Item = Vec<u8>> {
        self.waiting.into_iter()
    }
}

impl AsFd for QueuedPort {
    /// Writable when the discipline has let half of the socket's frames go.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
