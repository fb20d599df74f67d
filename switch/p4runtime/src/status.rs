//! Conversion of the device's errors to gRPC statuses.

use p4sched_device::Fault;
use p4sched_proto::google::rpc;
use p4sched_proto::p4::v1 as p4rt;
use prost::Message as _;
use tonic::{Code, Status};

/// The default limit of clients for the metadata of a response.
pub const CLIENT_METADATA_BYTES: usize = 8192;
/// Room in the metadata for everything except the message and the details.
const OTHER_METADATA_BYTES: usize = 600;
/// The longest message in the status of a batch. It is sent twice: in the status and in the details.
const MAX_MESSAGE_BYTES: usize = 800;

/// The status of a refused request.
pub fn of(fault: Fault) -> Status {
    Status::new(Code::from(fault.code as i32), fault.message)
}

/// The status of a batch in which at least one element failed: `UNKNOWN`, with one `p4.v1.Error` for each element, in
/// order. The message names the first failure.
///
/// Clients refuse metadata above `metadata` bytes (at least [`CLIENT_METADATA_BYTES`]). If the details would be larger,
/// only the first errors have messages. If the codes alone would be larger, the message says how many elements have
/// details.
pub fn of_batch(what: &str, results: &[Result<(), Fault>], metadata: usize) -> Status {
    let failed = results.iter().filter(|result| result.is_err()).count();
    let (first, fault) = results
        .iter()
        .enumerate()
        .find_map(|(index, result)| result.as_ref().err().map(|fault| (index + 1, fault)))
        .map_or((0, String::new()), |(index, fault)| {
            (index, format!("{:?}: {}", fault.code, fault.message))
        });
    let total = results.len();
    let message = format!("{failed} of {total} {what} failed; the first, number {first}: {fault}");
    let message = shortened(&message, MAX_MESSAGE_BYTES).to_owned();
    let errors: Vec<p4rt::Error> = results
        .iter()
        .map(|result| result.as_ref().err().map_or_else(p4rt::Error::default, to_error))
        .collect();
    // Base64 makes the details a third larger.
    let room = (metadata.max(CLIENT_METADATA_BYTES) - OTHER_METADATA_BYTES - message.len()) / 4 * 3;
    let full = rpc_status(
        &message,
        errors.iter().map(|error| detail("type.googleapis.com", error)),
    );
    if full.encoded_len() <= room {
        return Status::with_details(Code::Unknown, message, full.encode_to_vec().into());
    }
    let mut left = room - rpc_status(&message, std::iter::empty()).encoded_len();
    let mut bare: Vec<p4rt::Error> = errors
        .iter()
        .map(|error| p4rt::Error {
            message: String::new(),
            ..error.clone()
        })
        .collect();
    // The name of the type is a URL too.
    let fitting = bare
        .iter()
        .take_while(|error| {
            let size = ENTRY_BYTES + detail("", error).encoded_len();
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count();
    let message = match fitting < total {
        true => format!("{message} (details of the first {fitting} only)"),
        false => message,
    };
    bare.truncate(fitting);
    for (short, error) in bare
        .iter_mut()
        .zip(&errors)
        .filter(|(_, error)| !error.message.is_empty())
    {
        // The lengths of error and entry may each need one byte more.
        let size = error.message.len() + 2 * ENTRY_BYTES;
        if size > left || fitting < total {
            break;
        }
        left -= size;
        short.message.clone_from(&error.message);
    }
    let status = rpc_status(&message, bare.iter().map(|error| detail("", error)));
    Status::with_details(Code::Unknown, message, status.encode_to_vec().into())
}

/// Size of the tag and length of an entry in a list.
const ENTRY_BYTES: usize = 3;

fn rpc_status(message: &str, details: impl Iterator<Item = prost_types::Any>) -> rpc::Status {
    rpc::Status {
        code: Code::Unknown as i32,
        message: message.to_owned(),
        details: details.collect(),
    }
}

fn detail(authority: &str, error: &p4rt::Error) -> prost_types::Any {
    prost_types::Any {
        type_url: format!("{authority}/p4.v1.Error"),
        value: error.encode_to_vec(),
    }
}

/// The text, or as many of its first characters as fit into `bytes`.
fn shortened(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The error as an element of a batch's error details.
fn to_error(fault: &Fault) -> p4rt::Error {
    p4rt::Error {
        canonical_code: fault.code as i32,
        message: fault.message.clone(),
        ..p4rt::Error::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_reports_one_error_per_element_in_order() {
        let status = of_batch("updates", &[Ok(()), Err(Fault::not_found("no entry")), Ok(())], 0);
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

    /// The codes and messages in the details.
    fn details(status: &Status) -> Vec<(i32, String)> {
        let decoded = rpc::Status::decode(status.details()).expect("details are a google.rpc.Status");
        let error = |any: &prost_types::Any| {
            assert_eq!(any.type_url.rsplit('/').next(), Some("p4.v1.Error"));
            let error = p4rt::Error::decode(&*any.value).expect("an element is a p4.v1.Error");
            (error.canonical_code, error.message)
        };
        decoded.details.iter().map(error).collect()
    }

    /// The size in bytes of message and details in a response's metadata.
    fn metadata_bytes(status: &Status) -> usize {
        status.message().len() + status.details().len().div_ceil(3) * 4
    }

    #[test]
    fn every_failure_keeps_its_code_and_the_first_their_messages() {
        let long = "an entry with this key and this priority exists";
        let results: Vec<_> = (0..200)
            .map(|number| match number % 2 {
                0 => Err(Fault::exists(long)),
                _ => Err(Fault::not_found(long)),
            })
            .collect();
        let status = of_batch("updates", &results, 0);
        assert!(metadata_bytes(&status) <= 8192 - 600, "{}", metadata_bytes(&status));
        let details = details(&status);
        let codes: Vec<i32> = details.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, [6, 5].repeat(100));
        let with_message = details.iter().take_while(|(_, message)| message == long).count();
        assert!(with_message >= 10, "{with_message}");
        assert!(details[with_message..].iter().all(|(_, message)| message.is_empty()));
    }

    #[test]
    fn a_batch_too_large_for_its_codes_says_how_many_it_tells_of() {
        let results: Vec<_> = (0..5000).map(|_| Err(Fault::exists("it exists"))).collect();
        let status = of_batch("updates", &results, 0);
        assert!(metadata_bytes(&status) <= 8192 - 500, "{}", metadata_bytes(&status));
        let sent = details(&status).len();
        assert!(sent >= 200, "{sent}");
        let expected = format!("number 1: AlreadyExists: it exists (details of the first {sent} only)");
        assert!(status.message().ends_with(&expected), "{}", status.message());
    }

    #[test]
    fn a_client_that_takes_more_metadata_gets_all_details() {
        let mut results = vec![Ok(()); 1024];
        results.push(Err(Fault::new(p4sched_device::Code::ResourceExhausted, "it is full")));
        let status = of_batch("updates", &results, 65536);
        let sent = details(&status);
        assert_eq!(sent.len(), 1025);
        assert_eq!(sent[1024], (8, "it is full".to_owned()));
        assert!(metadata_bytes(&status) > 35_000, "{}", metadata_bytes(&status));
        assert!(details(&of_batch("updates", &results, 8192)).len() < 1025);
    }

    #[test]
    fn a_message_without_end_is_cut_between_characters() {
        let status = of_batch("updates", &[Err(Fault::invalid("\u{e9}".repeat(10_000)))], 0);
        assert!(metadata_bytes(&status) <= 8192 - 600);
        assert_eq!(details(&status), [(3, String::new())]);
    }
}
