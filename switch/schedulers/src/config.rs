//! Parameters that several schedulers share, and configuration errors.
//!
//! The limits keep every product of the division-free inequalities within 64 bits.

use rand::{Rng, RngCore};

use crate::target::Target;

/// Largest size of a sliding window, in ranks.
pub const MAX_WINDOW: usize = 1 << 16;
/// Largest size of a buffer or queue, in packets.
pub const MAX_PACKETS: usize = 1 << 24;
/// Largest number of queues of one scheduler.
pub const MAX_QUEUES: usize = 64;

/// Largest number of queues of a port: one for each BMv2 priority.
pub const MAX_P4_QUEUES: usize = 8;
/// Reason why a configuration is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The headroom fraction k is 1 or more. The admission threshold would then have no meaning.
    #[error("headroom k = {numerator}/2^{shift} is not in [0, 1): the numerator must be below {}", 1u64 << shift)]
    Headroom {
        /// K in K / 2^m.
        numerator: u32,
        /// m in K / 2^m.
        shift: u32,
    },
    /// A number is out of range.
    #[error("{parameter} = {value} is out of range: {min} to {max} {unit}")]
    OutOfRange {
        /// The name of the parameter in the paper.
        parameter: &'static str,
        /// The rejected value.
        value: u64,
        /// Smallest valid value.
        min: u64,
        /// Largest valid value.
        max: u64,
        /// Unit of the three numbers.
        unit: &'static str,
    },
    /// Band edges or rates do not rise.
    #[error("{parameter} must rise strictly: number {index} is {value}, the one before it is {before}")]
    NotRising {
        /// The name of the list in the paper.
        parameter: &'static str,
        /// Index of the element, counted from 1.
        index: usize,
        /// The value of the element.
        value: u64,
        /// The value before it.
        before: u64,
    },
    /// Sizes alone do not determine a configuration of this scheme.
    #[error("no configuration of {scheme} has these sizes of queues and windows: {reason}")]
    MoreThanSizes {
        scheme: &'static str,
        /// Needs of the scheme besides sizes.
        reason: &'static str,
    },
    /// A scheme that a file describes refuses it.
    #[error("{0}")]
    Folder(String),
    /// Two related lists differ in length.
    #[error("{parameter}: {found} values given, {expected} needed ({reason})")]
    Count {
        /// The name of the list in the paper.
        parameter: &'static str,
        /// Actual length.
        found: usize,
        /// Required length.
        expected: usize,
        /// Reason why this length is required.
        reason: &'static str,
    },
}

/// Sizes that make schemes comparable. Each scheme uses those that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of queues, for a scheme with several.
    pub queues: usize,
    /// Size of each queue in packets. A scheme with one queue gets the sum of all queues.
    pub queue_size: usize,
    /// |W| of the windows in ranks, and T of RIFO in packets.
    pub window: usize,
    /// k.
    pub headroom: Headroom,
    /// Shift of the ranks in the window of PACKS (PACKS figure 11).
    pub window_shift: i64,
    /// The target whose rules the models follow.
    pub target: Target,
}

impl Sizes {
    /// The sizes of PACKS 6.1: 8 queues of 10 packets, |W| = 1000, k = 0.
    pub const PAPER: Sizes = Sizes {
        queues: 8,
        queue_size: 10,
        window: 1000,
        headroom: Headroom::NONE,
        window_shift: 0,
        target: Target::V1model,
    };

    /// Size of all queues together, in packets.
    pub fn buffer(&self) -> usize {
        self.queues * self.queue_size
    }

    /// The size of each queue.
    pub fn each(&self) -> Vec<usize> {
        vec![self.queue_size; self.queues]
    }
}

/// A random number of queues that a program supports.
pub(crate) fn draw_count(random: &mut dyn RngCore) -> usize {
    random.random_range(1..=MAX_P4_QUEUES)
}

/// Random sizes of `count` queues.
pub(crate) fn draw_sizes(random: &mut dyn RngCore, count: usize) -> Vec<usize> {
    (0..count).map(|_| random.random_range(1..=16)).collect()
}

/// Checks that `value` lies in `min..=max`.
pub fn in_range(
    parameter: &'static str,
    value: usize,
    min: usize,
    max: usize,
    unit: &'static str,
) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ConfigError::OutOfRange {
        parameter,
        value: value as u64,
        min: min as u64,
        max: max as u64,
        unit,
    })
}

