//! Waits of the data-plane thread: for the next frame, or for a short time in which frames gather.
//!
//! A wake-up costs more than a frame. While many frames come, the thread sleeps between two checks of its ports and
//! then handles all frames that have gathered. While few frames come, most sleeps would gather nothing, so the thread
//! waits for each frame.
//!
//! If every link has a propagation delay, nothing that a frame causes is due before that delay has passed. Then the
//! thread does not wake for frames. It wakes when an event is due, and checks the ports from time to time.
//! The wait does not change any decision, because events are handled in the order of their times. But a frame can leave
//! late, by as long as the thread sleeps.

use p4sched_dataplane::Nanos;

/// A sleep lasts 1/50 of the shortest propagation delay (1 % of a round trip over two equal links), within these bounds
/// in ns.
const SHARE_OF_DELAY: Nanos = 50;
const SHORTEST: Nanos = 50_000;
const LONGEST: Nanos = 500_000;
/// The number of frames that make a sleep worthwhile.
const WORTH_A_SLEEP: u64 = 2;
/// If the thread does not wake for frames, it checks the ports at least this often in the shortest propagation delay.
const LOOKS_IN_A_DELAY: Nanos = 4;
/// The time in ns over which frames are counted for a rate.
const COUNTED_FOR: Nanos = 1_000_000;

#[derive(Debug)]
pub struct Gathering {
    sleep: Nanos,
    /// The longest time that a frame waits if few frames come; 0 means none.
    patience: Nanos,
    /// Start of the present count of frames.
    since: Nanos,
    frames: u64,
    /// Whether the last count was high.
    many: bool,
    /// Whether a frame came since the last wait.
    any: bool,
}

impl Gathering {
    pub fn new() -> Gathering {
        Gathering {
            sleep: SHORTEST,
            patience: 0,
            since: 0,
            frames: 0,
            many: false,
            any: false,
        }
    }

    /// Sets the shortest propagation delay of the links that have one, and the shortest of all links.
    pub fn follow_delays(&mut self, shortest: Option<Nanos>, of_all: Nanos) {
        self.sleep = (shortest.unwrap_or(0) / SHARE_OF_DELAY).clamp(SHORTEST, LONGEST);
        self.patience = (of_all / LOOKS_IN_A_DELAY).min(LONGEST);
    }

    /// The time in which frames gather; it is also the largest delay of an event.
    pub fn sleep(&self) -> Nanos {
        self.sleep
    }

    /// Counts a frame.
    pub fn count(&mut self) {
        self.frames += 1;
        self.any = true;
    }

    /// The time for which the ports need no check, after a check that ends at `now`, if nothing is due earlier. `None`
    /// means: wait for the next frame.
    pub fn pause(&mut self, now: Nanos) -> Option<Nanos> {
        let counted_for = now - self.since;
        if counted_for >= COUNTED_FOR {
            self.many = self.frames.saturating_mul(self.sleep) >= counted_for.saturating_mul(WORTH_A_SLEEP);
            (self.since, self.frames) = (now, 0);
        }
        let any = std::mem::take(&mut self.any);
        let pause = if self.many { self.sleep } else { self.patience };
        (any && pause > 0).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pauses after each frame of one second; a frame comes every `gap` ns.
    fn pauses(gathering: &mut Gathering, begin: Nanos, gap: Nanos) -> Vec<Option<Nanos>> {
        let times = (1..).map(|number| begin + number * gap);
        let pauses = times.take_while(|&at| at < begin + 1_000_000_000).map(|at| {
            gathering.count();
            gathering.pause(at)
        });
        pauses.collect()
    }

    #[test]
    fn frames_gather_while_a_sleep_brings_two_of_them() {
        let mut gathering = Gathering::new();
        let dense = pauses(&mut gathering, 0, 25_000);
        // The rate is known after the first millisecond.
        assert!(dense[..39].iter().all(Option::is_none) && dense[39..].iter().all(|pause| *pause == Some(50_000)));
        let sparse = pauses(&mut gathering, 1_000_000_000, 30_000);
        assert!(sparse[40..].iter().all(Option::is_none));
    }

    #[test]
    fn a_look_that_finds_nothing_ends_the_sleeps() {
        let mut gathering = Gathering::new();
        pauses(&mut gathering, 0, 5_000);
        gathering.count();
        assert_eq!(gathering.pause(1_000_001_000), Some(50_000));
        assert_eq!(gathering.pause(1_000_051_000), None);
    }

    #[test]
    fn few_frames_wait_for_a_look_while_all_links_have_a_delay() {
        let mut gathering = Gathering::new();
        let mut paused = |of_all| {
            gathering.follow_delays(Some(1_000_000), of_all);
            gathering.count();
            (gathering.pause(0), gathering.pause(0))
        };
        assert_eq!(paused(1_000_000), (Some(250_000), None));
        assert_eq!(paused(50_000_000), (Some(500_000), None));
        assert_eq!(paused(0), (None, None));
    }

    #[test]
    fn a_sleep_is_a_hundredth_of_a_round_trip() {
        let mut gathering = Gathering::new();
        let sleeps = [None, Some(1_000_000), Some(5_000_000), Some(100_000_000)].map(|delay| {
            gathering.follow_delays(delay, 0);
            gathering.sleep()
        });
        assert_eq!(sleeps, [50_000, 50_000, 100_000, 500_000]);
    }
}
