//! Why a request was refused, as P4Runtime reports it: a canonical code and a sentence.

use p4sched_dataplane::TableError;

/// The canonical codes of `google.rpc.Code` that a device answers with, with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The request is malformed.
    InvalidArgument = 3,
    /// The entity does not exist.
    NotFound = 5,
    /// The entity exists.
    AlreadyExists = 6,
    /// The client or the program does not allow it.
    PermissionDenied = 7,
    /// There is no room.
    ResourceExhausted = 8,
    /// Not in this state of the switch.
    FailedPrecondition = 9,
    /// Undone, since another part of the request failed.
    Aborted = 10,
    /// A value does not fit its type or an index its array.
    OutOfRange = 11,
    /// This switch does not do that.
    Unimplemented = 12,
}

/// One refused request or update.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Canonical code, as the P4Runtime specification prescribes for the case.
    pub code: Code,
    /// What was wrong, where, and what would be right.
    pub message: String,
}

impl Fault {
    /// A fault with this code and sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
        }
    }
    /// `INVALID_ARGUMENT`: the request is malformed.
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::new(Code::InvalidArgument, message)
    }
    /// `OUT_OF_RANGE`: a value does not fit its type or an index its array.
    pub fn out_of_range(message: impl Into<String>) -> Fault {
        Fault::new(Code::OutOfRange, message)
    }
    /// `NOT_FOUND`: the entity does not exist.
    pub fn not_found(message: impl Into<String>) -> Fault {
        Fault::new(Code::NotFound, message)
    }
    /// `ALREADY_EXISTS`: the entity exists.
    pub fn exists(message: impl Into<String>) -> Fault {
        Fault::new(Code::AlreadyExists, message)
    }
    /// `UNIMPLEMENTED`: this switch does not do that.
    pub fn unimplemented(message: impl Into<String>) -> Fault {
        Fault::new(Code::Unimplemented, message)
    }
    /// `PERMISSION_DENIED`: the client or the program does not allow it.
    pub fn denied(message: impl Into<String>) -> Fault {
        Fault::new(Code::PermissionDenied, message)
    }
    /// `FAILED_PRECONDITION`: not in this state of the switch.
    pub fn precondition(message: impl Into<String>) -> Fault {
        Fault::new(Code::FailedPrecondition, message)
    }
}

impl From<TableError> for Fault {
    fn from(error: TableError) -> Fault {
        let code = match &error {
            TableError::Full { .. } => Code::ResourceExhausted,
            TableError::Duplicate(_) => Code::AlreadyExists,
            TableError::NoEntry(_) | TableError::NoMember { .. } => Code::NotFound,
            TableError::Const(_) => Code::PermissionDenied,
            TableError::NoCell { .. } => Code::OutOfRange,
            TableError::InUse { .. } => Code::FailedPrecondition,
            TableError::BadKey { .. }
            | TableError::BadAction { .. }
            | TableError::Without(..)
            | TableError::BadValue(..) => Code::InvalidArgument,
        };
        Fault::new(code, error.to_string())
    }
}
