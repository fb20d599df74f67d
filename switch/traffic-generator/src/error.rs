//! Errors of the traffic generator.

use std::path::Path;

/// Reason why traffic could not be planned, sent or received.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// An invalid flow, load or distribution.
    #[error("{0}")]
    Flow(String),
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    /// A file that does not hold a list of flows.
    #[error("{path}: not a list of flows: {source}")]
    Format {
        path: String,
        /// Place of the error, and what was expected there.
        source: serde_json::Error,
    },
    /// A socket that cannot be opened or used.
    #[error("{what}: {source}")]
    Socket {
        /// The operation that failed.
        what: String,
        source: std::io::Error,
    },
}

/// Adds the attempted operation to the error of a socket.
pub fn socket(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> TrafficError {
    let what = what.into();
    move |source| TrafficError::Socket { what, source }
}

/// Adds the path of a file to its error.
pub fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> TrafficError {
    let path = path.display().to_string();
    move |source| TrafficError::File { path, source }
}
