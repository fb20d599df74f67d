//! Compares hosts that are models with hosts that are kernels. TCP flows share a FIFO. Prints the table of README.md.
//!
//!     cargo build --release && cargo run --release -p p4sched-virtual --example compare_hosts

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bench::{Row, Seen, guests, models, run};
use clap::Parser;

#[path = "../tests/bench/mod.rs"]
mod bench;
#[path = "../tests/entries/mod.rs"]
mod entries;

/// Compares hosts that are models with hosts that are kernels.
#[derive(Parser)]
struct Arguments {
    /// Rows, with four numbers each: rate in Mbit/s, RTT in ms, queue in bandwidth-delay products, and number of flows
    /// [default: those of the README]
    rows: Vec<f64>,
    /// Congestion control of the flows; several, with commas between them, in turn
    #[arg(long, default_value = "cubic", value_name = "NAMES")]
    control: String,
    /// Runs with kernels in each row. Their flows start at slightly different times; the table has means
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Runs with models in each row
    #[arg(long, default_value_t = 5)]
    model_runs: u64,
    /// File with results of runs with kernels, one line each. These runs are not repeated; additional ones count too
    #[arg(long, value_name = "FILE")]
    kept: Option<PathBuf>,
}

fn row(rate_mbit: f64, rtt_ms: f64, buffer: f64, flows: u64, control: &'static str) -> Row {
    // The times are some hundred round trips. BBR measures the round trip each ten seconds. At 500 Mbit/s guests are
    // slow.
    let (warm_up_s, measured_s) = match (rate_mbit, rtt_ms) {
        _ if control.contains("bbr") => (10, 40),
        (_, 40.0..) => (10, 40),
        (250.0.., _) => (2, 6),
        _ => (4, 16),
    };
    Row {
        rate_bps: (rate_mbit * 1e6) as u64,
        rtt_ns: (rtt_ms * 1e6) as u64,
        buffer,
        flows,
        control,
        marks: false,
        warm_up_s,
        measured_s,
    }
}

fn all_rows(control: &'static str) -> Vec<Row> {
    let mut rows = Vec::new();
    for (rate_mbit, rtt_ms) in [(100.0, 5.0), (50.0, 20.0), (20.0, 80.0)] {
        for buffer in [0.5, 1.0, 4.0] {
            rows.extend([1, 5, 20].map(|flows| row(rate_mbit, rtt_ms, buffer, flows, control)));
        }
    }
    rows.extend([1, 5, 20].map(|flows| row(500.0, 10.0, 1.0, flows, control)));
    rows
}

/// Results of runs with kernels, by their settings. They are kept in a file if one is given.
struct Kept {
    file: Option<PathBuf>,
    seen: BTreeMap<String, Seen>,
}

impl Kept {
    fn read(file: Option<PathBuf>) -> Result<Kept, String> {
        let Some(path) = &file else {
            return Ok(Kept {
                file,
                seen: BTreeMap::new(),
            });
        };
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.map_err(|error| format!("{}: {error}", path.display()))?,
        };
        let lines = text.lines().map(|line| {
            let (asked, numbers) = line.split_once(": ")?;
            let numbers: Vec<f64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            // The last number is missing where all flows have Cubic.
            let (&[throughput, length, jain, again], rest) = numbers.split_first_chunk::<4>()?;
            let first = rest.first().copied().unwrap_or(1.0);
            let seen = Seen {
                throughput,
                length,
                jain,
                again,
                first,
            };
            Some((asked.to_owned(), seen))
        });
        let seen = lines.collect::<Option<_>>();
        let seen = seen.ok_or_else(|| format!("{}: a line is none of this program", path.display()))?;
        Ok(Kept { file, seen })
    }

    /// Results of `runs` runs with kernels, and of additional kept ones. `None` if there is no kernel for guests.
    fn kernels(&mut self, row: &Row, runs: u64) -> Option<Vec<Seen>> {
        let asked = |seed: u64| {
            let Row {
                rate_bps,
                rtt_ns,
                flows,
                warm_up_s,
                measured_s,
                ..
            } = row;
            let room = row.room();
            let of = if row.control == "cubic" {
                String::new()
            } else {
                format!(" of {}", row.control)
            };
            format!(
                "{rate_bps} bit/s {rtt_ns} ns {room} packets {flows} flows{of} {warm_up_s} s {measured_s} s seed {seed}"
            )
        };
        let mut all = Vec::new();
        for seed in 1.. {
            let seen = match self.seen.get(&asked(seed)) {
                Some(seen) => *seen,
                None if seed <= runs => self.run(row, seed, &asked(seed))?,
                None => break,
            };
            all.push(seen);
        }
        Some(all)
    }

    fn run(&self, row: &Row, seed: u64, asked: &str) -> Option<Seen> {
        let folder = tempfile::tempdir().expect("a folder");
        let seen = run(row, seed, &guests(folder.path(), seed)?);
        if let Some(path) = &self.file {
            let mut file = OpenOptions::new().create(true).append(true).open(path).expect("a file");
            let Seen {
                throughput,
                length,
                jain,
                again,
                first,
            } = seen;
            let first = if is_mixed(row.control) {
                format!(" {first}")
            } else {
                String::new()
            };
            writeln!(file, "{asked}: {throughput} {length} {jain} {again}{first}").expect("it can be written");
        }
        Some(seen)
    }
}

