//! Limit on a port's frames in the kernel, if the queueing discipline of its interface limits it.
//!
//! What is in the kernel can no longer be reordered: an urgent packet waits for all of it. So a slow interface has one frame there, and the
//! next is chosen when that has left. A fast one would stand still until the switch has woken up. So it has what it passes on in half
//! a millisecond.

use p4sched_dataplane::Nanos;

/// The kernel's charge on a socket for a full frame: `truesize` of a `sk_buff` with 2048 bytes.
pub const FULL_FRAME: u32 = 2304;
/// Its approximate charge for any frame, in addition to the bytes.
const BOOKKEEPING: u64 = 768;
/// Full frames. 16 are 0.2 ms at 1 Gbit/s.
const MOST_FRAMES: u64 = 16;
/// The time in which the switch wakes up and fills the kernel again.
const AHEAD: Nanos = 500_000;
/// Time in which frames are counted for a rate.
const COUNTED_FOR: Nanos = 10_000_000;

#[derive(Debug)]
pub struct Window {
    frames: u32,
    since: Nanos,
    bytes: u64,
}

impl Window {
    /// Window of one frame, until the rate is known.
    pub fn new() -> Window {
        Window {
            frames: 1,
            since: 0,
            bytes: 0,
        }
    }

    /// Size in the kernel's bytes.
    pub fn bytes(&self) -> u32 {
        self.frames * FULL_FRAME
    }

    /// A frame of this length went into the kernel.
    pub fn count(&mut self, len: usize) {
        self.bytes += len as u64 + BOOKKEEPING;
    }

    /// Follows the rate. Returns true if the size changed.
    pub fn follow(&mut self, now: Nanos) -> bool {
        let counted_for = now - self.since;
        if counted_for < COUNTED_FOR {
            return false;
        }
        let frames = (self.bytes * AHEAD / counted_for).div_ceil(u64::from(FULL_FRAME));
        let frames = frames.clamp(1, MOST_FRAMES) as u32;
        (self.since, self.bytes) = (now, 0);
        std::mem::replace(&mut self.frames, frames) != frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of the window after 100 ms of full frames at this rate.
    fn frames_at(window: &mut Window, begin: Nanos, mbit: u64) -> u32 {
        let gap = 1514 * 8 * 1000 / mbit;
        for number in 0..100_000_000 / gap {
            window.count(1514);
            window.follow(begin + number * gap);
        }
        window.bytes() / FULL_FRAME
    }

    #[test]
    fn a_slow_interface_has_one_frame_in_the_kernel_and_a_fast_one_half_a_millisecond() {
        let mut window = Window::new();
        assert_eq!(window.bytes(), FULL_FRAME);
        let rates = [5, 10, 20, 50, 100, 200, 1000, 10_000, 10];
        let frames = (1..)
            .zip(rates)
            .map(|(number, mbit)| frames_at(&mut window, number * 100_000_000, mbit));
        assert_eq!(frames.collect::<Vec<_>>(), [1, 1, 1, 3, 5, 9, 16, 16, 1]);
    }

    #[test]
    fn small_frames_count_as_the_kernel_charges_them() {
        let mut window = Window::new();
        for number in 0..10_000 {
            window.count(60);
            window.follow(number * 50_000);
        }
        // Ten of them in half a millisecond, 768 bytes each and their own.
        assert_eq!(window.bytes(), 4 * FULL_FRAME);
    }
}
