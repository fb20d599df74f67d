//! Keeps the server's thread awake for a short time after a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time that the server stays awake for the next request after an edit. Waking a sleeping processor takes about 15 µs.
/// A client that writes one entry after another sends the next one within 100 µs.
const STAYS_AWAKE: Duration = Duration::from_micros(100);

/// Keeps a thread awake. Clones refer to the same thread.
#[derive(Clone, Debug)]
pub struct Awake {
    since: Instant,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// End of the wakefulness, in ns after `since`.
    until: AtomicU64,
    /// Whether a task keeps the thread awake.
    running: AtomicBool,
}

impl Awake {
    pub fn new() -> Awake {
        Awake {
            since: Instant::now(),
            state: Arc::default(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Keeps the calling thread awake for [`STAYS_AWAKE`] from now on.
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
