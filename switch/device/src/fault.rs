//! Errors of P4Runtime requests: a canonical code and a sentence.

use p4sched_dataplane::TableError;

/// The canonical codes of `google.rpc.Code` that a device returns, with their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The request is malformed.
    InvalidArgument = 3,
    /// The entity does not exist.
    NotFound = 5,
    /// The entity already exists.
    AlreadyExists = 6,
    /// The client or the program does not allow it.
    PermissionDenied = 7,
    ResourceExhausted = 8,
    /// Not possible in this state of the switch.
    FailedPrecondition = 9,
    /// Undone, because another part of the request failed.
    Aborted = 10,
    /// A value does not fit its type, or an index does not fit its array.
    OutOfRange = 11,
    /// The switch does not support this.
    Unimplemented = 12,
}

/// A refused request or update.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The canonical code that the P4Runtime specification prescribes for the case.
    pub code: Code,
    /// The fault, its place, and what would be right.
    pub message: String,
}

impl Fault {
    pub fn new(code: Code, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into(),
        }
    }
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::new(Code::InvalidArgument, message)
    }
    pub fn out_of_range(message: impl Into<String>) -> Fault {
        Fault::new(Code::OutOfRange, message)
    }
    pub fn not_found(message: impl Into<String>) -> Fault {
        Fault::new(Code::NotFound, message)
    }
    /// `ALREADY_EXISTS`.
    pub fn exists(message: impl Into<String>) -> Fault {
        Fault::new(Code::AlreadyExists, message)
    }
    pub fn unimplemented(message: impl Into<String>) -> Fault {
        Fault::new(Code::Unimplemented, message)
    }
    /// `PERMISSION_DENIED`.
    pub fn denied(message: impl Into<String>) -> Fault {
        Fault::new(Code::PermissionDenied, message)
    }
    /// `FAILED_PRECONDITION`.
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
