use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes the data-plane thread from any other thread.
#[derive(Clone)]
pub struct Waker {
    event: Arc<OwnedFd>,
}

impl Waker {
    /// # Errors
    /// Those of eventfd(2).
    pub fn new() -> io::Result<Waker> {
        Ok(Waker {
            event: Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?),
        })
    }

    /// Ends the thread's sleep; if it does not sleep, its next sleep ends at once.
    pub fn wake(&self) {
        // Fails only while 2^64 - 2 wake-ups are waiting.
        let _ = rustix::io::write(&*self.event, &1_u64.to_ne_bytes());
    }

    /// Clears the wake-up.
    pub fn clear(&self) {
        let _ = rustix::io::read(&*self.event, &mut [0_u8; 8]);
    }

    /// The descriptor for poll(2).
    pub fn event(&self) -> &OwnedFd {
        &self.event
    }
}
