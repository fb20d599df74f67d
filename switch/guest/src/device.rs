//! A virtio device of a guest with two queues: data to the guest (0) and data from it (1).
//!
//! The network interface and the console differ only in their number, their configuration space, and the header before
//! each buffer (Virtual I/O Device, version 1.1, sections 5.1 and 5.3).

use crate::GuestError;
use crate::vhost_user::{self, Header, Region, Request};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use virtio_queue::{Queue, QueueOwnedT, QueueT};
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap};

/// Number of the queue to the guest.
pub const TO_GUEST: usize = 0;
/// Number of the queue from the guest.
pub const FROM_GUEST: usize = 1;
const QUEUES: usize = 2;
/// Largest number of entries in a queue (kernel/build.sh).
const QUEUE_SIZE: u16 = 1024;

/// Device feature: the device follows version 1 of the standard.
const F_VERSION_1: u64 = 1 << 32;
/// Device feature: each side tells the other from which entry on it wants notifications.
const F_EVENT_INDEX: u64 = 1 << 29;
/// Feature of a network interface: its MAC address is in the configuration space.
const NET_F_MAC: u64 = 1 << 5;
/// Length of the header before each frame, in bytes (section 5.1.6).
const NET_HEADER_BYTES: usize = 12;

#[derive(Clone, Debug)]
pub struct Kind {
    features: u64,
    protocol_features: u64,
    config: Vec<u8>,
    header: usize,
    /// Whether the driver announces each send. Otherwise its data is taken when the guest waits.
    kicks: bool,
}

impl Kind {
    /// A network interface with this MAC address and without offloads.
    pub fn network(mac: [u8; 6]) -> Self {
        Self {
            features: NET_F_MAC,
            protocol_features: vhost_user::PROTOCOL_FEATURES,
            config: mac.to_vec(),
            header: NET_HEADER_BYTES,
            kicks: false,
        }
    }

    pub fn console() -> Self {
        Self {
            features: 0,
            // The driver polls until the device has taken what it wrote, and polling takes time. So requests are
            // acknowledged.
            protocol_features: vhost_user::PROTOCOL_FEATURES | vhost_user::PROTOCOL_REPLY_ACK,
            config: Vec::new(),
            header: 0,
            kicks: true,
        }
    }
}

/// A device. It exists before its driver connects.
#[derive(Debug)]
pub struct Device {
    kind: Kind,
    listener: UnixListener,
    requests: Option<UnixStream>,
    /// File descriptor for calls to the driver. It is unused, because the calendar makes the calls, but it must stay
    /// open.
    calls: Option<OwnedFd>,
    memory: Option<GuestMemoryMmap>,
    queues: [Queue; QUEUES],
    /// Frames that wait for a place in the queue to the guest.
    waiting: VecDeque<Vec<u8>>,
    call_due: [bool; QUEUES],
}

impl Device {
    /// A device that waits for its driver on this socket.
    ///
    /// # Errors
    /// [`GuestError::Io`] if the socket cannot be created.
    pub fn listen(socket: &Path, kind: Kind) -> Result<Self, GuestError> {
        let queue = || Queue::new(QUEUE_SIZE).map_err(|error| GuestError::Protocol(error.to_string()));
        Ok(Self {
            kind,
            listener: UnixListener::bind(socket)?,
            requests: None,
            calls: None,
            memory: None,
            queues: [queue()?, queue()?],
            waiting: VecDeque::new(),
            call_due: [false; QUEUES],
        })
    }

