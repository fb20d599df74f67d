//! The data-plane thread: one loop that owns all ports. It owns the device too, except while it sleeps.

use std::num::NonZeroU64;
use std::sync::mpsc;
use std::sync::{Arc, MutexGuard};

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::{Device, Fidelity, PortCounts, Ports};
use p4sched_engine::{Frame, FrameSink};
use p4sched_p4runtime::Job;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::clock::{Clock, thread_cpu_time};
use crate::gathering::Gathering;
use crate::lending::{Lendable, Lending};
use crate::log;
use crate::ports::{KernelInterfaces, PortSpec, Qdiscs, Receiver, Transmitter, make_real_time};
use crate::stalls::Stalls;
use crate::waker::Waker;

/// The number of frames that are taken from the rings before the resulting frames are sent.
const FRAMES_AT_A_TIME: usize = 32;
/// The number of requests that are handled between two checks of the rings.
const JOBS_AT_A_TIME: usize = 4;
/// Time in ns between two checks of the interfaces. While traffic flows, nothing waits for errors of the sockets, so
/// the switch notices with this delay that an interface disappeared.
const LOOK_AT_INTERFACES_EVERY: Nanos = 100_000_000;
/// Allowed delay at the end of a sleep.
const TIMER_SLACK_NS: u64 = 1_000;

/// The state of the thread.
pub struct Switch {
    lending: Arc<Lending>,
    ports: AttachedPorts,
    jobs: mpsc::Receiver<Job>,
    waker: Waker,
    clock: Clock,
    stalls: Option<Stalls>,
    gathering: Gathering,
    /// Time of the next check of the interfaces, which happens even without an error of a socket.
    next_look: Nanos,
    /// Reports changes of the interfaces to gNMI.
    interfaces: KernelInterfaces,
}

/// The counts of a whole run.
#[derive(Debug, Clone, Copy)]
pub struct Totals {
    pub received: u64,
    pub sent: u64,
    /// Packets that the program and the queues dropped.
    pub dropped: u64,
    /// Frames lost before the switch read them.
    pub rx_lost: u64,
    /// Frames that an interface refused.
    pub tx_errors: u64,
    /// Frames for ports without an interface.
    pub unconnected: u64,
}

impl Switch {
    /// Creates the switch. Requests come through `jobs`; their senders use `waker`.
    pub fn new(
        lending: Arc<Lending>,
        receiver: Receiver,
        transmitter: Transmitter,
        jobs: mpsc::Receiver<Job>,
        waker: Waker,
        clock: Clock,
        stalls: Option<Stalls>,
    ) -> Switch {
        let qdiscs = Qdiscs::watch().inspect_err(|error| {
            log::warn(&format!("cannot watch for changes of queueing disciplines: {error}"));
        });
        let mut ports = AttachedPorts {
            receiver,
            transmitter,
            qdiscs: qdiscs.ok(),
            clock,
            since: Baseline::default(),
        };
        let device = &mut lending.take().device;
        ports.follow_disciplines(device);
        device.set_links(ports.receiver.links());
        Switch {
            lending: Arc::clone(&lending),
            ports,
            jobs,
            waker,
            clock,
            stalls,
            gathering: Gathering::new(),
            next_look: 0,
            interfaces: KernelInterfaces::new(),
        }
    }

    /// Reports changes of the interfaces there.
    #[must_use]
    pub fn reporting_to(self, interfaces: KernelInterfaces) -> Switch {
        Switch { interfaces, ..self }
    }

