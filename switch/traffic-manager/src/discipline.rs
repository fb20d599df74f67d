//! The disciplines of a port. A discipline chooses which packet to drop and which one to send next.
//!
//! A discipline is one file and one line in the list of `lib.rs`. Its number and its name come from `Discipline` in
//! `proto/p4sched/v1/traffic_manager.proto`.

use std::fmt::Debug;

use crate::config::{ConfigError, PortConfig};
use crate::packet::{DropReason, LEVELS, NEVER, Nanos, Port, Verdict};

/// The elements that wait at a port, or at a node of a tree.
pub trait Scheduling<E>: Debug {
    /// Takes an element at `now`, refuses it, or takes it and gives up another one.
    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E>;

    /// Takes an element at `now` if another one leaves for it, because the memory has no room for one more.
    fn exchange(&mut self, _now: Nanos, element: E) -> Verdict<E> {
        Verdict::Refused(element, DropReason::Full)
    }

    /// Removes the element that the queue of a priority gives up to the memory: its head.
    fn give_up(&mut self, _priority: u8) -> Option<E> {
        self.take(NEVER)
    }

    /// Takes an element at `now` even if the buffer is full.
    fn append(&mut self, now: Nanos, element: E);

    /// Removes and returns the element that is sent at `at`; `None` if no element may leave.
    fn take(&mut self, at: Nanos) -> Option<E>;

    /// The queue length that a new element of this priority would see.
    fn length(&self, priority: u8) -> usize;

    /// The earliest instant at which some element may leave; 0 if only the link delays them.
    fn ready(&self) -> Nanos {
        0
    }

    /// Removes all elements; those of one user in order. Charges for these elements are cancelled.
    fn drain(&mut self) -> Vec<E> {
        std::iter::from_fn(|| self.take(NEVER)).collect()
    }

    /// Applies a new port configuration at `now`. Returns false if it cannot: the caller then drains the elements and
    /// appends them to a new discipline.
    fn follow(&mut self, now: Nanos, config: &PortConfig) -> bool;

    /// The round that a calendar serves at `now`, counted from 0.
    fn round(&self, _now: Nanos) -> Option<u64> {
        None
    }
}

/// The marks of a packet that a discipline reads, besides priority and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// The user of the packet.
    pub user: bool,
    /// The packet's leaf in a tree.
    pub leaf: bool,
    /// The packet's rank; in a tree its rank at each level, the root's first.
    pub ranks: [bool; LEVELS],
}

impl Reads {
    pub const NOTHING: Reads = Reads {
        user: false,
        leaf: false,
        ranks: [false; LEVELS],
    };
    pub const USER: Reads = Reads {
        user: true,
        ..Reads::NOTHING
    };
    pub const RANK: Reads = Reads {
        ranks: [true, false, false, false],
        ..Reads::NOTHING
    };
}

/// Properties of a discipline that do not depend on a port.
pub(crate) trait Properties {
    /// Whether all priorities share one buffer of `buffer_packets`.
    const ONE_BUFFER: bool = true;
    /// Whether it can be a node of a tree: it sends whenever an element waits.
    const NESTS: bool = false;

    /// The marks of a packet that the discipline reads.
    fn reads(_config: &PortConfig) -> Reads {
        Reads::NOTHING
    }

    /// Checks the settings that only this discipline uses.
    fn check(_port: Port, _config: &PortConfig) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Declares the disciplines as `module: Type;`. The type has the name of the discipline in the protocol.
macro_rules! disciplines {
    ($($module:ident: $Type:ident;)*) => {
        $(
            pub mod $module;
        )*

        pub const DISCIPLINES: &[Discipline] = &[$(Discipline::$Type),*];

        /// An empty discipline for a configuration.
        ///
        /// # Panics
        /// If [`PortConfig::check`] refuses the configuration.
        pub fn scheduling<E: Element + Send + 'static>(config: &PortConfig) -> Box<dyn Scheduling<E> + Send> {
            match config.discipline {
                $(Discipline::$Type => Box::new($module::$Type::new(config)),)*
                Discipline::Unspecified => unreachable!("a checked configuration has a discipline"),
            }
        }

        /// The marks of a packet that the discipline of a configuration reads.
        pub fn reads(config: &PortConfig) -> Reads {
            match config.discipline {
                $(Discipline::$Type => <$module::$Type<()> as Properties>::reads(config),)*
                Discipline::Unspecified => Reads::NOTHING,
            }
        }

        /// Whether all priorities share one buffer of `buffer_packets`.
        pub fn one_buffer(discipline: Discipline) -> bool {
            match discipline {
                $(Discipline::$Type => <$module::$Type<()> as Properties>::ONE_BUFFER,)*
                Discipline::Unspecified => false,
            }
        }

        /// Whether the discipline can be a node of a tree.
        pub fn nests(discipline: Discipline) -> bool {
            match discipline {
                $(Discipline::$Type => <$module::$Type<()> as Properties>::NESTS,)*
                Discipline::Unspecified => false,
            }
        }

        /// Checks the settings that only this discipline uses.
        pub(crate) fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
            match config.discipline {
                $(Discipline::$Type => <$module::$Type<()> as Properties>::check(port, config),)*
                Discipline::Unspecified => Err(ConfigError::Discipline { port }),
            }
        }
    };
}

pub(crate) use disciplines;
