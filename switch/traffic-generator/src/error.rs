//! Errors of a request for traffic.

use std::path::Path;

/// Reason why traffic could not be planned, sent or received.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A flow, load or distribution that makes no sense.
    #[error("{0}")]
    Flow(String),
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Message of the system.
        source: std::io::Error,
    },
    /// A file that does not hold a list of flows.
    #[error("{path}: not a list of flows: {source}")]
    Format {
        /// The file.
        path: String,
        /// Place, and expected form.
        source: serde_json::Error,
    },
    /// A socket that could not be opened or used.
    #[error("{what}: {source}")]
    Socket {
        /// Operation.
        what: String,
        /// Message of the system.
        source: std::io::Error,
    },
}

/// Adds what was attempted to a socket's error.
pub fn socket(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> TrafficError {
    let what = what.into();
    move |source| TrafficError::Socket { what, source }
}

/// Adds the name of a file to its error.
pub fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> TrafficError {
    let path = path.display().to_string();
    move |source| TrafficError::File { path, source }
}