    /// Runs on the calling thread until every sender of jobs is gone. If `real_time`, it runs before all other threads.
    pub fn run(mut self, real_time: bool) -> Totals {
        if real_time && let Err(error) = make_real_time() {
            log::info(&format!(
                "the data plane shares the processors with everything else: real-time priority: {error}"
            ));
        }
        // Best effort: without it, a sleep may end 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS));
        self.ports.since = Baseline {
            at: self.clock.now(),
            cpu: thread_cpu_time(),
            ..Baseline::default()
        };
        let lending = Arc::clone(&self.lending);
        let mut lendable = lending.take();
        loop {
            if let Some(stall) = self.stalls.as_mut().and_then(|stalls| stalls.due(self.clock.now())) {
                sleep(stall);
            }
            let emptied = self.handle_frames(&mut lendable);
            let Ok(answered) = self.handle_jobs(&mut lendable.device) else {
                break;
            };
            if emptied && answered {
                lendable = self.wait(lendable, &lending);
            }
        }
        self.totals(&lendable.device)
    }

    /// Handles arrived frames in the order of arrival on all ports, and sends the frames that are due. Returns false if
    /// more frames may be waiting.
    fn handle_frames(&mut self, Lendable { device, last_frame, .. }: &mut Lendable) -> bool {
        let AttachedPorts {
            receiver, transmitter, ..
        } = &mut self.ports;
        let sample = self.clock.sample();
        receiver.check_rings(sample);
        for _ in 0..FRAMES_AT_A_TIME {
            let taken = receiver.take_oldest(sample, sample.now, |at, port, frame| {
                device.receive(at, port, frame, transmitter);
            });
            if taken {
                self.gathering.count();
                *last_frame = Some(sample.now);
            }
            // A frame that was given to a discipline may already have left it. Then the next one may leave its queue.
            if taken && transmitter.has_queued() {
                fill(device, transmitter);
            }
            if !taken {
                device.advance(sample.now, transmitter);
                self.send(device);
                return true;
            }
        }
        self.send(device);
        false
    }

    /// Sends the waiting frames, as far as the disciplines of the interfaces take them.
    fn send(&mut self, device: &mut Device) {
        self.ports.transmitter.flush();
        fill(device, &mut self.ports.transmitter);
    }

    /// Handles requests. Returns false if more requests may be waiting, and an error if all senders are gone.
    fn handle_jobs(&mut self, device: &mut Device) -> Result<bool, mpsc::TryRecvError> {
        for _ in 0..JOBS_AT_A_TIME {
            let job = match self.jobs.try_recv() {
                Ok(job) => job,
                Err(mpsc::TryRecvError::Empty) => return Ok(true),
                Err(gone) => return Err(gone),
            };
            let now = self.clock.now();
            device.advance(now, &mut self.ports.transmitter);
            job(device, &mut self.ports, now);
            self.ports.follow_disciplines(device);
            self.update_links(device, false);
            self.send(device);
            self.follow_delays(device);
        }
        Ok(false)
    }

    fn follow_delays(&mut self, device: &Device) {
        let engine = device.engine();
        let delays = (self.ports.receiver.specs()).map(|spec| engine.port(spec.number).config.delay_ns);
        self.gathering
            .follow_delays(engine.shortest_delay(), delays.min().unwrap_or(0));
    }

