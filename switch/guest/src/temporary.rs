//! Folders for temporary files, with names that say who needs them.

use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::{fs, process};
use tempfile::TempDir;

/// A folder of this process: `p4sched-PID-START-SPACE-WHAT.RANDOM`. The start is field 22 of proc_pid_stat(5), the space is
/// the namespace of the number (pid_namespaces(7)). When a process was killed, the laboratory knows its folders by this name
/// (`controller/p4sched/lab/temporary.py`) and removes them.
///
/// # Errors
/// If the folder cannot be made.
pub fn temporary_folder(what: &str) -> io::Result<TempDir> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the program's name in parentheses, and may hold anything.
    let after_name = stat.rsplit_once(") ").map(|(_, fields)| fields);
    let start = after_name.and_then(|fields| fields.split(' ').nth(19));
    let start = start.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "/proc/self/stat has too few fields"))?;
    let space = fs::metadata("/proc/self/ns/pid")?.ino();
    let prefix = format!("p4sched-{}-{start}-{space}-{what}.", process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir()
}
