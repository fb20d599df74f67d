//! Sending on all ports, in the order in which frames are due.

use std::os::fd::{AsFd, BorrowedFd};

use p4sched_dataplane::{Frame, Nanos, Port};

use super::capture::Capture;
use super::qdisc::Qdiscs;
use super::queued::QueuedPort;
use super::receive::{Attachment, PortSpec};
use super::socket::{SEND_BATCH, TxSocket};
use crate::clock::Clock;
use crate::lateness::Lateness;
use crate::log;

/// The counts of frames that a port sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames that the interface took.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that the interface refused.
    pub errors: u64,
}

#[derive(Default)]
struct TxPort {
    /// Kernel index of the interface; 0 while there is none.
    interface: i32,
    /// `None` until there is an interface. If the interface disappears, frames are refused.
    socket: Option<TxSocket>,
    sent: Sent,
    capture: Option<Capture>,
    /// Whether the interface has a queueing discipline that limits frames.
    discipline: bool,
}

impl TxPort {
    fn account(&mut self, frame: &[u8], wall: Option<u64>) {
        self.sent.packets += 1;
        self.sent.bytes += frame.len() as u64;
        if let (Some(capture), Some(wall)) = (&mut self.capture, wall) {
            capture.frame(wall, frame);
        }
    }
}

/// A frame that waits for the next system call.
#[derive(Default)]
struct Pending {
    port: Port,
    frame: Frame,
    due: Nanos,
}

/// All sending sockets, and the frames that wait for the next system call.
pub struct Transmitter {
    /// Indexed by port number; `None` if the port never had an interface.
    ports: Vec<Option<TxPort>>,
    pending: [Pending; SEND_BATCH],
    /// Number of waiting frames. The other elements hold buffers of sent frames.
    waiting: usize,
    clock: Clock,
    lateness: Lateness,
    /// Whether ports record their frames.
    records: bool,
    /// Ports whose frames go through the discipline of their interface.
    queued: Vec<(Port, QueuedPort)>,
    /// Ports that stopped using a discipline since the last call of [`Transmitter::rooms`].
    freed: Vec<Port>,
    /// Number of frames for ports without an interface.
    without_interface: u64,
}

impl Transmitter {
    pub fn new(clock: Clock) -> Transmitter {
        Transmitter {
            ports: Vec::new(),
            pending: Default::default(),
            waiting: 0,
            clock,
            lateness: Lateness::default(),
            records: false,
            queued: Vec::new(),
            freed: Vec::new(),
            without_interface: 0,
        }
    }

