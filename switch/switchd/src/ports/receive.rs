//! Reception on all ports, in the order of the kernel's timestamps.

use std::os::fd::{AsFd, BorrowedFd};

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::{Link, Links};

use super::capture::Capture;
use super::frame::{complete_checksum, insert_tag};
use super::socket::{RingFrame, RxRing, interface_index};
use crate::clock::WallClockSample;
use crate::log;

/// Time in ns between two attempts to attach a missing interface.
const REATTACH_EVERY: Nanos = 500_000_000;

/// A port and its interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortSpec {
    pub number: Port,
    pub interface: String,
}

/// The counts of frames that a port received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames given to the switch.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames lost earlier: the ring was full, or the frame was too long for a link without offloads.
    pub lost: u64,
}

struct RxPort {
    spec: PortSpec,
    ring: Option<RxRing>,
    up: bool,
    /// Whether frames reach the other end, at the last check.
    running: bool,
    /// Receive time of the frame at the head of the ring, once it was checked.
    head: Option<Nanos>,
    received: Received,
    capture: Option<Capture>,
    warned_of_length: bool,
    warned_of_checksum: bool,
}

/// All receive rings.
pub struct Receiver {
    ports: Vec<RxPort>,
    scratch: Vec<u8>,
    next_reattach: Nanos,
}

/// A change of a port's interface; the transmitter must follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachment {
    pub port: Port,
    /// Kernel index of the interface; `None` while there is none.
    pub interface: Option<i32>,
}

impl Receiver {
    /// Opens every port. An error comes with the interface.
    pub fn open(specs: Vec<PortSpec>) -> Result<Receiver, (PortSpec, std::io::Error)> {
        let mut ports = Vec::with_capacity(specs.len());
        for spec in specs {
            match RxRing::open(&spec.interface) {
                Ok(ring) => ports.push(RxPort::new(spec, ring)),
                Err(error) => return Err((spec, error)),
            }
        }
        Ok(Receiver {
            ports,
            scratch: Vec::new(),
            next_reattach: 0,
        })
    }

    /// Opens another port.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn add(&mut self, spec: PortSpec) -> std::io::Result<Attachment> {
        let ring = RxRing::open(&spec.interface)?;
        let attachment = Attachment {
            port: spec.number,
            interface: Some(ring.interface()),
        };
        self.ports.push(RxPort::new(spec, ring));
        Ok(attachment)
    }

    /// Closes a port. Returns false if there is no such port.
    pub fn remove(&mut self, number: Port) -> bool {
        let before = self.ports.len();
        self.ports.retain(|port| port.spec.number != number);
        self.ports.len() < before
    }

    /// Records all received frames; `open` creates the file for an interface.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn record(&mut self, open: impl Fn(&str) -> Result<Capture, String>) -> Result<(), String> {
        for port in &mut self.ports {
            port.capture = Some(open(&port.spec.interface)?);
        }
        Ok(())
    }

    pub fn flush_records(&mut self) {
        let captures = self.ports.iter_mut().filter_map(|port| port.capture.as_mut());
        captures.for_each(Capture::flush);
    }

    /// The present interface of each port.
    pub fn attachments(&self) -> Vec<Attachment> {
        self.ports
            .iter()
            .map(|port| Attachment {
                port: port.spec.number,
                interface: port.ring.as_ref().map(RxRing::interface),
            })
            .collect()
    }

    pub fn specs(&self) -> impl Iterator<Item = &PortSpec> {
        self.ports.iter().map(|port| &port.spec)
    }

    /// Descriptors to wait on. They become readable when a frame has arrived, and report an error when the interface
    /// changed its state.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.ports.iter().filter_map(|port| port.ring.as_ref().map(AsFd::as_fd))
    }

    /// Checks the head of every ring that was empty at the last check.
    pub fn check_rings(&mut self, sample: WallClockSample) {
        for port in &mut self.ports {
            if port.head.is_none() {
                port.check_ring(sample);
            }
        }
    }

    /// Passes the oldest waiting frame of all ports to `accept`, with its receive time and port, and releases it.
    /// Returns false if no frame was received at `limit` or earlier.
    pub fn take_oldest(
        &mut self,
        sample: WallClockSample,
        limit: Nanos,
        accept: impl FnOnce(Nanos, Port, &[u8]),
    ) -> bool {
        let oldest = self.ports.iter_mut().filter_map(|port| port.head.map(|at| (at, port)));
        let Some((at, port)) = oldest.min_by_key(|(at, _)| *at) else {
            return false;
        };
        if at > limit {
            return false;
        }
        let Some(ring) = &mut port.ring else { return false };
        let frame = ring.head();
        if frame.wire_len > frame.bytes.len() {
            port.received.lost += 1;
            if !std::mem::replace(&mut port.warned_of_length, true) {
                log::warn(&format!(
                    "port {}: dropped a frame of {} bytes, longer than the MTU of {}: turn segmentation and receive \
                     offloads off on both ends (ethtool -K IFACE tso off gso off gro off)",
                    port.spec.number, frame.wire_len, port.spec.interface
                ));
            }
        } else {
            port.received.packets += 1;
            port.received.bytes += frame.bytes.len() as u64;
            if frame.checksum_missing && !std::mem::replace(&mut port.warned_of_checksum, true) {
                log::warn(&format!(
                    "port {}: frames come without transport checksums, the switch fills them in: turn transmit \
                     checksum offload off at the other end of {} (ethtool -K IFACE tx off)",
                    port.spec.number, port.spec.interface
                ));
            }
            let frame = repaired(&frame, &mut self.scratch);
            if let Some(capture) = &mut port.capture {
                capture.frame(sample.wall_time(at), frame);
            }
            accept(at, port.spec.number, frame);
        }
        ring.release();
        port.check_ring(sample);
        true
    }

    /// Call this after a wait. It handles interfaces that went down or disappeared, and attaches those that returned.
    /// Returns the changes.
    pub fn check_interfaces(&mut self, now: Nanos) -> Vec<Attachment> {
        let look_for_lost = now >= self.next_reattach;
        let mut changes = Vec::new();
        for port in &mut self.ports {
            let before = port.ring.as_ref().map(RxRing::interface);
            port.check_error();
            if look_for_lost {
                port.check_return();
            }
            let after = port.ring.as_ref().map(RxRing::interface);
            if before != after {
                changes.push(Attachment {
                    port: port.spec.number,
                    interface: after,
                });
            }
        }
        if look_for_lost {
            self.next_reattach = now + REATTACH_EVERY;
        }
        changes
    }

    /// Latest time of the next [`Receiver::check_interfaces`]; `None` while every interface is up.
    pub fn next_check(&self) -> Option<Nanos> {
        self.ports.iter().any(|port| !port.up).then_some(self.next_reattach)
    }

    /// Updates which links are up. Call this when a link has changed.
    pub fn refresh_links(&mut self) {
        for port in &mut self.ports {
            let ring = port.ring.as_ref();
            port.running = ring.is_some_and(|ring| ring.is_running(&port.spec.interface));
        }
    }

    pub fn links(&self) -> Links {
        let link = |port: &RxPort| Link {
            interface: port.spec.interface.clone(),
            up: port.up && port.running,
        };
        self.ports.iter().map(|port| (port.spec.number, link(port))).collect()
    }

    /// The counts of a port, and whether its interface is up.
    pub fn received(&mut self, number: Port) -> Option<(Received, bool)> {
        let port = self.ports.iter_mut().find(|port| port.spec.number == number)?;
        port.collect_lost();
        Some((port.received, port.up))
    }

    /// Total number of frames that were lost before the switch read them.
    pub fn lost(&mut self) -> u64 {
        self.ports.iter_mut().for_each(RxPort::collect_lost);
        self.ports.iter().map(|port| port.received.lost).sum()
    }

    /// Total number of received frames.
    pub fn packets(&self) -> u64 {
        self.ports.iter().map(|port| port.received.packets).sum()
    }
}

