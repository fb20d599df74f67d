//! The outcome of a call.

use p4sched_device::Fault;
use p4sched_device::bmv2::Refusal;

use crate::protocol::{Message, MessageKind};
use crate::value::{ArgumentError, Value};

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// An error of the interface.
    Refused(Refusal),
    /// Unknown service or method.
    UnknownMethod,
    /// Wrong arguments.
    Arguments(ArgumentError),
    NoProgram,
    /// Settings that cannot work, for a method that BMv2 does not have.
    Invalid(String),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<ArgumentError> for Failure {
    fn from(wrong: ArgumentError) -> Failure {
        Failure::Arguments(wrong)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(refusal) => write!(to, "{refusal}"),
            Failure::UnknownMethod => write!(to, "no such method"),
            Failure::Arguments(ArgumentError { field, expected }) => {
                write!(to, "argument {field} should be {expected}")
            }
            Failure::NoProgram => write!(to, "no program is loaded"),
            Failure::Invalid(problem) => write!(to, "{problem}"),
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Invalid(fault.to_string())
    }
}

/// The result of a call; `None` if the method has none.
pub type Outcome = Result<Option<Value>, Failure>;

/// Error codes of Thrift's own exception.
const UNKNOWN_METHOD: i32 = 1;
const INTERNAL_ERROR: i32 = 6;
const PROTOCOL_ERROR: i32 = 7;

/// The message that answers a call.
pub fn reply(method: &str, sequence: i32, outcome: &Outcome) -> Message {
    let (kind, fields) = match outcome {
        Ok(result) => (
            MessageKind::Reply,
            result.iter().map(|value| (0, value.clone())).collect(),
        ),
        Err(Failure::Refused(refusal)) => {
            let exception = Value::Struct(vec![(1, Value::I32(refusal.code))]);
            (MessageKind::Reply, vec![(1, exception)])
        }
        Err(failure) => {
            let number = match failure {
                Failure::UnknownMethod => UNKNOWN_METHOD,
                Failure::Arguments(_) => PROTOCOL_ERROR,
                _ => INTERNAL_ERROR,
            };
            let text = Value::String(format!("{method}: {failure}").into_bytes());
            (MessageKind::Exception, vec![(1, text), (2, Value::I32(number))])
        }
    };
    Message {
        kind,
        name: method.to_owned(),
        sequence,
        fields,
    }
}
