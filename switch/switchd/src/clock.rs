//! The switch's clock: nanoseconds since the switch started, and how the kernel's timestamps map to it.

use p4sched_dataplane::Nanos;
use p4sched_device::Notification;
use p4sched_proto::p4::v1::{DigestList, IdleTimeoutNotification};
use rustix::time::{ClockId, Timespec, clock_gettime};

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// A monotonic clock that starts at 0 when it is made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: u64,
}

impl Clock {
    /// A clock that reads 0 now.
    pub fn start() -> Clock {
        Clock {
            start: nanoseconds(clock_gettime(ClockId::Monotonic)),
        }
    }

    /// Time since the start.
    pub fn now(&self) -> Nanos {
        nanoseconds(clock_gettime(ClockId::Monotonic)) - self.start
    }

    /// The conversion from the wall clock, which stamps received frames, to this clock. Each use takes a new
    /// sample, so when the wall clock is slewed or stepped, only the frames of that moment get a wrong time.
    pub fn sample(&self) -> WallClockSample {
        let now = self.now();
        WallClockSample {
            now,
            wall: nanoseconds(clock_gettime(ClockId::Realtime)),
        }
    }
}

/// One instant on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct WallClockSample {
    /// The instant on the switch's clock.
    pub now: Nanos,
    wall: u64,
}

impl WallClockSample {
    /// Switch time of an instant of the wall clock; what lies before the switch's start becomes 0.
    pub fn switch_time(&self, wall: u64) -> Nanos {
        if wall >= self.wall {
            self.now + (wall - self.wall)
        } else {
            self.now.saturating_sub(self.wall - wall)
        }
    }

    /// The wall clock, in ns since 1970, at an instant of the switch's clock.
    pub fn wall_time(&self, at: Nanos) -> u64 {
        (self.wall + at).saturating_sub(self.now)
    }

    /// Puts the wall clock, which P4Runtime wants, in place of the switch's time in a notification.
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
