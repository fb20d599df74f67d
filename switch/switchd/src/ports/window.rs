//! The limit for a port's frames in the kernel, if the interface has a queueing discipline that limits the rate.
//!
//! Frames in the kernel can no longer be reordered: an urgent packet waits for all of them. So a slow interface has
//! only one frame in the kernel, and the switch chooses the next one when that has left. With one frame, a fast
//! interface would be idle until the switch wakes up. So it has as many frames as it sends in half a millisecond.

use p4sched_dataplane::Nanos;

/// The bytes that the kernel charges a socket for a full frame: `truesize` of a `sk_buff` with 2048 bytes.
pub const FULL_FRAME: u32 = 2304;
/// The bytes that it charges for any frame, in addition to the frame's length (approximate).
const BOOKKEEPING: u64 = 768;
/// Largest window, in full frames. 16 frames take 0.2 ms at 1 Gbit/s.
const MOST_FRAMES: u64 = 16;
/// Time in ns that the switch needs to wake up and fill the kernel again.
const AHEAD: Nanos = 500_000;
/// The time in ns over which frames are counted for a rate.
const COUNTED_FOR: Nanos = 10_000_000;

#[derive(Debug)]
pub struct Window {
    frames: u32,
    since: Nanos,
    bytes: u64,
}

impl Window {
    /// A window of one frame, until the rate is known.
    pub fn new() -> Window {
        Window {
            frames: 1,
            since: 0,
            bytes: 0,
        }
    }

    /// Size of the window in bytes, as the kernel counts them.
    pub fn bytes(&self) -> u32 {
        self.frames * FULL_FRAME
    }

    /// Counts a frame of this length that went into the kernel.
    pub fn count(&mut self, len: usize) {
        self.bytes += len as u64 + BOOKKEEPING;
    }

    /// Adapts the window to the rate. Returns true if the size changed.
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

    /// The size of the window in frames after 100 ms of full frames at this rate.
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
        // Half a millisecond is ten frames; each is charged its length plus 768 bytes.
        assert_eq!(window.bytes(), 4 * FULL_FRAME);
    }
}
