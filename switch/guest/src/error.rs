//! Errors of a guest.

use std::time::Duration;

/// Reason why a guest stopped.
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
        /// Last message of its kernel.
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
        /// Time that it had.
        patience: Duration,
    },
    /// An order could not be carried out.
    #[error("guest {name}: {reason}")]
    Refused {
        /// Name of the guest.
        name: String,
        /// Part and reason.
        reason: String,
    },
}
