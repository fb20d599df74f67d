//! Arrivals at one port: the trace of a schedule, of an attack, or one written by hand.

use std::fmt::Write as _;
use std::path::Path;

use p4sched_schedulers::{Nanos, Rank};

use crate::frames::MIN_FRAME;

const MAX_FRAME: u32 = 1514;
/// Latest arrival. All its packets leave before the clock of 64 bits ends.
const LAST_ARRIVAL: Nanos = 1_000_000_000_000_000_000;
const HEAD: &str = "at_ns,flow,sequence,rank,frame_bytes";

/// A packet that will arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub at: Nanos,
    pub rank: Rank,
    pub frame_bytes: u32,
}

/// A line that cannot be read as an arrival.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ArrivalsError {
    line: usize,
    problem: String,
}

/// Reads the arrivals of a file.
///
/// # Errors
/// If it cannot be read, or a line has another form or is out of order.
pub fn read_file(file: &Path) -> Result<Vec<Arrival>, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    read(&text).map_err(|error| format!("{shown}, {error}"))
}

/// Reads arrivals as `p4sched-traffic udp-schedule` writes them: `at_ns,flow,sequence,rank,frame_bytes`, in order.
///
/// # Errors
/// If a line has another form, or is out of order.
fn read(text: &str) -> Result<Vec<Arrival>, ArrivalsError> {
    if text.lines().next() != Some(HEAD) {
        return Err(ArrivalsError {
            line: 1,
            problem: format!("it must be {HEAD}"),
        });
    }
    let mut found: Vec<Arrival> = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let wrong = |what: &str| ArrivalsError {
            line: index + 1,
            problem: what.to_owned(),
        };
        let values: Option<Vec<u64>> = line.split(',').map(|value| value.parse().ok()).collect();
        let Some([at, _, _, rank, frame_bytes]) = values.as_deref() else {
            return Err(wrong(&format!("not {HEAD}")));
        };
        let rank = Rank::try_from(*rank).map_err(|_| wrong("a rank has 32 bits"))?;
        let frame_bytes = u32::try_from(*frame_bytes).unwrap_or(u32::MAX);
        if !(MIN_FRAME..=MAX_FRAME).contains(&frame_bytes) {
            return Err(wrong("a frame has 54 to 1514 bytes"));
        }
        if *at > LAST_ARRIVAL {
            return Err(wrong("later than 10^18 ns"));
        }
        if found.last().is_some_and(|last| last.at > *at) {
            return Err(wrong("earlier than the line before"));
        }
        let at = *at;
        found.push(Arrival { at, rank, frame_bytes });
    }
    Ok(found)
}

/// Writes arrivals in the same form, all as flow 0.
pub fn write(arrivals: &[Arrival]) -> String {
    let mut text = format!("{HEAD}\n");
    for (sequence, Arrival { at, rank, frame_bytes }) in arrivals.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{at},0,{sequence},{rank},{frame_bytes}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let arrivals = [(0, 3), (7, 0), (7, u32::MAX)].map(|(at, rank)| Arrival {
            at,
            rank,
            frame_bytes: 100,
        });
        assert_eq!(read(&write(&arrivals)), Ok(arrivals.to_vec()));
    }

    #[test]
    fn the_first_line_names_the_columns() {
        assert_eq!(read(&format!("{HEAD}\n")), Ok(vec![]));
        assert_eq!(read(&format!("{HEAD}\r\n0,1,0,3,100\r\n")).unwrap().len(), 1);
        for text in [
            "",
            "\n",
            "hello\n",
            "0,1,0,3,100\n",
            "at_ns,flow\n0,1,0,3,100\n",
            "{\"seed\": 1}\n",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert_eq!(
                error, "line 1: it must be at_ns,flow,sequence,rank,frame_bytes",
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_error_names_the_file() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let error = read_file(&file).unwrap_err();
        assert!(
            error.ends_with("Cargo.toml, line 1: it must be at_ns,flow,sequence,rank,frame_bytes"),
            "{error}"
        );
        let error = read_file(Path::new("no/such/file")).unwrap_err();
        assert!(error.starts_with("cannot read no/such/file: "), "{error}");
    }

    #[test]
    fn lines_without_sense_are_refused() {
        for (text, what) in [
            ("1,2,3\n", "line 2: not at_ns"),
            ("1,2,3,4,10\n", "54 to 1514"),
            ("1,2,3,4294967296,100\n", "32 bits"),
            ("1000000000000000001,2,3,4,100\n", "later than 10^18 ns"),
            ("5,1,0,0,100\n4,1,1,0,100\n", "line 3: earlier"),
        ] {
            let error = read(&format!("{HEAD}\n{text}")).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