    /// Waits for a frame, a request or the next event, and lends the device in the meantime. It also handles interfaces
    /// that appear and disappear.
    fn wait<'l>(&mut self, mut lendable: MutexGuard<'l, Lendable>, lending: &'l Lending) -> MutexGuard<'l, Lendable> {
        let now = self.clock.now();
        let next = [lendable.device.next_event(), self.ports.receiver.next_check()]
            .into_iter()
            .flatten()
            .min();
        let left = next.map(|at| at.saturating_sub(now).max(self.gathering.sleep()));
        if let Some(pause) = self.gathering.pause(now) {
            let time = left.map_or(pause, |left| left.min(pause));
            let mut request = [PollFd::new(self.waker.event(), PollFlags::IN)];
            // An interrupted wait counts as a short wait.
            if poll(&mut request, Some(&timespec(time))).is_ok_and(|ready| ready > 0) {
                self.waker.clear();
            }
            self.follow_interfaces(&mut lendable.device, false);
            return lendable;
        }
        flush_records(&mut self.ports.receiver, &mut self.ports.transmitter);
        let timeout = left.map(timespec);
        let mut waited: Vec<PollFd<'_>> = Vec::with_capacity(16);
        waited.push(PollFd::new(self.waker.event(), PollFlags::IN));
        waited.extend(
            self.ports
                .receiver
                .descriptors()
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
        );
        let rings = waited.len();
        waited.extend(
            self.ports
                .qdiscs
                .iter()
                .map(|qdiscs| PollFd::new(qdiscs, PollFlags::IN)),
        );
        let queued = waited.len();
        let closed = self.ports.transmitter.closed();
        waited.extend(closed.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        lendable.wakes = next;
        drop(lendable);
        let _ = poll(&mut waited, timeout.as_ref());
        let mut lendable = lending.take();
        let woken = !waited[0].revents().is_empty();
        let disciplines = waited[rings..queued].iter().any(|fd| !fd.revents().is_empty());
        let trouble = waited[1..]
            .iter()
            .any(|fd| fd.revents().intersects(!(PollFlags::IN | PollFlags::OUT)));
        drop(waited);
        if woken {
            self.waker.clear();
        }
        if disciplines {
            self.follow_changes(&mut lendable.device);
        }
        self.follow_interfaces(&mut lendable.device, trouble);
        lendable
    }

    fn follow_interfaces(&mut self, device: &mut Device, trouble: bool) {
        let now = self.clock.now();
        let AttachedPorts {
            receiver, transmitter, ..
        } = &mut self.ports;
        let due = now >= self.next_look || receiver.next_check().is_some_and(|at| at <= now);
        if trouble || due {
            self.next_look = now + LOOK_AT_INTERFACES_EVERY;
            flush_records(receiver, transmitter);
            for change in receiver.check_interfaces(now) {
                if let Err(error) = transmitter.attach(change) {
                    log::warn(&format!("port {}: cannot send: {error}", change.port));
                }
            }
            self.update_links(device, false);
            self.follow_changes(device);
        }
    }

    /// Handles changes of the interfaces, by `tc` for example.
    fn follow_changes(&mut self, device: &mut Device) {
        if self.ports.refresh_interfaces(device) {
            self.update_links(device, true);
        }
    }

    /// Passes the state of the links on to the device, and reports a change, which the caller may know of.
    fn update_links(&mut self, device: &mut Device, changed: bool) {
        if device.set_links(self.ports.receiver.links()) || changed {
            self.interfaces.report();
        }
    }

    fn totals(&mut self, device: &Device) -> Totals {
        flush_records(&mut self.ports.receiver, &mut self.ports.transmitter);
        let sent = self.ports.transmitter.total();
        Totals {
            received: self.ports.receiver.packets(),
            sent: sent.packets,
            dropped: device.engine().balance().dropped(),
            rx_lost: self.ports.receiver.lost(),
            tx_errors: sent.errors,
            unconnected: self.ports.transmitter.without_interface(),
        }
    }
}

/// Lets packets leave their queues as long as the disciplines of their interfaces take them. The others wait, so that
/// the switch chooses the most urgent one when there is room.
fn fill(device: &mut Device, transmitter: &mut Transmitter) {
    loop {
        transmitter.flush_queued();
        let mut any_leaves = false;
        for (port, room) in transmitter.rooms() {
            any_leaves |= device.set_room(port, room);
        }
        if !any_leaves {
            return;
        }
        device.advance(device.engine().clock(), transmitter);
    }
}

fn flush_records(receiver: &mut Receiver, transmitter: &mut Transmitter) {
    receiver.flush_records();
    transmitter.flush_records();
}

/// Sleeps without any work. An interrupted sleep counts as a short sleep.
fn sleep(time: Nanos) {
    let _ = rustix::thread::nanosleep(&timespec(time));
}

fn timespec(time: Nanos) -> Timespec {
    Timespec {
        tv_sec: (time / 1_000_000_000).cast_signed(),
        tv_nsec: (time % 1_000_000_000).cast_signed(),
    }
}

impl FrameSink for Transmitter {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.push(port, frame, due);
    }
}

