//! Why a request was refused, as P4Runtime reports it: a canonical gRPC code and a sentence.

use p4sched_dataplane::TableError;
use p4sched_proto::google::rpc;
use p4sched_proto::p4::v1 as p4rt;
use prost::Message as _;
use tonic::{Code, Status};

/// Room for error details in a response's trailer: clients refuse metadata above 8 KiB unless told otherwise, and
/// base64 adds a third.
const MAX_DETAILS_BYTES: usize = 5500;

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

    /// The fault as an element of a batch's error details.
    pub fn to_error(&self) -> p4rt::Error {
        p4rt::Error {
            canonical_code: self.code as i32,
            message: self.message.clone(),
            ..p4rt::Error::default()
        }
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Status {
        Status::new(fault.code, fault.message)
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

/// The status of a batch in which at least one element failed: `UNKNOWN`, with one `p4.v1.Error` per element in order.
/// The first failure is in the message too; details that no client would accept for their size are left out.
pub fn batch_status(what: &str, results: &[Result<(), Fault>]) -> Status {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let (first, fault) = results
        .iter()
        .enumerate()
        .find_map(|(index, result)| result.as_ref().err().map(|fault| (index + 1, fault)))
        .map_or((0, String::new()), |(index, fault)| {
            (index, format!("{:?}: {}", fault.code, fault.message))
        });
    let message = format!(
        "{failed} of {} {what} failed; the first, number {first}: {fault}",
        results.len()
    );
    let details = results
        .iter()
        .map(|result| error_detail(result.as_ref().err()))
        .collect();
    let status = rpc::Status {
        code: Code::Unknown as i32,
        message: message.clone(),
        details,
    };
    let encoded = status.encode_to_vec();
    if encoded.len() > MAX_DETAILS_BYTES {
        return Status::unknown(message);
    }
    Status::with_details(Code::Unknown, message, encoded.into())
}

fn error_detail(fault: Option<&Fault>) -> prost_types::Any {
    let error = fault.map_or_else(p4rt::Error::default, Fault::to_error);
    prost_types::Any {
        type_url: "type.googleapis.com/p4.v1.Error".to_owned(),
        value: error.encode_to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_reports_one_error_per_element_in_order() {
        let status = batch_status("updates", &[Ok(()), Err(Fault::not_found("no entry")), Ok(())]);
        assert_eq!(status.code(), Code::Unknown);
        assert_eq!(
            status.message(),
            "1 of 3 updates failed; the first, number 2: NotFound: no entry"
        );
        let details = rpc::Status::decode(status.details())
            .expect("details are a google.rpc.Status")
            .details;
        let codes: Vec<i32> = details
            .iter()
            .map(|any| {
                p4rt::Error::decode(&*any.value)
                    .expect("an element is a p4.v1.Error")
                    .canonical_code
            })
            .collect();
        assert_eq!(codes, [0, 5, 0]);
    }

    #[test]
    fn details_that_no_client_would_accept_are_left_out() {
        let results: Vec<_> = (0..500)
            .map(|_| Err(Fault::exists("an entry with this key exists")))
            .collect();
        let status = batch_status("updates", &results);
        assert!(status.details().is_empty());
        assert!(status.message().starts_with("500 of 500 updates failed"));
    }
}
