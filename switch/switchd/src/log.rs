//! Messages to the operator: on standard error, and in a file on request. The log of packets (`packet_log.rs`) uses the
//! same file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The level of messages, as in BMv2's `--log-level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// No messages.
    Off,
    /// Errors that end the switch.
    Error,
    /// Problems that the operator should solve.
    Warn,
    /// Events.
    Info,
    /// The path of each packet: states, tables, actions, queues.
    Debug,
    /// Also each statement and its effects.
    Trace,
}

static LEVEL: AtomicU8 = AtomicU8::new(Level::Info as u8);

/// The destination of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// The file of `--log-file`: messages and packets.
    File,
    /// Standard output: packets.
    Console,
    /// The file of `--log-json`: packets.
    Json,
}

static OUTPUTS: [OnceLock<Mutex<Output>>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Maximum size of a file in bytes.
    pub size: u64,
    /// The number of older files to keep: for `s1.log` they are `s1.1.log`, `s1.2.log` and so on.
    pub files: u64,
}

/// An open destination of lines. If a write fails, for example because the disk is full, only this output ends.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    out: Option<BufWriter<File>>,
    written: u64,
    rotation: Option<Rotation>,
    /// Whether each line is flushed.
    flushes: bool,
}

impl Output {
    fn new(path: PathBuf, file: File, rotation: Option<Rotation>, flushes: bool) -> Output {
        Output {
            path,
            out: Some(BufWriter::new(file)),
            written: 0,
            rotation,
            flushes,
        }
    }

    fn line(&mut self, line: &str) {
        if self.out.is_none() {
            return;
        }
        let bytes = line.len() as u64 + 1;
        if let Some(rotation) = self.rotation
            && self.written > 0
            && self.written + bytes > rotation.size
        {
            self.rotate(rotation.files);
        }
        self.written += bytes;
        self.write(|out| {
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")
        });
        if self.flushes {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.write(BufWriter::flush);
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Some(out) = &mut self.out
            && let Err(error) = write(out)
        {
            // The log is not used, because this output is a part of it.
            let _ = writeln!(
                io::stderr(),
                "p4sched-switch: {}: {error}; the log ends here",
                self.path.display()
            );
            // The buffered lines would fail again.
            self.out.take().map(BufWriter::into_parts);
        }
    }

    /// Renames the older files, removes the oldest one, and starts a new file.
    fn rotate(&mut self, files: u64) {
        self.flush();
        let older = |number| match number {
            0 => self.path.clone(),
            number => numbered(&self.path, number),
        };
        for number in (0..files).rev() {
            // A file with this number may not exist yet.
            let _ = fs::rename(older(number), older(number + 1));
        }
        let begun = File::create(&self.path);
        self.written = 0;
        self.write(|out| {
            *out = BufWriter::new(begun?);
            Ok(())
        });
    }
}

/// Turns `s1.log` into `s1.2.log`.
fn numbered(path: &Path, number: u64) -> PathBuf {
    match path.extension() {
        Some(extension) => path.with_extension(format!("{number}.{}", extension.display())),
        None => path.with_extension(number.to_string()),
    }
}

fn set(place: Destination, output: Output) {
    OUTPUTS[place as usize].get_or_init(|| Mutex::new(output));
}

/// Sets the file for the lines of this place. An existing file is overwritten.
///
/// # Errors
pub fn set_file(place: Destination, path: &Path, rotation: Option<Rotation>, flushes: bool) -> io::Result<()> {
    let file = File::create(path)?;
    set(place, Output::new(path.to_owned(), file, rotation, flushes));
    Ok(())
}

/// Writes the lines for the console to standard output.
///
/// # Errors
/// If there is no standard output.
pub fn set_console() -> io::Result<()> {
    let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    set(
        Destination::Console,
        Output::new(PathBuf::from("standard output"), file, None, false),
    );
    Ok(())
}

fn with(place: Destination, write: impl FnOnce(&mut Output)) {
    if let Some(output) = OUTPUTS[place as usize].get() {
        write(&mut output.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Writes a line to a place if the place is open.
pub fn line(place: Destination, line: impl FnOnce() -> String) {
    with(place, |output| output.line(&line()));
}

/// Flushes all places.
pub fn flush() {
    for place in [Destination::File, Destination::Console, Destination::Json] {
        with(place, Output::flush);
    }
}

/// Sets the level of messages.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Prints a message at any level. If it cannot be written, the switch continues.
pub fn always(message: &str) {
    let _ = writeln!(io::stderr(), "p4sched-switch: {message}");
    with(Destination::File, |output| {
        output.line(&format!("p4sched-switch: {message}"));
        output.flush();
    });
}

fn say(level: Level, message: &str) {
    if LEVEL.load(Ordering::Relaxed) >= level as u8 {
        always(message);
    }
}

pub fn warn(message: &str) {
    say(Level::Warn, message);
}

pub fn info(message: &str) {
    say(Level::Info, message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_ends_the_log_and_nothing_else() {
        let file = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut output = Output::new(PathBuf::from("s1.log"), file, None, false);
        output.line("one");
        assert!(output.out.is_some(), "it waits in the buffer");
        output.flush();
        assert!(output.out.is_none());
        output.line("two");
    }

    #[test]
    fn a_log_that_has_ended_makes_no_room_so_what_it_holds_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s1.log");
        fs::write(&path, "before the disk was full\n").expect("it can be written");
        let file = File::options().write(true).open("/dev/full").expect("Linux has it");
        let rotation = Some(Rotation { size: 8, files: 1 });
        let mut output = Output::new(path.clone(), file, rotation, true);
        for number in 1..=9 {
            output.line(&format!("line {number}"));
        }
        assert_eq!(
            fs::read_to_string(path).expect("it is there"),
            "before the disk was full\n"
        );
    }

    #[test]
    fn a_full_file_makes_room_and_the_oldest_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s1.log");
        let file = File::create(&path).expect("it can be written");
        let rotation = Some(Rotation { size: 8, files: 2 });
        let mut output = Output::new(path.clone(), file, rotation, true);
        for number in 1..=4 {
            output.line(&format!("line {number}"));
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
        assert_eq!(read("s1.log"), "line 4\n");
        assert_eq!(read("s1.1.log"), "line 3\n");
        assert_eq!(read("s1.2.log"), "line 2\n");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 3);
        assert_eq!(numbered(Path::new("a/log"), 1), Path::new("a/log.1"));
    }
}