    /// The file descriptor that becomes readable when the driver has done something.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.requests
            .as_ref()
            .map_or_else(|| self.listener.as_fd(), AsFd::as_fd)
    }

    /// Puts bytes into the queue to the guest, or keeps them until there is a place.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if the queue is invalid.
    pub fn send(&mut self, bytes: Vec<u8>) -> Result<(), GuestError> {
        self.waiting.push_back(bytes);
        self.fill()
    }

    /// Whether the driver of a queue must be called.
    pub fn call_due(&self) -> bool {
        self.call_due.contains(&true)
    }

    /// Returns the queues whose driver must be called, one bit each, and marks them as called.
    pub fn take_calls(&mut self) -> u32 {
        let due = std::mem::take(&mut self.call_due);
        u32::from(due[TO_GUEST]) | u32::from(due[FROM_GUEST]) << 1
    }

    /// Handles one event of [`Device::descriptor`]: a driver that connects, or one request. Data from the guest is
    /// appended to `sent`.
    ///
    /// # Errors
    /// [`GuestError::Io`] if the driver is gone, [`GuestError::Protocol`] if the request is invalid.
    pub fn handle(&mut self, sent: &mut Vec<Vec<u8>>) -> Result<(), GuestError> {
        let Some(socket) = &mut self.requests else {
            self.requests = Some(self.listener.accept()?.0);
            return Ok(());
        };
        let mut bytes = [0; vhost_user::HEADER_BYTES];
        let descriptors = receive(socket, &mut bytes)?;
        let header = Header::decode(bytes)?;
        let mut payload = vec![0; header.size as usize];
        socket.read_exact(&mut payload)?;
        let request = Request::decode(header, &payload)?;
        let answer = match self.obey(&request, descriptors, sent)? {
            Some(number) => Some(vhost_user::reply(header.request, &number.to_ne_bytes())),
            None if matches!(request, Request::GetConfig(_)) => {
                let Request::GetConfig(length) = request else {
                    unreachable!("matched above")
                };
                let mut config = self.kind.config.clone();
                config.resize(length, 0);
                Some(vhost_user::config_reply(header.request, &config))
            }
            None if header.needs_reply() => Some(vhost_user::reply(header.request, &0u64.to_ne_bytes())),
            None => None,
        };
        if let (Some(answer), Some(socket)) = (answer, &mut self.requests) {
            socket.write_all(&answer)?;
        }
        Ok(())
    }

    /// Executes a request. Returns the number in the answer, if it has one.
    fn obey(
        &mut self,
        request: &Request,
        descriptors: Vec<OwnedFd>,
        sent: &mut Vec<Vec<u8>>,
    ) -> Result<Option<u64>, GuestError> {
        match request {
            Request::GetFeatures => {
                return Ok(Some(
                    F_VERSION_1 | F_EVENT_INDEX | vhost_user::F_PROTOCOL_FEATURES | self.kind.features,
                ));
            }
            Request::GetProtocolFeatures => return Ok(Some(self.kind.protocol_features)),
            Request::SetFeatures(features) => {
                for queue in &mut self.queues {
                    queue.set_event_idx(features & F_EVENT_INDEX != 0);
                }
            }
            Request::SetProtocolFeatures(features) if *features != self.kind.protocol_features => {
                return Err(GuestError::Protocol(
                    "the guest's kernel has no in-band notifications".into(),
                ));
            }
            Request::SetMemory(regions) => self.memory = Some(map(regions, descriptors)?),
            Request::SetQueueSize(queue, size) => self.queue(*queue)?.set_size(*size),
            Request::SetQueueAddresses {
                queue,
                descriptors,
                available,
                used,
            } => {
                let halves = |address: u64| (Some(address as u32), Some((address >> 32) as u32));
                let queue = self.queue(*queue)?;
                let (low, high) = halves(*descriptors);
                queue.set_desc_table_address(low, high);
                let (low, high) = halves(*available);
                queue.set_avail_ring_address(low, high);
                let (low, high) = halves(*used);
                queue.set_used_ring_address(low, high);
            }
            Request::SetQueueBase(queue, base) => {
                let queue = self.queue(*queue)?;
                queue.set_next_avail(*base);
                queue.set_next_used(*base);
            }
            Request::SetQueueEnabled(queue, enabled) => self.queue(*queue)?.set_ready(*enabled),
            Request::SetBackendSocket => {
                self.calls = descriptors.into_iter().next();
            }
            Request::Kick(TO_GUEST) => self.fill()?,
            Request::Kick(FROM_GUEST) => self.drain(sent)?,
            Request::Kick(_) | Request::GetConfig(_) | Request::SetProtocolFeatures(_) | Request::Other => {}
        }
        Ok(None)
    }

    fn queue(&mut self, number: usize) -> Result<&mut Queue, GuestError> {
        self.queues
            .get_mut(number)
            .ok_or_else(|| GuestError::Protocol(format!("there is no queue {number}")))
    }

    /// Moves waiting data into the queue to the guest.
    fn fill(&mut self) -> Result<(), GuestError> {
        let Self {
            kind,
            memory: Some(memory),
            queues,
            waiting,
            call_due,
            ..
        } = self
        else {
            return Ok(());
        };
        let queue = &mut queues[TO_GUEST];
        if !queue.ready() {
            return Ok(());
        }
        let mut moved = false;
        while !waiting.is_empty() {
            let Some(chain) = queue.iter(&*memory).map_err(queue_error)?.next() else {
                // Ask the driver to tell when there is room again. It may have made room before that.
                if queue.enable_notification(memory).map_err(queue_error)? {
                    continue;
                }
                break;
            };
            let bytes = waiting.pop_front().unwrap_or_default();
            let head = chain.head_index();
            let mut writer = chain.writer(memory).map_err(queue_error)?;
            let mut header = [0; NET_HEADER_BYTES];
            // Each frame is in one buffer (num_buffers).
            header[10] = 1;
            writer.write_all(&header[..kind.header])?;
            writer.write_all(&bytes)?;
            let length = kind.header + bytes.len();
            queue.add_used(memory, head, length as u32).map_err(queue_error)?;
            moved = true;
        }
        if moved && queue.needs_notification(memory).map_err(queue_error)? {
            call_due[TO_GUEST] = true;
        }
        Ok(())
    }

    /// Takes the data that the guest sent, and appends it to `sent`.
    ///
    /// # Errors
    /// [`GuestError::Protocol`] if the queue is invalid.
    pub fn drain(&mut self, sent: &mut Vec<Vec<u8>>) -> Result<(), GuestError> {
        let Self {
            kind,
            memory: Some(memory),
            queues,
            call_due,
            ..
        } = self
        else {
            return Ok(());
        };
        let queue = &mut queues[FROM_GUEST];
        if !queue.ready() {
            return Ok(());
        }
        let mut moved = false;
        loop {
            while let Some(chain) = queue.iter(&*memory).map_err(queue_error)?.next() {
                let head = chain.head_index();
                let mut bytes = Vec::new();
                chain.reader(memory).map_err(queue_error)?.read_to_end(&mut bytes)?;
                bytes.drain(..kind.header.min(bytes.len()));
                sent.push(bytes);
                queue.add_used(memory, head, 0).map_err(queue_error)?;
                moved = true;
            }
            if !kind.kicks || !queue.enable_notification(memory).map_err(queue_error)? {
                break;
            }
        }
        if moved && queue.needs_notification(memory).map_err(queue_error)? {
            call_due[FROM_GUEST] = true;
        }
        Ok(())
    }
}

