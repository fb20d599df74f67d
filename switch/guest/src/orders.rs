//! Messages between our process and the first program of a guest: one JSON object per line, over the guest's console.

use serde::{Deserialize, Serialize};

/// The guest's own folder of the machine, as the guest sees it.
pub const FOLDER: &str = "/run/p4sched";
/// The folder that the guest's kernel was started in, as the files of the machine show it to the kernel. It has the links
/// `init`, to the first program, and `folder`.
pub const START_FOLDER: &str = "/proc/self/cwd";

/// Order to the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Start a program.
    Start {
        /// Number of the command, chosen by the sender.
        id: u64,
        /// The program and its arguments.
        words: Vec<String>,
        /// File in the guest's folder for what it prints; its errors go to this name with `.errors` behind it.
        output: String,
    },
    /// Send a signal to a program and its children.
    Signal {
        /// Number of the command.
        id: u64,
        /// Number of the signal.
        signal: i32,
    },
    /// Write a text into a file, such as a setting of the kernel.
    Write {
        /// The file.
        path: String,
        text: String,
    },
    /// Read a file, such as the kernel's counters.
    Read {
        /// Number of the command, chosen by the sender.
        id: u64,
        /// The file.
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

/// Event in the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The guest takes orders.
    Ready,
    /// A program ended.
    Ended {
        /// Number of the command.
        id: u64,
        /// Exit status; 128 plus the signal's number if a signal ended it.
        status: i32,
    },
    /// A file was read.
    Text {
        /// Number of the command.
        id: u64,
        /// Content.
        text: String,
    },
    /// An order could not be carried out.
    Failed {
        /// Number of the command, if it has one.
        id: Option<u64>,
        /// Part and reason.
        reason: String,
    },
}