/// Checks the sizes of a set of queues, in packets.
pub(crate) fn queue_sizes(sizes: &[usize]) -> Result<(), ConfigError> {
    in_range("number of queues n", sizes.len(), 1, MAX_QUEUES, "queues")?;
    for &size in sizes {
        in_range("queue size B_i", size, 1, MAX_PACKETS, "packets")?;
    }
    in_range("total buffer B", sizes.iter().sum(), 1, MAX_PACKETS, "packets")
}

/// k, the fraction of a buffer within which every packet is admitted, as K / 2^m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    numerator: u32,
    shift: u32,
}

impl Headroom {
    /// k = 0.
    pub const NONE: Headroom = Headroom { numerator: 0, shift: 0 };
    /// Largest valid m.
    pub const MAX_SHIFT: u32 = 16;

    /// Creates k = numerator / 2^shift.
    ///
    /// # Errors
    /// If k is not in [0, 1), or shift exceeds [`Headroom::MAX_SHIFT`].
    pub fn new(numerator: u32, shift: u32) -> Result<Headroom, ConfigError> {
        in_range(
            "exponent m of the headroom",
            shift as usize,
            0,
            Headroom::MAX_SHIFT as usize,
            "bits",
        )?;
        if numerator >= 1 << shift {
            return Err(ConfigError::Headroom { numerator, shift });
        }
        Ok(Headroom { numerator, shift })
    }

    /// The smallest multiple of 2^-8 that is at least `part / whole`, for example 52/256 for 1/5. Rounded down, a queue
    /// of exactly k C packets would not be within its headroom.
    ///
    /// # Errors
    /// If the ratio is not in [0, 1), would round to 1, or `whole` is 0.
    pub fn at_least(part: u32, whole: u32) -> Result<Headroom, ConfigError> {
        in_range("denominator of the headroom", whole as usize, 1, u32::MAX as usize, "")?;
        let numerator = (u64::from(part) << 8).div_ceil(u64::from(whole));
        Headroom::new(u32::try_from(numerator).unwrap_or(u32::MAX), 8)
    }

    /// A random headroom that a program supports: 0, 0.1, or any multiple of 1/256.
    pub(crate) fn draw(random: &mut dyn RngCore) -> Headroom {
        let numerator = [0, 26, random.random_range(0..256)][random.random_range(0..3)];
        Headroom { numerator, shift: 8 }
    }

    /// Creates k = K / 256.
    pub(crate) fn from_argument(numerator: u64) -> Result<Headroom, ConfigError> {
        Headroom::new(u32::try_from(numerator).unwrap_or(u32::MAX), 8)
    }

    /// K, so that k = K / [`Headroom::unit`].
    pub fn numerator(self) -> u64 {
        u64::from(self.numerator)
    }

    /// 2^m.
    pub fn unit(self) -> u64 {
        1 << self.shift
    }

    /// 2^m - K, so that 1 - k = rest / [`Headroom::unit`].
    pub fn rest(self) -> u64 {
        self.unit() - self.numerator()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_a_fraction_below_one() {
        assert_eq!(Headroom::at_least(1, 10).unwrap(), Headroom::new(26, 8).unwrap());
        assert_eq!(
            Headroom::at_least(1, 5).unwrap().numerator(),
            52,
            "a queue of 4 of 20 packets is within it"
        );
        assert_eq!(Headroom::at_least(0, 1).unwrap().numerator(), 0);
        assert!(Headroom::new(7, 3).is_ok());
        let error = Headroom::new(8, 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "headroom k = 8/2^3 is not in [0, 1): the numerator must be below 8"
        );
        assert!(Headroom::at_least(999, 1000).is_err(), "rounds to 1");
        assert!(Headroom::at_least(1, 0).is_err());
        assert!(Headroom::new(0, 17).is_err());
    }

    #[test]
    fn an_error_names_the_parameter_and_the_range() {
        let error = in_range("window |W|", 0, 1, MAX_WINDOW, "ranks").unwrap_err();
        assert_eq!(error.to_string(), "window |W| = 0 is out of range: 1 to 65536 ranks");
        assert!(queue_sizes(&[10, 0]).is_err());
        assert!(queue_sizes(&[]).is_err());
    }
}
