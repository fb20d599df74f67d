//! Captured packets through a program, in stepped time: no ports, no clock.

use std::sync::{Arc, Mutex, PoisonError};

use p4sched_dataplane::{Event, Frame, Nanos, Port};
use p4sched_device::{Device, Fidelity, PortCounts, Ports, Program};
use p4sched_engine::{Engine, FrameSink};

use crate::packet::Packet;

/// When the first packet arrives.
const START: Nanos = 1_000_000;

/// Departures and recirculations that one packet may cause. A packet that recirculates for ever ends there.
const STEPS: usize = 10_000;

/// A switch that one packet at a time goes through.
pub struct Bench {
    device: Device,
    now: Nanos,
    /// When the first packet was captured.
    first_ns: Option<u64>,
    seen: Arc<Mutex<Vec<Event>>>,
}

impl Bench {
    /// A switch with this program, in its initial state.
    ///
    /// # Errors
    /// Why the switch cannot take it.
    pub fn new(program: Program) -> Result<Bench, String> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let mut engine = Engine::new();
        engine.trace(Box::new(move |mut event| {
            // Captures count from 1.
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

    /// The switch, to write entries.
    pub fn device(&mut self) -> (&mut Device, Nanos) {
        (&mut self.device, self.now)
    }

    /// How long after the first packet this one was captured, in ns; the first is the one that is asked for first.
    pub fn since_first(&mut self, packet: &Packet) -> Nanos {
        let first_ns = *self.first_ns.get_or_insert(packet.time_ns);
        packet.time_ns.saturating_sub(first_ns)
    }

    /// Lets a packet arrive by a port, as long after the first as it was captured, but not before all is done that the one
    /// before has caused. Returns what happens to it; false if it goes on for ever.
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

/// Where frames go: their events say so.
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
