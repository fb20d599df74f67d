//! Hosts that are models beside hosts that are kernels: Cubic flows share a FIFO. Prints the table of README.md.
//!
//!     cargo build --release && cargo run --release -p p4sched-virtual --example compare_hosts

use std::process::ExitCode;

use bench::{Row, Seen, guests, models, run};
use clap::Parser;

#[path = "../tests/bench/mod.rs"]
mod bench;

/// Hosts that are models beside hosts that are kernels.
#[derive(Parser)]
struct Arguments {
    /// Rows: four numbers for each, the rate in Mbit/s, the RTT in ms, the queue in bandwidth-delay products, and the flows
    /// [default: those of the README]
    rows: Vec<f64>,
    /// Runs of each row and kind, whose flows start at slightly other times; the table has means
    #[arg(long, default_value_t = 3)]
    runs: u64,
}

fn row(rate_mbit: f64, rtt_ms: f64, buffer: f64, flows: u64) -> Row {
    // Some hundred round trips.
    let (warm_up_s, measured_s) = if rtt_ms > 40.0 { (10, 40) } else { (4, 12) };
    Row {
        rate_bps: (rate_mbit * 1e6) as u64,
        rtt_ns: (rtt_ms * 1e6) as u64,
        buffer,
        flows,
        control: "cubic",
        marks: false,
        warm_up_s,
        measured_s,
    }
}

fn all_rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (rate_mbit, rtt_ms) in [(100.0, 5.0), (50.0, 20.0), (20.0, 80.0)] {
        for buffer in [0.5, 1.0, 4.0] {
            rows.extend([1, 5, 20].map(|flows| row(rate_mbit, rtt_ms, buffer, flows)));
        }
    }
    rows.extend([1, 5, 20].map(|flows| row(500.0, 10.0, 1.0, flows)));
    rows
}

/// The mean of some runs.
fn mean(runs: &[Seen]) -> Seen {
    let of = |value: fn(&Seen) -> f64| runs.iter().map(value).sum::<f64>() / runs.len() as f64;
    Seen {
        throughput: of(|run| run.throughput),
        length: of(|run| run.length),
        jain: of(|run| run.jain),
        again: of(|run| run.again),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (fours, rest) = arguments.rows.as_chunks::<4>();
    if !rest.is_empty() {
        eprintln!("compare_hosts: each row needs four numbers");
        return ExitCode::FAILURE;
    }
    let rows = if fours.is_empty() {
        all_rows()
    } else {
        let some = fours
            .iter()
            .map(|&[rate, rtt, buffer, flows]| row(rate, rtt, buffer, flows as u64));
        some.collect()
    };
    println!(
        "| rate, RTT | queue | flows | throughput: kernel, model | mean length | Jain's index | sent again | agree |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for row in rows {
        let folder = tempfile::tempdir().expect("a folder");
        let kernels: Option<Vec<Seen>> = (1..=arguments.runs)
            .map(|seed| Some(run(&row, seed, &guests(folder.path(), seed)?)))
            .collect();
        let Some(kernels) = kernels else {
            return ExitCode::FAILURE;
        };
        let kernel = mean(&kernels);
        let model = mean(
            &(1..=arguments.runs)
                .map(|seed| run(&row, seed, &models))
                .collect::<Vec<_>>(),
        );
        println!(
            "| {} Mbit/s, {} ms | {} | {} | {:.3}, {:.3} | {:.1}, {:.1} | {:.3}, {:.3} | {:.0}, {:.0} | {} |",
            row.rate_bps / 1_000_000,
            row.rtt_ns / 1_000_000,
            row.room(),
            row.flows,
            kernel.throughput,
            model.throughput,
            kernel.length,
            model.length,
            kernel.jain,
            model.jain,
            kernel.again,
            model.again,
            if kernel.disagreements(&model).is_empty() {
                "yes".into()
            } else {
                kernel.disagreements(&model).join(", ")
            },
        );
    }
    ExitCode::SUCCESS
}
