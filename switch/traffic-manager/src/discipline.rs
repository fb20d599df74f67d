//! What a port does with its packets: which one it refuses or gives up, and which one it sends next.
//!
//! A discipline is one file and one line in the list of `lib.rs`. Its number and its name come from `Discipline` in
//! `proto/p4sched/v1/traffic_manager.proto`.

use std::fmt::Debug;

use crate::config::{ConfigError, PortConfig};
use crate::packet::{LEVELS, NEVER, Nanos, Port, Verdict};

/// The elements that wait at a port, or at a node of a tree.
pub trait Scheduling<E>: Debug {
    /// Takes an element at `now`, refuses it, or takes it and gives up another one.
    fn offer(&mut self, now: Nanos, element: E) -> Verdict<E>;

    /// Takes an element at `now` even if there is no room.
    fn append(&mut self, now: Nanos, element: E);

    /// The element that is sent at `at`, or none if none may leave.
    fn take(&mut self, at: Nanos) -> Option<E>;

    /// Elements that one of this priority would find.
    fn length(&self, priority: u8) -> usize;

    /// The earliest instant at which some element may leave; 0 if nothing but the link holds them back.
    fn ready(&self) -> Nanos {
        0
    }

    /// Takes every element out, those of a user in order. Who had paid for one has not.
    fn drain(&mut self) -> Vec<E> {
        std::iter::from_fn(|| self.take(NEVER)).collect()
    }

    /// Follows a change of the port's configuration at `now`. False if it cannot: the elements are then drained, and
    /// appended to a new one.
    fn follow(&mut self, now: Nanos, config: &PortConfig) -> bool;

    /// The round that a calendar serves at `now`, counted from its beginning.
    fn round(&self, _now: Nanos) -> Option<u64> {
        None
    }
}

/// What a discipline reads in a packet, beside its priority and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// The user that it belongs to.
    pub user: bool,
    /// Its leaf in a tree.
    pub leaf: bool,
    /// Its rank; in a tree that of each level, the root's first.
    pub ranks: [bool; LEVELS],
}

impl Reads {
    /// Nothing.
    pub const NOTHING: Reads = Reads {
        user: false,
        leaf: false,
        ranks: [false; LEVELS],
    };
    /// The user.
    pub const USER: Reads = Reads {
        user: true,
        ..Reads::NOTHING
    };
    /// The rank.
    pub const RANK: Reads = Reads {
        ranks: [true, false, false, false],
        ..Reads::NOTHING
    };
}

/// What is known of a discipline without a port.
pub(crate) trait Described {
    /// All priorities share one buffer of `buffer_packets`.
    const ONE_BUFFER: bool = true;
    /// It can be a node of a tree: it sends whenever something waits.
    const NESTS: bool = false;

    /// What it reads.
    fn reads(_config: &PortConfig) -> Reads {
        Reads::NOTHING
    }

    /// Checks what it alone needs of a configuration.
    fn check(_port: Port, _config: &PortConfig) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// Declares the disciplines: `module: Type;` for each, by the name that it has in the protocol.
macro_rules! disciplines {
    ($($module:ident: $Type:ident;)*) => {
        $(
            pub mod $module;
        )*

        /// Those that a port can have.
        pub const DISCIPLINES: &[Discipline] = &[$(Discipline::$Type),*];

        /// The discipline of a configuration, with nothing that waits.
        ///
        /// # Panics
        /// [`PortConfig::check`] refuses the configuration.
        pub fn scheduling<E: Element + Send + 'static>(config: &PortConfig) -> Box<dyn Scheduling<E> + Send> {
            match config.discipline {
                $(Discipline::$Type => Box::new($module::$Type::new(config)),)*
                Discipline::Unspecified => unreachable!("a checked configuration has a discipline"),
            }
        }

        /// What the discipline of a configuration reads in a packet.
        pub fn reads(config: &PortConfig) -> Reads {
            match config.discipline {
                $(Discipline::$Type => <$module::$Type<()> as Described>::reads(config),)*
                Discipline::Unspecified => Reads::NOTHING,
            }
        }

        /// True for the disciplines in which all priorities share one buffer of `buffer_packets`.
        pub fn one_buffer(discipline: Discipline) -> bool {
            match discipline {
                $(Discipline::$Type => <$module::$Type<()> as Described>::ONE_BUFFER,)*
                Discipline::Unspecified => false,
            }
        }

        /// True for the disciplines that can be a node of a tree.
        pub fn nests(discipline: Discipline) -> bool {
            match discipline {
                $(Discipline::$Type => <$module::$Type<()> as Described>::NESTS,)*
                Discipline::Unspecified => false,
            }
        }

        /// Checks what the discipline of a configuration alone needs.
        pub(crate) fn check(port: Port, config: &PortConfig) -> Result<(), ConfigError> {
            match config.discipline {
                $(Discipline::$Type => <$module::$Type<()> as Described>::check(port, config),)*
                Discipline::Unspecified => Err(ConfigError::Discipline { port }),
            }
        }
    };
}

pub(crate) use disciplines;