fn queue_error(error: virtio_queue::Error) -> GuestError {
    GuestError::Protocol(format!("a virtio queue of the guest is invalid: {error}"))
}

fn map(regions: &[Region], descriptors: Vec<OwnedFd>) -> Result<GuestMemoryMmap, GuestError> {
    if regions.len() != descriptors.len() {
        return Err(GuestError::Protocol(format!(
            "{} files for {} regions",
            descriptors.len(),
            regions.len()
        )));
    }
    let ranges: Vec<_> = regions
        .iter()
        .zip(descriptors)
        .map(|(region, file)| {
            let file = FileOffset::new(File::from(file), region.offset);
            (GuestAddress(region.address), region.size as usize, Some(file))
        })
        .collect();
    GuestMemoryMmap::from_ranges_with_files(&ranges)
        .map_err(|error| GuestError::Protocol(format!("the guest's memory cannot be mapped: {error}")))
}

/// Fills `bytes` from the socket. Returns the file descriptors that came with the first byte.
fn receive(socket: &mut UnixStream, bytes: &mut [u8]) -> Result<Vec<OwnedFd>, GuestError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(
        &*socket,
        &mut [IoSliceMut::new(bytes)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .map_err(std::io::Error::from)?;
    if got.bytes == 0 {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = message {
            descriptors.extend(files);
        }
    }
    socket.read_exact(&mut bytes[got.bytes..])?;
    Ok(descriptors)
}
