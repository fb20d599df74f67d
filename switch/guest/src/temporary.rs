//! Folders for temporary files. Their names contain the process that needs them.

use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::{fs, process};
use tempfile::TempDir;

/// A folder of this process: `p4sched-PID-START-SPACE-WHAT.RANDOM`. START is field 22 of proc_pid_stat(5). SPACE is the
/// namespace of the process number (pid_namespaces(7)). If the process is killed, the laboratory finds its folders by
/// this name and removes them (`controller/p4sched/lab/temporary.py`).
///
/// # Errors
/// If the folder cannot be created.
pub fn temporary_folder(what: &str) -> io::Result<TempDir> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the name of the program in parentheses. It may contain any character.
    let after_name = stat.rsplit_once(") ").map(|(_, fields)| fields);
    let start = after_name.and_then(|fields| fields.split(' ').nth(19));
    let start = start.ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "/proc/self/stat has too few fields"))?;
    let space = fs::metadata("/proc/self/ns/pid")?.ino();
    let prefix = format!("p4sched-{}-{start}-{space}-{what}.", process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir()
}
