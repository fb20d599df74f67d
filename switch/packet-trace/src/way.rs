//! Sends captured packets through a program in stepped time: no ports, no clock.

use std::sync::{Arc, Mutex, PoisonError};

use p4sched_dataplane::{Event, Frame, Nanos, Port};
use p4sched_device::{Device, Fidelity, PortCounts, Ports, Program};
use p4sched_engine::{Engine, FrameSink};

use crate::packet::Packet;

/// Arrival time of the first packet, in ns.
const START: Nanos = 1_000_000;

/// The most departures and recirculations that one packet may cause. It stops a packet that recirculates for ever.
const STEPS: usize = 10_000;

/// A switch that packets pass one at a time.
pub struct Bench {
    device: Device,
    now: Nanos,
    /// Capture time of the first packet.
    first_ns: Option<u64>,
    seen: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    /// Creates a switch with this program, in its initial state.
    ///
    /// # Errors
    /// The reason why the switch cannot run the program.
    pub fn new(program: Program) -> Result<Bench, String> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let mut engine = Engine::new();
        engine.trace(Box::new(move |mut event| {
            // Packet numbers of a capture start at 1.
            event.id.packet += 1;
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }));
        let mut device = Device::new(0, engine, Box::new(|_| true));
        device.commit(program).map_err(|fault| fault.message)?;
        Ok(Bench {
            device,
            now: START,
            first_ns: None,
            seen,
        })
    }

    /// The switch and its time, for writing entries.
    pub fn device(&mut self) -> (&mut Device, Nanos) {
        (&mut self.device, self.now)
    }

    /// The time in ns between the captures of the first packet and this one. The first packet is the one of the first
    /// call.
    pub fn since_first(&mut self, packet: &Packet) -> Nanos {
        let first_ns = *self.first_ns.get_or_insert(packet.time_ns);
        packet.time_ns.saturating_sub(first_ns)
    }

    /// Lets a packet arrive on a port, at the time of its capture relative to the first packet, but not before all
    /// effects of the packet before it are complete. Returns its events, and false if it does not end.
    pub fn send(&mut self, port: Port, packet: &Packet) -> (Vec<Event>, bool) {
        self.now = self.now.max(START + self.since_first(packet));
        self.device.receive(self.now, port, &packet.frame, &mut NoPorts);
        let mut ended = false;
        for _ in 0..STEPS {
            let Some(next) = self.device.engine().next_event() else {
                ended = true;
                break;
            };
            self.now = self.now.max(next);
            self.device.advance(self.now, &mut NoPorts);
        }
        let events = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        (events, ended)
    }
}

/// Discards frames: events describe them.
pub struct NoPorts;

impl FrameSink for NoPorts {
    fn transmit(&mut self, _port: Port, _frame: &mut Frame, _due: Nanos) {}
}

impl Ports for NoPorts {
    fn numbers(&self) -> Vec<Port> {
        Vec::new()
    }

    fn counts(&mut self, _port: Port) -> PortCounts {
        PortCounts::default()
    }

    fn fidelity(&mut self, _reset: bool) -> Fidelity {
        Fidelity::default()
    }
}
