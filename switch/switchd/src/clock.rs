//! The switch's clock: nanoseconds since the switch started, and the conversion of the kernel's timestamps.

use p4sched_dataplane::Nanos;
use p4sched_device::Notification;
use p4sched_proto::p4::v1::{DigestList, IdleTimeoutNotification};
use rustix::time::{ClockId, Timespec, clock_gettime};

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A monotonic clock that starts at 0 when it is created.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
}

impl Clock {
    pub fn start() -> Clock {
        Clock {
            start: nanoseconds(clock_gettime(ClockId::Monotonic)),
        }
    }

    pub fn now(&self) -> Nanos {
        nanoseconds(clock_gettime(ClockId::Monotonic)) - self.start
    }

    /// The conversion from the wall clock, which stamps received frames, to this clock. Call it again for each use:
    /// then a change of the wall clock affects only the frames of that moment.
    pub fn sample(&self) -> WallClockSample {
        let now = self.now();
        WallClockSample {
            now,
            wall: nanoseconds(clock_gettime(ClockId::Realtime)),
        }
    }
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct WallClockSample {
    /// The moment on the switch's clock.
    pub now: Nanos,
    wall: u64,
}

impl WallClockSample {
    /// The switch time of a wall-clock time; a time before the switch's start becomes 0.
    pub fn switch_time(&self, wall: u64) -> Nanos {
        if wall >= self.wall {
            self.now + (wall - self.wall)
        } else {
            self.now.saturating_sub(self.wall - wall)
        }
    }

    /// The wall-clock time, in ns since 1970, of a switch time.
    pub fn wall_time(&self, at: Nanos) -> u64 {
        (self.wall + at).saturating_sub(self.now)
    }

    /// Replaces the switch time in a notification with the wall-clock time, as P4Runtime requires.
    pub fn stamp(&self, mut notification: Notification) -> Notification {
        if let Notification::Digest(DigestList { timestamp, .. })
        | Notification::IdleTimeoutNotification(IdleTimeoutNotification { timestamp, .. }) = &mut notification
        {
            *timestamp = self.wall_time(timestamp.cast_unsigned()).cast_signed();
        }
        notification
    }
}

/// CPU time that the calling thread has used, in ns.
pub fn thread_cpu_time() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_maps_to_switch_time_by_the_distance_to_the_sample() {
        let sample = WallClockSample {
            now: 5_000,
            wall: 1_000_000,
        };
        assert_eq!(sample.switch_time(1_000_000), 5_000);
        assert_eq!(sample.switch_time(999_000), 4_000);
        assert_eq!(sample.switch_time(1_000_250), 5_250);
        assert_eq!(sample.switch_time(0), 0);
    }

    #[test]
    fn notifications_carry_the_wall_clock() {
        let sample = WallClockSample {
            now: 5_000,
            wall: 1_000_000,
        };
        let digest = |timestamp| {
            Notification::Digest(DigestList {
                timestamp,
                ..DigestList::default()
            })
        };
        assert_eq!(sample.stamp(digest(4_200)), digest(999_200));
    }
}
