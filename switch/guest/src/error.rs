//! Errors of a guest.

use std::time::Duration;

/// Reason why a guest stopped.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// A program or a file that guests need is missing.
    #[error("{0}")]
    Missing(String),
    /// A socket, file or process failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A message was invalid.
    #[error("{0}")]
    Protocol(String),
    /// The guest's kernel ended.
    #[error("guest {name} ended: {reason}")]
    Ended {
        name: String,
        /// The last message of its kernel.
        reason: String,
    },
    /// The guest ran for too long without advancing its time.
    #[error(
        "guest {name} ran for {patience:?} of the wall clock without waiting: virtual time stands still while a program \
         never waits"
    )]
    Hangs {
        name: String,
        /// The limit of its running time.
        patience: Duration,
    },
    /// An order could not be carried out.
    #[error("guest {name}: {reason}")]
    Refused {
        name: String,
        /// The failed part and the reason.
        reason: String,
    },
}
