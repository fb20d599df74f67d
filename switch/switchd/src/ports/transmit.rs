//! Transmission on all ports, in the order in which frames are due.

use p4sched_dataplane::{Nanos, Port};

use super::capture::Capture;
use super::receive::{Attachment, PortSpec};
use super::socket::{SEND_BATCH, TxSocket};
use crate::clock::Clock;
use crate::lateness::Lateness;

/// What one port sent.
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
    /// Kernel index of the interface, 0 while there is none.
    interface: i32,
    sent: Sent,
    capture: Option<Capture>,
}

struct Pending {
    port: Port,
    end: usize,
    due: Nanos,
}

/// All sending sides, and the frames that wait for the next call of the kernel.
pub struct Transmitter {
    /// `None` for a switch without interfaces, which needs no privilege.
    socket: Option<TxSocket>,
    /// Indexed by port number; `None`: no interface was ever given for it.
    ports: Vec<Option<TxPort>>,
    pending: Vec<Pending>,
    bytes: Vec<u8>,
    clock: Clock,
    lateness: Lateness,
    /// Whether ports record what they send.
    records: bool,
    /// Frames for ports without an interface.
    without_interface: u64,
}

impl Transmitter {
    /// Opens the socket; `attachments` are the ports that have an interface.
    pub fn open(attachments: &[Attachment], clock: Clock) -> std::io::Result<Transmitter> {
        let mut transmitter = Transmitter {
            socket: Some(TxSocket::open()?),
            ..Transmitter::unconnected(clock)
        };
        attachments
            .iter()
            .for_each(|attachment| transmitter.attach(*attachment));
        Ok(transmitter)
    }

    /// For a switch without interfaces.
    pub fn unconnected(clock: Clock) -> Transmitter {
        Transmitter {
            socket: None,
            ports: Vec::new(),
            pending: Vec::with_capacity(SEND_BATCH),
            bytes: Vec::with_capacity(SEND_BATCH * 2048),
            clock,
            lateness: Lateness::default(),
            records: false,
            without_interface: 0,
        }
    }

    /// Records what these ports send; `open` makes the file for an interface.
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

    /// Lets readers of the records see what was sent.
    pub fn flush_records(&mut self) {
        let captures = self.ports.iter_mut().flatten().filter_map(|port| port.capture.as_mut());
        captures.for_each(Capture::flush);
    }

    /// Follows a change of a port's interface.
    pub fn attach(&mut self, attachment: Attachment) {
        let index = usize::from(attachment.port);
        if index >= self.ports.len() {
            self.ports.resize_with(index + 1, || None);
        }
        self.ports[index].get_or_insert_default().interface = attachment.interface.unwrap_or(0);
    }

    /// Takes a frame that is due on the port; it leaves with the next [`Transmitter::flush`], or at once if the batch
    /// is full.
    pub fn push(&mut self, port: Port, frame: &[u8], due: Nanos) {
        if self.ports.get(usize::from(port)).is_none_or(Option::is_none) {
            self.without_interface += 1;
            return;
        }
        self.bytes.extend_from_slice(frame);
        self.pending.push(Pending {
            port,
            end: self.bytes.len(),
            due,
        });
        if self.pending.len() == SEND_BATCH {
            self.flush();
        }
    }

    /// Sends what waits.
    pub fn flush(&mut self) {
        let mut first = 0;
        while first < self.pending.len() {
            let start = first.checked_sub(1).map_or(0, |previous| self.pending[previous].end);
            let mut from = start;
            let frames = self.pending[first..].iter().map(|pending| {
                let frame = &self.bytes[from..pending.end];
                from = pending.end;
                let interface = self.ports[usize::from(pending.port)]
                    .as_ref()
                    .map_or(0, |port| port.interface);
                (interface, frame)
            });
            let taken = self
                .socket
                .as_ref()
                .and_then(|socket| socket.send(frames).ok())
                .unwrap_or(0);
            self.account_taken(first..first + taken, start);
            first += taken;
            if taken == 0 {
                self.account_refused(first);
                first += 1;
            }
        }
        self.pending.clear();
        self.bytes.clear();
    }

    fn account_taken(&mut self, range: std::ops::Range<usize>, mut start: usize) {
        let now = self.clock.now();
        let wall = self.records.then(|| self.clock.sample().wall_time(now));
        for pending in &self.pending[range] {
            self.lateness.record(now.saturating_sub(pending.due));
            if let Some(port) = &mut self.ports[usize::from(pending.port)] {
                port.sent.packets += 1;
                port.sent.bytes += (pending.end - start) as u64;
                if let (Some(capture), Some(wall)) = (&mut port.capture, wall) {
                    capture.frame(wall, &self.bytes[start..pending.end]);
                }
            }
            start = pending.end;
        }
    }

    fn account_refused(&mut self, index: usize) {
        if let Some(port) = &mut self.ports[usize::from(self.pending[index].port)] {
            port.sent.errors += 1;
        }
    }

    /// Counts of one port.
    pub fn sent(&self, port: Port) -> Option<Sent> {
        self.ports.get(usize::from(port))?.as_ref().map(|port| port.sent)
    }

    /// Counts of all ports together.
    pub fn total(&self) -> Sent {
        self.ports.iter().flatten().fold(Sent::default(), |sum, port| Sent {
            packets: sum.packets + port.sent.packets,
            bytes: sum.bytes + port.sent.bytes,
            errors: sum.errors + port.sent.errors,
        })
    }

    /// Frames for ports that have no interface.
    pub fn without_interface(&self) -> u64 {
        self.without_interface
    }

    /// Hands out the distribution of lateness (handed to the interface minus due) and starts a new one if asked.
    pub fn lateness(&mut self, reset: bool) -> Lateness {
        if reset {
            std::mem::take(&mut self.lateness)
        } else {
            self.lateness.clone()
        }
    }
}