/// The frame as it was on the wire. `scratch` holds it if the kernel had changed it.
fn repaired<'a>(frame: &RingFrame<'a>, scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if frame.vlan.is_none() && !frame.checksum_missing {
        return frame.bytes;
    }
    scratch.clear();
    scratch.extend_from_slice(frame.bytes);
    if frame.checksum_missing {
        complete_checksum(scratch);
    }
    if let Some(tag) = frame.vlan {
        insert_tag(scratch, tag);
    }
    scratch
}

impl RxPort {
    fn new(spec: PortSpec, ring: RxRing) -> RxPort {
        let ring_is_running = ring.is_running(&spec.interface);
        RxPort {
            spec,
            ring: Some(ring),
            running: ring_is_running,
            up: true,
            head: None,
            received: Received::default(),
            capture: None,
            warned_of_length: false,
            warned_of_checksum: false,
        }
    }

    fn check_ring(&mut self, sample: WallClockSample) {
        self.head = self
            .ring
            .as_ref()
            .and_then(RxRing::head_time)
            .map(|wall| sample.switch_time(wall));
    }

    fn collect_lost(&mut self) {
        if let Some(ring) = &self.ring {
            self.received.lost += ring.take_lost();
        }
    }

    fn check_error(&mut self) {
        let Some(error) = self.ring.as_ref().and_then(RxRing::take_error) else {
            return;
        };
        let (number, interface) = (self.spec.number, &self.spec.interface);
        if interface_index(interface).ok() == self.ring.as_ref().map(RxRing::interface) {
            if self.up {
                log::warn(&format!("port {number}: interface {interface} went down ({error})"));
            }
        } else {
            log::warn(&format!(
                "port {number}: interface {interface} disappeared; waiting for it to come back"
            ));
            self.collect_lost();
            self.ring = None;
            self.head = None;
        }
        self.up = false;
    }

    fn check_return(&mut self) {
        if self.up {
            return;
        }
        let (number, interface) = (self.spec.number, &self.spec.interface);
        if let Some(ring) = &self.ring {
            self.up = ring.is_up(interface);
        } else if let Ok(ring) = RxRing::open(interface) {
            self.up = ring.is_up(interface);
            self.ring = Some(ring);
        }
        if self.up {
            self.running = self.ring.as_ref().is_some_and(|ring| ring.is_running(interface));
            log::info(&format!("port {number}: interface {interface} is back"));
        }
    }
}
