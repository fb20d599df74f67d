//! Packets a second through the engine with the programs of `p4/`, compiled and interpreted, on one core; and how long a program
//! takes to load. Prints JSON.

mod ready;

use std::hint::black_box;
use std::time::Instant;

use p4sched_schedulers::Target;
use ready::{Ready, SCHEMES};
use serde_json::json;

/// All are measured in turn, so many times: what else the machine does falls on all of them.
const ROUNDS: usize = 9;
const PACKETS: usize = 100_000;

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds that something takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn main() {
    let programs: Vec<_> = SCHEMES.map(|scheme| ready::program(scheme, Target::V1model)).into();
    let mut switches: Vec<(usize, bool, Ready, Vec<f64>)> = Vec::new();
    for (number, scheme) in SCHEMES.into_iter().enumerate() {
        for interpret in [false, true] {
            switches.push((
                number,
                interpret,
                Ready::new(scheme, Target::V1model, interpret),
                Vec::new(),
            ));
        }
    }
    let mut loads = vec![Vec::new(); programs.len()];
    for (_, _, ready, _) in &mut switches {
        ready.receive(PACKETS);
    }
    for _ in 0..ROUNDS {
        for (_, _, ready, taken) in &mut switches {
            taken.push(seconds(|| ready.receive(PACKETS)));
        }
        for (program, taken) in programs.iter().zip(&mut loads) {
            taken.push(seconds(|| drop(black_box(program.pipeline()))));
        }
    }
    let rows: Vec<_> = (switches.into_iter())
        .map(|(number, interpret, ready, taken)| {
            let best = taken.iter().copied().fold(f64::MAX, f64::min);
            let mpps = |seconds: f64| PACKETS as f64 / seconds / 1e6;
            json!({
                "program": programs[number].name(),
                "way": if interpret { "interpreted" } else { "compiled" },
                "mpps_median": mpps(median(taken)),
                "mpps_best": mpps(best),
                "sent_share": ready.sink.frames as f64 / (PACKETS * (ROUNDS + 1)) as f64,
            })
        })
        .collect();
    let loads: Vec<_> = (programs.iter().zip(loads))
        .map(|(program, taken)| json!({"program": program.name(), "load_ms_median": median(taken) * 1e3}))
        .collect();
    println!("{}", json!({"packets": rows, "loads": loads}));
}
