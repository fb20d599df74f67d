//! Wakes the data-plane thread.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes the data-plane thread from any other.
#[derive(Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    /// A waker for one thread.
    ///
    /// # Errors
    /// Those of eventfd(2).
    pub fn new() -> io::Result<Waker> {
        Ok(Waker {
            event: Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?),
        })
    }

    /// Ends the thread's sleep, or its next one.
    pub fn wake(&self) {
        // Refused only while 2^64 - 2 wake-ups wait already.
        let _ = rustix::io::write(&*self.event, &1_u64.to_ne_bytes());
    }

    /// Forgets what woke the thread.
    pub fn clear(&self) {
        let _ = rustix::io::read(&*self.event, &mut [0_u8; 8]);
    }

    /// What poll(2) waits for.
    pub fn event(&self) -> &OwnedFd {
        &self.event
    }
}
