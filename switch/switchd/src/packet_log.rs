//! The log of packets: text in the layout of BMv2's log, and JSON lines.
//!
//! A separate thread writes it, so a slow disk does not stop packets. Packets wait only when many events wait. With
//! `--log-flush` the data plane writes the log itself: the lines of a frame are in the file before the frame leaves, as
//! in BMv2.

use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

use p4sched_engine::{Event, EventSink};
use p4sched_packet_trace::json;
use p4sched_packet_trace::text::{Detail, TextOptions, lines};

use crate::clock::Clock;
use crate::log::{self, Destination, Level};
use crate::options::Options;

/// The most events that may wait: those of some hundred packets.
const WAITING_EVENTS: usize = 1 << 15;

const NANOS_PER_MILLI: u64 = 1_000_000;

/// Whether two paths lead to the same file. Devices and pipes may be shared.
fn same_file(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    whole(one).is_some_and(|one| whole(other) == Some(one))
}

/// The log of packets.
pub struct PacketLog {
    /// Takes the events of packets.
    pub sink: EventSink,
    /// The thread that writes the log, if the sink does not. It ends when the sink is dropped.
    pub writer: Option<JoinHandle<()>>,
}

/// Opens the log of packets; `None` if the options do not ask for it.
///
/// # Errors
/// One line with the file that cannot be written.
pub fn open(options: &Options, clock: Clock) -> Result<Option<PacketLog>, String> {
    let detail = match options.log_level {
        Level::Trace => Some(Detail::Trace),
        Level::Debug => Some(Detail::Debug),
        Level::Info | Level::Warn | Level::Error | Level::Off => None,
    };
    let in_file = options.log_file.is_some();
    let on_console = options.log_console || !in_file;
    if detail.is_some() && on_console {
        log::set_console().map_err(|error| format!("standard output: {error}"))?;
    }
    if let Some(path) = &options.log_json {
        if options.log_file.as_ref().is_some_and(|other| same_file(other, path)) {
            return Err(format!("--log-json: {}: --log-file writes there", path.display()));
        }
        log::set_file(Destination::Json, path, None, options.log_flush)
            .map_err(|error| format!("--log-json: {}: {error}", path.display()))?;
    }
    if detail.is_none() && options.log_json.is_none() {
        return Ok(None);
    }
    let data_bytes = options.dump_packet_data.unwrap_or(0);
    let format = Format {
        options: detail.map(|detail| TextOptions { detail, data_bytes }),
        on_console,
        data_bytes,
        clock,
    };
    if options.log_flush {
        return Ok(Some(PacketLog {
            sink: Box::new(move |event| format.write(&event)),
            writer: None,
        }));
    }
    let (sender, waiting) = mpsc::sync_channel(WAITING_EVENTS);
    let writer = thread::Builder::new()
        .name("packet-log".to_owned())
        .spawn(move || write_all(&format, &waiting))
        .map_err(|error| format!("cannot start the thread of the log: {error}"))?;
    let sink: EventSink = Box::new(move |event| {
        // The thread runs as long as there is a sender.
        let _ = sender.send(event);
    });
    Ok(Some(PacketLog {
        sink,
        writer: Some(writer),
    }))
}

/// The format of events.
struct Format {
    /// Writes text, if the options ask for it.
    options: Option<TextOptions>,
    on_console: bool,
    /// The number of bytes of each frame to show in JSON.
    data_bytes: usize,
    clock: Clock,
}

/// Writes events until all senders are gone. It flushes when no event waits.
fn write_all(format: &Format, waiting: &Receiver<Event>) {
    loop {
        let event = match waiting.try_recv() {
            Ok(event) => event,
            Err(_) => {
                log::flush();
                match waiting.recv() {
                    Ok(event) => event,
                    Err(_) => return,
                }
            }
        };
        format.write(&event);
    }
}

impl Format {
    fn write(&self, event: &Event) {
        if let Some(options) = self.options {
            self.write_text(event, options);
        }
        log::line(Destination::Json, || json(event, self.data_bytes));
    }

    fn write_text(&self, event: &Event, options: TextOptions) {
        let time = time_of_day(self.clock.sample().wall_time(event.time_ns));
        // BMv2 has one thread for each part of the path; here all lines have the process's number.
        let thread = std::process::id();
        let id = event.id;
        for (detail, text) in lines(event, options) {
            let letter = match detail {
                Detail::Debug => 'D',
                Detail::Trace => 'T',
            };
            let line = || {
                let (packet, copy) = (id.packet, id.copy);
                format!("[{time}] [bmv2] [{letter}] [thread {thread}] [{packet}.{copy}] [cxt 0] {text}")
            };
            log::line(Destination::File, line);
            if self.on_console {
                log::line(Destination::Console, line);
            }
        }
    }
}

/// The UTC time of day of a time in ns since 1970, with milliseconds.
fn time_of_day(wall_ns: u64) -> String {
    let millis = wall_ns / NANOS_PER_MILLI;
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{millis:03}", seconds % 60)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use p4sched_dataplane::{Data, EventKind, PacketId};

    use super::*;

    #[test]
    fn text_and_json_go_to_their_files() {
        let options = |line: &str| {
            let words = std::iter::once("p4sched-switch").chain(line.split_whitespace());
            Options::from_command_line(words.map(OsString::from)).expect("the line is right")
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (text, json) = (folder.path().join("s1.log"), folder.path().join("s1.json"));
        let line = format!(
            "--no-p4 -L trace --dump-packet-data 2 --log-file {} --log-json {}",
            text.display(),
            json.display()
        );
        log::set_file(Destination::File, &text, None, false).expect("it can be written");
        let opened = open(&options(&line), Clock::start()).expect("it can be written");
        let PacketLog { mut sink, writer } = opened.expect("packets are logged");
        sink(Event {
            time_ns: 0,
            id: PacketId { packet: 5, copy: 1 },
            what: EventKind::Received {
                port: 3,
                bytes: 4,
                data: Data(vec![1, 2, 3, 4]),
            },
        });
        drop(sink);
        writer.expect("a thread writes").join().expect("it ends well");
        let written = fs::read_to_string(text).expect("the log");
        let expected = format!(
            "] [bmv2] [D] [thread {}] [5.1] [cxt 0] Processing packet received on port 3\n* 0102\n",
            std::process::id()
        );
        assert!(written.ends_with(&expected), "{written}");
        assert_eq!(
            fs::read_to_string(json).expect("the log"),
            "{\"time_ns\":0,\"packet\":5,\"copy\":1,\"event\":\"received\",\"port\":3,\"bytes\":4,\"data\":\"0102\"}\n"
        );
        let silent = open(&options("--no-p4 -L info"), Clock::start()).expect("nothing to write");
        assert!(silent.is_none());
    }

    #[test]
    fn the_time_of_day_is_that_of_utc() {
        // 2001-09-09 01:46:40 UTC
        assert_eq!(time_of_day(1_000_000_000_007_900_000), "01:46:40.007");
    }
}
