//! Sending through an interface's queueing discipline.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use p4sched_dataplane::{Frame, Nanos};

use super::socket::{SEND_BATCH, TxSocket};
use super::window::{FULL_FRAME, Window};

/// A port whose frames go through the queueing discipline of its interface, at the rate of the discipline.
///
/// Packets wait in the switch's queues, not here: [`QueuedPort::room`] says how many may leave them. So the switch
/// chooses the most urgent packet at the moment when the interface can take it. BMv2 reaches the same with a
/// transmitter that blocks.
pub struct QueuedPort {
    socket: TxSocket,
    window: Window,
    /// The size of the window in bytes, as the kernel set it. The port is open while its frames in the kernel take
    /// less.
    writable_below: u32,
    /// Whether frames may be in the kernel. If not, there is no need to ask it.
    any_in_kernel: bool,
    /// Whether the last answer was that there is no room.
    closed: bool,
    waiting: VecDeque<Frame>,
    /// Buffers of sent frames, for reuse.
    spare: Vec<Frame>,
}

impl QueuedPort {
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn open(interface: i32) -> io::Result<QueuedPort> {
        let (socket, window) = (TxSocket::through_discipline(interface)?, Window::new());
        Ok(QueuedPort {
            writable_below: socket.set_writable_below(window.bytes())?,
            socket,
            window,
            any_in_kernel: false,
            closed: false,
            waiting: VecDeque::new(),
            spare: Vec::new(),
        })
    }

    /// Changes the port's interface.
    ///
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn attach(&mut self, interface: i32) -> io::Result<()> {
        let socket = TxSocket::through_discipline(interface)?;
        self.writable_below = socket.set_writable_below(self.window.bytes())?;
        self.socket = socket;
        self.any_in_kernel = false;
        Ok(())
    }

    /// Takes a frame for the next [`QueuedPort::send`], and leaves an unused buffer in its place.
    pub fn push(&mut self, frame: &mut Frame) {
        let spare = self.spare.pop().unwrap_or_default();
        self.waiting.push_back(std::mem::replace(frame, spare));
    }

    /// Gives the waiting frames to the discipline. Calls `sent` with every frame that left the switch, and whether the
    /// interface took it: a full discipline refuses a frame, and the frame is lost.
    pub fn send(&mut self, mut sent: impl FnMut(&[u8], bool)) {
        while !self.waiting.is_empty() {
            let batch = self.waiting.iter().take(SEND_BATCH);
            let taken = match self.socket.send(batch.map(|frame| &**frame)) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => 0,
            };
            self.any_in_kernel |= taken > 0;
            // If the kernel took none, it refused the first frame.
            for frame in self.waiting.drain(..taken.max(1)) {
                if taken > 0 {
                    self.window.count(frame.len());
                }
                sent(&frame, taken > 0);
                self.spare.push(frame);
            }
        }
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The number of packets that may leave the switch's queues. If it is 0, the port's descriptor becomes writable
    /// when there is room again.
    pub fn room(&mut self, now: Nanos) -> u32 {
        if self.window.follow(now)
            && let Ok(bytes) = self.socket.set_writable_below(self.window.bytes())
        {
            self.writable_below = bytes;
        }
        // The same rule as the kernel's `sock_writeable`, which adds one byte for the socket itself.
        let in_kernel = self.in_kernel() + 1;
        self.closed = self.has_waiting() || in_kernel >= self.writable_below;
        if self.closed {
            0
        } else {
            (self.writable_below - in_kernel).div_ceil(FULL_FRAME)
        }
    }

    /// Size in bytes of the port's frames that are still in the kernel.
    fn in_kernel(&mut self) -> u32 {
        if !self.any_in_kernel {
            return 0;
        }
        let bytes = self.socket.unsent_bytes().unwrap_or(0);
        self.any_in_kernel = bytes > 0;
        bytes
    }

    /// Whether packets must wait for the discipline, by the last [`QueuedPort::room`].
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The waiting frames of a port that no longer uses its discipline.
    pub fn into_waiting(self) -> impl Iterator<Item = Frame> {
        self.waiting.into_iter()
    }
}

impl AsFd for QueuedPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
