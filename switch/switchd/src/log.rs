//! Messages to the operator: on standard error, and in a file if asked for.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// How much is said, as BMv2's `--log-level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// Nothing.
    Off,
    /// What ends the switch.
    Error,
    /// What the operator should do something about.
    Warn,
    /// What happened.
    Info,
    /// As info: packets are not logged one by one.
    Debug,
    /// As info: packets are not logged one by one.
    Trace,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Info as u8);

static FILE: OnceLock<File> = OnceLock::new();

/// Says everything in this file too, in place of an older one.
///
/// # Errors
/// Those of the file.
pub fn set_file(path: &Path) -> io::Result<()> {
    let file = File::create(path)?;
    FILE.get_or_init(|| file);
    Ok(())
}

/// Sets how much is said from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Says it at any level. A log that takes nothing any more, on a full disk say, is no reason to end.
pub fn always(message: &str) {
    let _ = writeln!(io::stderr(), "p4sched-switch: {message}");
    if let Some(mut file) = FILE.get() {
        let _ = writeln!(file, "p4sched-switch: {message}");
    }
}

fn say(level: Level, message: &str) {
    if LEVEL.load(Ordering::Relaxed) >= level as u8 {
        always(message);
    }
}

/// Something the operator should do something about.
pub fn warn(message: &str) {
    say(Level::Warn, message);
}

/// Something that happened.
pub fn info(message: &str) {
    say(Level::Info, message);
}
