//! A link: it sends one packet after the other.

use p4sched_schedulers::Nanos;

/// Bits of a byte, times the nanoseconds of a second.
const BYTE_WORK: u64 = 8_000_000_000;

/// A link of a constant rate. Fractions of a nanosecond are kept, so a busy link carries exactly its rate.
#[derive(Clone, Debug)]
pub struct Link {
    rate_bps: u64,
    /// Nanoseconds of a byte; 0 if that is no whole number.
    byte_ns: Nanos,
    /// When it becomes free, in ns. `rest` / `rate_bps` is the fraction of a nanosecond that is missing.
    free: Nanos,
    rest: u64,
}

impl Link {
    /// A free link of this rate, above 0.
    pub fn new(rate_bps: u64) -> Link {
        Link {
            rate_bps,
            byte_ns: byte_ns(rate_bps),
            free: 0,
            rest: 0,
        }
    }

    /// Changes the rate; the packet being sent ends at the rate it began with.
    pub fn set_rate(&mut self, rate_bps: u64) {
        if rate_bps != self.rate_bps {
            self.rate_bps = rate_bps;
            self.byte_ns = byte_ns(rate_bps);
            self.rest = 0;
        }
    }

    /// When it becomes free, or became so.
    pub fn free(&self) -> Nanos {
        self.free
    }

    /// Sends a packet of `len` bytes from `start` on, when the link is free. Returns when its last bit has left.
    pub fn send(&mut self, start: Nanos, len: u32) -> Nanos {
        if start > self.free {
            self.free = start;
            self.rest = 0;
        }
        if self.byte_ns > 0 {
            // The same without a division.
            self.free += u64::from(len) * self.byte_ns;
            return self.free;
        }
        let work = u64::from(len) * BYTE_WORK + self.rest;
        self.free += work / self.rate_bps;
        self.rest = work % self.rate_bps;
        self.free
    }
}

/// Nanoseconds of a byte at this rate; 0 if that is no whole number.
fn byte_ns(rate_bps: u64) -> Nanos {
    match BYTE_WORK % rate_bps {
        0 => BYTE_WORK / rate_bps,
        _ => 0,
    }
}
