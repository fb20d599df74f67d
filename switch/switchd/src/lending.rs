//! The device. The data-plane thread owns it while it works, and lends it while it sleeps.
//!
//! A request that goes to the data-plane thread and back wakes two threads. That takes longer than a small request
//! itself. So while the switch is quiet, the server's thread handles small requests, and the data-plane thread sleeps
//! on.
//!
//! The data-plane thread has real-time priority and the server's thread does not: other processes may delay the return
//! of the device. So the device is not lent while frames arrive or are about to leave.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::Device;
use p4sched_engine::{Frame, FrameSink};
use p4sched_p4runtime::Edit;

use crate::clock::Clock;
use crate::waker::Waker;

/// The switch is quiet if no frame came for this time, and nothing is due within it. In ns.
const QUIET: Nanos = 1_000_000;

/// The device, and the times that decide whether it may be lent.
pub struct Lendable {
    pub device: Device,
    /// Time of the last frame.
    pub last_frame: Option<Nanos>,
    /// Time at which the data-plane thread wakes on its own; `None` if never.
    pub wakes: Option<Nanos>,
}

pub struct Lending {
    lendable: Mutex<Lendable>,
    waker: Waker,
    clock: Clock,
}

impl Lending {
    /// `waker` wakes the data-plane thread.
    pub fn new(device: Device, waker: Waker, clock: Clock) -> Lending {
        let lendable = Lendable {
            device,
            last_frame: None,
            wakes: None,
        };
        Lending {
            lendable: Mutex::new(lendable),
            waker,
            clock,
        }
    }

    /// The device for the data-plane thread. The call waits for one edit at most.
    ///
    /// # Panics
    /// If an edit has panicked.
    pub fn take(&self) -> MutexGuard<'_, Lendable> {
        let broken = |_: PoisonError<_>| panic!("a request failed in the middle");
        self.lendable.lock().unwrap_or_else(broken)
    }

    /// Runs an edit on the calling thread. Returns the edit if the switch is not quiet.
    pub fn edit(&self, edit: Edit) -> Option<Edit> {
        let mut lent = match self.lendable.try_lock() {
            Ok(lent) => lent,
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => return Some(edit),
        };
        let now = self.clock.now();
        let next = lent.device.next_event();
        if lent.last_frame.is_some_and(|last| now < last + QUIET) || next.is_some_and(|next| next < now + QUIET) {
            return Some(edit);
        }
        lent.device.advance(now, &mut NothingIsDue);
        edit(&mut lent.device, now);
        let next = lent.device.next_event();
        let sleeps_too_long = next.is_some_and(|next| lent.wakes.is_none_or(|wakes| next < wakes));
        drop(lent);
        if sleeps_too_long {
            self.waker.wake();
        }
        None
    }
}

struct NothingIsDue;

impl FrameSink for NothingIsDue {
    fn transmit(&mut self, port: Port, _: &mut Frame, due: Nanos) {
        debug_assert!(false, "a frame for port {port} was due at {due}");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use p4sched_engine::Engine;

    use super::*;

    /// Whether an edit runs immediately.
    fn runs(lending: &Lending) -> bool {
        let (ran, runs) = mpsc::channel();
        let left = lending.edit(Box::new(move |_, _| ran.send(()).expect("somebody listens")));
        assert_eq!(left.is_none(), runs.try_recv().is_ok());
        left.is_none()
    }

    #[test]
    fn an_edit_runs_at_once_only_while_the_switch_is_quiet() {
        let clock = Clock::start();
        let device = Device::new(1, Engine::new(), Box::new(|_| true));
        let lending = Lending::new(device, Waker::new().expect("an eventfd"), clock);
        assert!(runs(&lending));
        let mut working = lending.take();
        assert!(!runs(&lending), "the data-plane thread has the device");
        // A time in the future, so that the test does not depend on how long it takes.
        working.last_frame = Some(clock.now() + 1_000_000_000);
        drop(working);
        assert!(!runs(&lending), "a frame came just now");
        lending.take().last_frame = None;
        assert!(runs(&lending));
    }
}
