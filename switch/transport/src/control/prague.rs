//! The response of TCP Prague to marks (draft-briscoe-iccrg-prague-congestion-control): DCTCP's estimate of the share of
//! marked segments, with these differences.
//!
//! - The window shrinks at once, to cwnd (1 - alpha / 2), at most once in a round trip, and goes on growing in that round trip.
//!   What a whole number of segments cannot express is kept for the next reduction.
//! - Only segments without a mark make the window grow: by one segment for a window of them.
//!
//! A loss halves the window. The draft's pacing and its growth that is independent of short round trips are left out: in a
//! data centre all round trips are short.

use super::LEAST;
use super::dctcp::{Dctcp, ONE};
use super::window::{Measurement, Window};

#[derive(Clone, Debug)]
pub(crate) struct Prague {
    share: Dctcp,
    /// The next reduction waits until this segment is acknowledged.
    until: u64,
    /// What reductions still owe, in segments / (2 `ONE`).
    owed: u64,
    /// Whether the latest acknowledgement echoes a mark.
    marked: bool,
}

impl Prague {
    pub(super) fn new() -> Self {
        Prague {
            share: Dctcp::new(),
            until: 0,
            owed: 0,
            marked: false,
        }
    }

    pub(super) fn is_marked(&self) -> bool {
        self.marked
    }

    pub(super) fn measure(&mut self, measurement: &Measurement, window: &mut Window) {
        self.share.measure(measurement);
        self.marked = measurement.marked;
        if !self.marked || measurement.una < self.until {
            return;
        }
        self.until = measurement.next;
        self.reduce(self.share.alpha(), window);
    }

    fn reduce(&mut self, alpha: u32, window: &mut Window) {
        self.owed += u64::from(window.cwnd) * u64::from(alpha);
        let whole = self.owed / u64::from(2 * ONE);
        self.owed %= u64::from(2 * ONE);
        window.cwnd = window.cwnd.saturating_sub(whole as u32).max(LEAST);
        window.ssthresh = window.ssthresh.min(window.cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Algorithm;

    fn acknowledged(una: u64, marked: bool) -> Measurement {
        Measurement {
            now: 0,
            una,
            next: una + 10,
            delivered: 1,
            marked,
            rtt: None,
            burst_delay: 0,
        }
    }

    fn window(cwnd: u32) -> Window {
        Window {
            cwnd,
            ssthresh: u32::MAX,
            credit: 0,
        }
    }

    #[test]
    fn the_first_mark_halves_the_window_once_in_a_round_trip() {
        let (mut prague, mut window) = (Prague::new(), window(20));
        for una in 1..=10 {
            prague.measure(&acknowledged(una, true), &mut window);
            assert_eq!((window.cwnd, window.ssthresh), (10, 10), "{una}");
        }
        prague.measure(&acknowledged(11, true), &mut window);
        assert_eq!(window.cwnd, 5);
    }

    /// alpha = 1/16 takes 1/32 of a window of 10: 5 segments in 16 reductions, none of which is a whole one.
    #[test]
    fn small_reductions_add_up() {
        let mut prague = Prague::new();
        let taken = (0..16).map(|_| {
            let mut window = window(10);
            prague.reduce(ONE / 16, &mut window);
            10 - window.cwnd
        });
        assert_eq!(
            taken.collect::<Vec<_>>(),
            [0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]
        );
    }

    #[test]
    fn a_window_does_not_grow_by_a_segment_with_a_mark() {
        let mut control = Algorithm::Prague(Prague::new());
        let mut window = Window {
            ssthresh: 10,
            ..window(10)
        };
        for (una, marked) in (1..).zip([false, true].repeat(20)) {
            let mut unchanged = Window { ..window };
            control.measure(&acknowledged(una, marked), &mut unchanged);
            control.grow(0, 1, &mut window);
        }
        assert_eq!(window.cwnd, 11);
    }
}
