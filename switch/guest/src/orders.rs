//! Messages between our process and the first program of a guest: one JSON object per line on the guest's console.

use serde::{Deserialize, Serialize};

/// The guest's folder on this machine, as the guest sees it.
pub const FOLDER: &str = "/run/p4sched";
/// The folder in which the guest's kernel was started, as the guest sees it. It has two links: `init`, to the first
/// program, and `folder`, to the guest's folder.
pub const START_FOLDER: &str = "/proc/self/cwd";

/// An order to the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Starts a program.
    Start {
        /// Number of the command, chosen by the sender.
        id: u64,
        /// The program and its arguments.
        words: Vec<String>,
        /// File in the guest's folder for the output. Error messages go to the same name with `.errors` appended.
        output: String,
    },
    /// Sends a signal to a program and its children.
    Signal { id: u64, signal: i32 },
    /// Writes a text into a file, such as a setting of the kernel.
    Write { path: String, text: String },
    /// Reads a file, such as the kernel's counters.
    Read {
        /// Number of the command, chosen by the sender.
        id: u64,
        path: String,
    },
}

impl Order {
    /// The number of the command, if it has one.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::Start { id, .. } | Self::Signal { id, .. } | Self::Read { id, .. } => Some(*id),
            Self::Write { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The guest can take orders.
    Ready,
    /// A program ended.
    Ended {
        id: u64,
        /// Exit status. If a signal ended the program: 128 plus the number of the signal.
        status: i32,
    },
    /// A file was read.
    Text { id: u64, text: String },
    /// An order could not be carried out.
    Failed {
        /// Number of the command, if it has one.
        id: Option<u64>,
        /// The failed part and the reason.
        reason: String,
    },
}
