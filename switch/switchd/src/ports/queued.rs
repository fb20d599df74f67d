//! Transmission through an interface's queueing discipline.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use p4sched_dataplane::{Frame, Nanos};

use super::socket::{SEND_BATCH, TxSocket};
use super::window::{FULL_FRAME, Window};

/// A port whose frames go through the queueing discipline of its interface, and so no faster than that lets them.
///
/// Packets wait in the switch's queues, not here: [`QueuedPort::room`] says how many may leave them. So the most urgent one is
/// chosen when the interface takes it, as in BMv2, whose transmitter blocks.
pub struct QueuedPort {
    socket: TxSocket,
    window: Window,
    /// The window as the kernel set it: while frames of the socket take less, the port is open.
    writable_below: u32,
    /// True if frames may be in the kernel. If not, it need not be asked.
    any_in_kernel: bool,
    /// True if the last answer was that there is no room.
    closed: bool,
    waiting: VecDeque<Frame>,
    /// Buffers of frames that left.
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

    /// The port has this interface from now on.
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
            self.any_in_kernel |= taken > 0;
            // The first frame is the one that the kernel refused, if it took none.
            for frame in self.waiting.drain(..taken.max(1)) {
                if taken > 0 {
                    self.window.count(frame.len());
                }
                sent(&frame, taken > 0);
                self.spare.push(frame);
            }
        }
    }

    /// True if frames wait here.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Packets that may leave the switch's queues. If none, the port's descriptor is writable when there is room again.
    pub fn room(&mut self, now: Nanos) -> u32 {
        if self.window.follow(now)
            && let Ok(bytes) = self.socket.set_writable_below(self.window.bytes())
        {
            self.writable_below = bytes;
        }
        // As `sock_writeable` of the kernel, which counts one byte for the socket itself.
        let in_kernel = self.in_kernel() + 1;
        self.closed = self.has_waiting() || in_kernel >= self.writable_below;
        if self.closed {
            0
        } else {
            (self.writable_below - in_kernel).div_ceil(FULL_FRAME)
        }
    }

    /// Bytes of the port's frames that the discipline has not let go.
    fn in_kernel(&mut self) -> u32 {
        if !self.any_in_kernel {
            return 0;
        }
        let bytes = self.socket.unsent_bytes().unwrap_or(0);
        self.any_in_kernel = bytes > 0;
        bytes
    }

    /// True if packets wait for the discipline, according to the last [`QueuedPort::room`].
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The frames that wait, for a port that goes around its discipline from now on.
    pub fn into_waiting(self) -> impl Iterator<Item = Frame> {
        self.waiting.into_iter()
    }
}

impl AsFd for QueuedPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