/// The receiving and the sending side of all ports.
struct AttachedPorts {
    receiver: Receiver,
    transmitter: Transmitter,
    qdiscs: Option<Qdiscs>,
    clock: Clock,
    since: Baseline,
}

impl AttachedPorts {
    /// Sends frames through a discipline that limits an interface, unless the traffic manager shapes the port.
    fn follow_disciplines(&mut self, device: &Device) {
        self.transmitter
            .follow_disciplines(|port| device.engine().port(port).config.rate_bps > 0);
    }

    /// Checks the disciplines and links if any has changed. Returns whether it did.
    fn refresh_interfaces(&mut self, device: &Device) -> bool {
        let changed = self.qdiscs.as_ref().is_some_and(Qdiscs::changed);
        if changed {
            self.transmitter.refresh_disciplines();
            self.receiver.refresh_links();
        }
        self.follow_disciplines(device);
        changed
    }
}

/// The start of the present measurement of fidelity.
#[derive(Debug, Clone, Copy, Default)]
struct Baseline {
    at: Nanos,
    cpu: u64,
    rx_lost: u64,
    tx_errors: u64,
}

impl FrameSink for AttachedPorts {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.transmitter.push(port, frame, due);
    }
}

impl Ports for AttachedPorts {
    fn numbers(&self) -> Vec<Port> {
        let mut numbers: Vec<Port> = self.receiver.specs().map(|spec| spec.number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn counts(&mut self, port: Port) -> PortCounts {
        // Frames that have left the program are sent before they are counted.
        self.transmitter.flush();
        self.transmitter.flush_queued();
        let interface = self
            .receiver
            .specs()
            .find(|spec| spec.number == port)
            .map(|spec| spec.interface.clone());
        let (received, up) = self.receiver.received(port).unwrap_or_default();
        let sent = self.transmitter.sent(port).unwrap_or_default();
        PortCounts {
            interface: interface.unwrap_or_default(),
            up,
            rx_packets: received.packets,
            rx_bytes: received.bytes,
            tx_packets: sent.packets,
            tx_bytes: sent.bytes,
            tx_errors: sent.errors,
            rx_lost: received.lost,
        }
    }

    fn add(&mut self, port: Port, interface: &str) -> Result<(), String> {
        if let Some(taken) = self.receiver.specs().find(|spec| spec.number == port) {
            return Err(format!("port {port} has the interface {}", taken.interface));
        }
        if let Some(taken) = self.receiver.specs().find(|spec| spec.interface == interface) {
            return Err(format!("interface {interface} is that of port {}", taken.number));
        }
        let spec = PortSpec {
            number: port,
            interface: interface.to_owned(),
        };
        let added = self.receiver.add(spec);
        added
            .and_then(|attachment| self.transmitter.attach(attachment))
            .map_err(|error| {
                let _ = self.remove(port);
                format!("port {port}: cannot open interface {interface}: {error}")
            })
    }

    fn remove(&mut self, port: Port) -> Result<(), String> {
        if !self.receiver.remove(port) {
            return Err(format!("port {port} has no interface"));
        }
        self.transmitter.detach(port);
        Ok(())
    }

    fn fidelity(&mut self, reset: bool) -> Fidelity {
        let lateness = self.transmitter.lateness(reset);
        let here = Baseline {
            at: self.clock.now(),
            cpu: thread_cpu_time(),
            rx_lost: self.receiver.lost(),
            tx_errors: self.transmitter.total().errors,
        };
        let since = self.since;
        if reset {
            self.since = here;
        }
        Fidelity {
            measured_ns: here.at - since.at,
            departures: lateness.count(),
            lateness_p50_ns: lateness.quantile(0.5),
            lateness_p99_ns: lateness.quantile(0.99),
            lateness_p999_ns: lateness.quantile(0.999),
            lateness_max_ns: lateness.max(),
            rx_lost: here.rx_lost - since.rx_lost,
            tx_errors: here.tx_errors - since.tx_errors,
            cpu_ns: here.cpu - since.cpu,
        }
    }
}
