//! Keeps the server's thread from sleeping for a moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time that the server stays awake for the next request after an edit. Waking a sleeping processor takes some 15 µs; a
/// client that writes one entry after another sends the next within 100.
const STAYS_AWAKE: Duration = Duration::from_micros(100);

/// See the module. Clones are of the same thread.
#[derive(Clone, Debug)]
pub struct Awake {
    since: Instant,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Nanoseconds after `since`.
    until: AtomicU64,
    /// True if a task keeps the thread awake.
    running: AtomicBool,
}

impl Awake {
    /// A thread that is not awake yet.
    pub fn new() -> Awake {
        Awake {
            since: Instant::now(),
            state: Arc::default(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Keeps the calling thread awake for a moment from now on.
    pub fn stay(&self) {
        let moment = STAYS_AWAKE.as_nanos() as u64;
        self.state
            .until
            .store(self.now().saturating_add(moment), Ordering::Relaxed);
        if self.state.running.swap(true, Ordering::Relaxed) {
            return;
        }
        let awake = self.clone();
        tokio::spawn(async move {
            while awake.now() < awake.state.until.load(Ordering::Relaxed) {
                tokio::task::yield_now().await;
            }
            awake.state.running.store(false, Ordering::Relaxed);
        });
    }
}