    /// Records the frames that these ports send; `open` creates the file for an interface.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn record<'a>(
        &mut self,
        specs: impl Iterator<Item = &'a PortSpec>,
        open: impl Fn(&str) -> Result<Capture, String>,
    ) -> Result<(), String> {
        self.records = true;
        for spec in specs {
            if let Some(Some(port)) = self.ports.get_mut(usize::from(spec.number)) {
                port.capture = Some(open(&spec.interface)?);
            }
        }
        Ok(())
    }

    pub fn flush_records(&mut self) {
        let captures = self.ports.iter_mut().flatten().filter_map(|port| port.capture.as_mut());
        captures.for_each(Capture::flush);
    }

    /// Changes a port's interface.
    ///
    /// # Errors
    /// Those of packet(7) sockets.
    pub fn attach(&mut self, attachment: Attachment) -> std::io::Result<()> {
        let index = usize::from(attachment.port);
        if index >= self.ports.len() {
            self.ports.resize_with(index + 1, || None);
        }
        let port = self.ports[index].get_or_insert_default();
        port.interface = attachment.interface.unwrap_or(0);
        port.discipline = Qdiscs::is_set(port.interface);
        if let Some(interface) = attachment.interface {
            port.socket = Some(TxSocket::open(interface)?);
            let mut queued = self.queued.iter_mut();
            if let Some((_, queued)) = queued.find(|(number, _)| *number == attachment.port) {
                queued.attach(interface)?;
            }
        }
        Ok(())
    }

    /// Removes a port. From then on, frames for it have no interface.
    pub fn detach(&mut self, port: Port) {
        self.flush();
        if let Some(place) = self.ports.get_mut(usize::from(port)) {
            *place = None;
        }
    }

    /// Checks the queueing disciplines of all interfaces again.
    pub fn refresh_disciplines(&mut self) {
        for port in self.ports.iter_mut().flatten() {
            port.discipline = Qdiscs::is_set(port.interface);
        }
    }

    /// Chooses the path of each port: through a discipline if one is set, but around it if the traffic manager shapes
    /// the port (`shaped`).
    pub fn follow_disciplines(&mut self, shaped: impl Fn(Port) -> bool) {
        let through = |ports: &[Option<TxPort>], number: Port| {
            let port = ports[usize::from(number)].as_ref();
            port.is_some_and(|port| port.discipline) && !shaped(number)
        };
        let around: Vec<_> = self
            .queued
            .extract_if(.., |(number, _)| !through(&self.ports, *number))
            .collect();
        for (number, port) in around {
            port.into_waiting()
                .for_each(|mut frame| self.push(number, &mut frame, self.clock.now()));
            self.freed.push(number);
        }
        for number in 0..self.ports.len() as Port {
            let interface = self.ports[usize::from(number)]
                .as_ref()
                .map_or(0, |port| port.interface);
            if through(&self.ports, number) && self.queued.iter().all(|(other, _)| *other != number) {
                match QueuedPort::open(interface) {
                    Ok(port) => self.queued.push((number, port)),
                    Err(error) => log::warn(&format!("port {number}: its queueing discipline is not used: {error}")),
                }
            }
        }
    }

    /// The number of packets that may leave their queues, for each port that uses a discipline; `None` (no limit) for a
    /// port that stopped using one.
    pub fn rooms(&mut self) -> impl Iterator<Item = (Port, Option<u32>)> {
        let now = self.clock.now();
        let freed = self.freed.drain(..).map(|number| (number, None));
        let queued = self.queued.iter_mut();
        freed.chain(queued.map(move |(number, port)| (*number, Some(port.room(now)))))
    }

    /// Descriptors of ports whose discipline is full. They become writable when it has room again.
    pub fn closed(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let ports = self.queued.iter().map(|(_, port)| port);
        ports.filter(|port| port.is_closed()).map(AsFd::as_fd)
    }

    /// Takes a frame that is due on the port, and leaves an unused buffer in its place. The frame leaves with the next
    /// [`Transmitter::flush`], or immediately if the batch is full.
    pub fn push(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        if self.ports.get(usize::from(port)).is_none_or(Option::is_none) {
            self.without_interface += 1;
            return;
        }
        if let Some((_, queued)) = self.queued.iter_mut().find(|(number, _)| *number == port) {
            return queued.push(frame);
        }
        let place = &mut self.pending[self.waiting];
        (place.port, place.due) = (port, due);
        std::mem::swap(&mut place.frame, frame);
        self.waiting += 1;
        if self.waiting == SEND_BATCH {
            self.flush();
        }
    }

    /// Sends all waiting frames, one port after the other. The frames of a port stay in order.
    pub fn flush(&mut self) {
        self.pending[..self.waiting].sort_by_key(|pending| pending.port);
        let mut first = 0;
        while first < self.waiting {
            let number = self.pending[first].port;
            let waiting = self.pending[first..self.waiting].iter();
            let frames = waiting.take_while(|pending| pending.port == number);
            let port = self.ports[usize::from(number)].as_ref();
            let taken = port
                .and_then(|port| port.socket.as_ref())
                .and_then(|socket| socket.send(frames.map(|pending| &*pending.frame)).ok())
                .unwrap_or(0);
            self.account_taken(first..first + taken);
            first += taken;
            if taken == 0 {
                self.account_refused(first);
                first += 1;
            }
        }
        self.waiting = 0;
    }

    /// Whether [`Transmitter::flush_queued`] has work.
    pub fn has_queued(&self) -> bool {
        self.queued.iter().any(|(_, port)| port.has_waiting())
    }

    /// Gives waiting frames to the queueing disciplines. The lateness of such a frame is not counted, because it says
    /// nothing about the switch.
    pub fn flush_queued(&mut self) {
        for (number, queued) in &mut self.queued {
            let Some(port) = &mut self.ports[usize::from(*number)] else {
                continue;
            };
            let wall = self.records.then(|| self.clock.sample().wall_time(self.clock.now()));
            queued.send(|frame, taken| {
                if taken {
                    port.account(frame, wall);
                } else {
                    port.sent.errors += 1;
                }
            });
        }
    }

    fn account_taken(&mut self, range: std::ops::Range<usize>) {
        let now = self.clock.now();
        let wall = self.records.then(|| self.clock.sample().wall_time(now));
        for pending in &self.pending[range] {
            self.lateness.record(now.saturating_sub(pending.due));
            if let Some(port) = &mut self.ports[usize::from(pending.port)] {
                port.account(&pending.frame, wall);
            }
        }
    }

    fn account_refused(&mut self, index: usize) {
        if let Some(port) = &mut self.ports[usize::from(self.pending[index].port)] {
            port.sent.errors += 1;
        }
    }

    pub fn sent(&self, port: Port) -> Option<Sent> {
        self.ports.get(usize::from(port))?.as_ref().map(|port| port.sent)
    }

    /// The sum of the counts of all ports.
    pub fn total(&self) -> Sent {
        self.ports.iter().flatten().fold(Sent::default(), |sum, port| Sent {
            packets: sum.packets + port.sent.packets,
            bytes: sum.bytes + port.sent.bytes,
            errors: sum.errors + port.sent.errors,
        })
    }

    /// Number of frames for ports without an interface.
    pub fn without_interface(&self) -> u64 {
        self.without_interface
    }

    /// The distribution of lateness: the time at which a frame was given to the interface minus the time at which it
    /// was due. If `reset`, a new distribution starts.
    pub fn lateness(&mut self, reset: bool) -> Lateness {
        if reset {
            std::mem::take(&mut self.lateness)
        } else {
            self.lateness.clone()
        }
    }
}
