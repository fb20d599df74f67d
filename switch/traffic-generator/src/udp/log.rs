//! Logs of datagrams. Each line is `flow,sequence,rank,sent_ns` and, at the receiver, `received_ns`.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::{TrafficError, file_error};

/// A datagram in a log. Times are in ns of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    pub flow: u32,
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    pub rank: u32,
    /// Time at which it was handed to the kernel.
    pub sent_ns: u64,
    /// Time at which it was received; `None` in a sender's log.
    pub received_ns: Option<u64>,
}

/// Writes a log to a file.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, datagrams: &[Datagram]) -> Result<(), TrafficError> {
    std::fs::write(path, text(datagrams)).map_err(file_error(path))
}

/// A log as CSV with a header line.
pub fn text(datagrams: &[Datagram]) -> String {
    let received = datagrams.first().is_some_and(|first| first.received_ns.is_some());
    let mut text = String::from("flow,sequence,rank,sent_ns");
    text.push_str(if received { ",received_ns\n" } else { "\n" });
    for datagram in datagrams {
        let Datagram {
            flow,
            sequence,
            rank,
            sent_ns,
            received_ns,
        } = datagram;
        // Writing to a String cannot fail.
        let _ = write!(text, "{flow},{sequence},{rank},{sent_ns}");
        if let Some(at) = received_ns {
            let _ = write!(text, ",{at}");
        }
        text.push('\n');
    }
    text
}
