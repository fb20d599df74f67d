//! What can go wrong with a guest.

use std::time::Duration;

/// Why a guest does not go on.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// A program or a file that guests need is not there.
    #[error("{0}")]
    Missing(String),
    /// A socket, file or process failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A message made no sense.
    #[error("{0}")]
    Protocol(String),
    /// The guest's kernel ended.
    #[error("guest {name} ended: {reason}")]
    Ended {
        /// Name of the guest.
        name: String,
        /// What its kernel said last.
        reason: String,
    },
    /// The guest ran on and on at one instant.
    #[error(
        "guest {name} ran for {patience:?} of the wall clock without waiting: virtual time stands still while a program \
         never waits"
    )]
    Hangs {
        /// Name of the guest.
        name: String,
        /// How long it was given.
        patience: Duration,
    },
    /// An order could not be carried out.
    #[error("guest {name}: {reason}")]
    Refused {
        /// Name of the guest.
        name: String,
        /// Which one, and why.
        reason: String,
    },
}