/// The mean of some runs, and the standard deviation.
fn mean(runs: &[Seen], value: fn(&Seen) -> f64) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(value).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (value(run) - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

fn means(runs: &[Seen]) -> Seen {
    Seen {
        throughput: mean(runs, |run| run.throughput).0,
        length: mean(runs, |run| run.length).0,
        jain: mean(runs, |run| run.jain).0,
        again: mean(runs, |run| run.again).0,
        first: mean(runs, |run| run.first).0,
    }
}

/// A value for both kinds of hosts, each with its standard deviation if there are different runs.
fn beside(kernels: &[Seen], models: &[Seen], value: fn(&Seen) -> f64, digits: usize) -> String {
    let text = |runs: &[Seen]| {
        let (mean, deviation) = mean(runs, value);
        let deviation = format!("{deviation:.digits$}");
        let differs = deviation.chars().any(|digit| ('1'..='9').contains(&digit));
        format!(
            "{mean:.digits$}{}",
            if differs {
                format!(" ± {deviation}")
            } else {
                String::new()
            }
        )
    };
    format!("{}, {}", text(kernels), text(models))
}

/// Whether flows have different congestion controls.
fn is_mixed(control: &str) -> bool {
    control.contains(',')
}

fn line(row: &Row, kernels: &[Seen], models: &[Seen]) -> String {
    let differences = means(kernels).disagreements(&means(models));
    let share = if is_mixed(row.control) {
        format!(" {} |", beside(kernels, models, |run| run.first, 3))
    } else {
        String::new()
    };
    format!(
        "| {} Mbit/s, {} ms | {} | {} | {} | {} | {} | {} | {} | {} |{share}",
        row.rate_bps / 1_000_000,
        row.rtt_ns / 1_000_000,
        row.room(),
        row.flows,
        kernels.len(),
        beside(kernels, models, |run| run.throughput, 3),
        beside(kernels, models, |run| run.length, 1),
        beside(kernels, models, |run| run.jain, 3),
        beside(kernels, models, |run| run.again, 0),
        if differences.is_empty() {
            "yes".into()
        } else {
            differences.join(", ")
        },
    )
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (fours, rest) = arguments.rows.as_chunks::<4>();
    if !rest.is_empty() {
        eprintln!("compare_hosts: each row needs four numbers");
        return ExitCode::FAILURE;
    }
    let control: &'static str = arguments.control.leak();
    let mut kept = match Kept::read(arguments.kept) {
        Ok(kept) => kept,
        Err(reason) => {
            eprintln!("compare_hosts: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let some = fours
        .iter()
        .map(|&[rate, rtt, buffer, flows]| row(rate, rtt, buffer, flows as u64, control));
    let rows = if fours.is_empty() {
        all_rows(control)
    } else {
        some.collect()
    };
    let is_mixed = is_mixed(control);
    println!(
        "| rate, RTT | queue | flows | runs | throughput: kernel, model | mean length | Jain's index | sent again | agree |{}",
        if is_mixed { " share of the first control |" } else { "" }
    );
    println!(
        "|---|---|---|---|---|---|---|---|---|{}",
        if is_mixed { "---|" } else { "" }
    );
    for row in rows {
        let Some(kernels) = kept.kernels(&row, arguments.runs) else {
            return ExitCode::FAILURE;
        };
        let models: Vec<_> = (1..=arguments.model_runs)
            .map(|seed| run(&row, seed, &models))
            .collect();
        println!("{}", line(&row, &kernels, &models));
    }
    ExitCode::SUCCESS
}
