//! Messages to the operator, on standard error.

use std::io::{self, Write as _};
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

/// Sets how much is said from now on.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Says it at any level. A log that takes nothing any more, on a full disk say, is no reason to end.
pub fn always(message: &str) {
    let _ = writeln!(io::stderr(), "p4sched-switch: {message}");
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
