//! Packets a second on one core through the engine with the programs of `p4/`: compiled, interpreted, and with the log
//! of packets. Also the time that a program takes to load. Prints JSON.

mod ready;

use std::hint::black_box;

use p4sched_schedulers::{Scheme, Target};
use ready::{Ready, SCHEMES};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// Number of rounds. Each round measures all programs in turn, so other work on the machine affects them equally.
const ROUNDS: usize = 9;
const PACKETS: usize = 100_000;

/// Way of handling packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Compiled,
    Interpreted,
    /// Interpreted, with every event made and discarded.
    Logged,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Compiled => "compiled",
            Way::Interpreted => "interpreted",
            Way::Logged => "logged",
        }
    }

    /// Packets in a round.
    fn packets(self) -> usize {
        match self {
            Way::Compiled | Way::Interpreted => PACKETS,
            Way::Logged => PACKETS / 100,
        }
    }
}

/// A loaded switch, and the seconds of its rounds.
struct Measured {
    program: usize,
    way: Way,
    ready: Ready,
    taken: Vec<f64>,
}

impl Measured {
    fn new(program: usize, scheme: Scheme, way: Way) -> Measured {
        let mut ready = Ready::new(scheme, Target::V1model, way == Way::Interpreted);
        if way == Way::Logged {
            ready.switch.engine().trace(Box::new(|event| drop(black_box(event))));
        }
        ready.receive(way.packets());
        Measured {
            program,
            way,
            ready,
            taken: Vec::new(),
        }
    }

    fn round(&mut self) {
        let taken = seconds(|| self.ready.receive(self.way.packets()));
        self.taken.push(taken);
    }

    fn row(self, name: &str) -> Value {
        let packets = self.way.packets();
        let mpps = |seconds: f64| packets as f64 / seconds / 1e6;
        let best = self.taken.iter().copied().fold(f64::MAX, f64::min);
        json!({
            "program": name,
            "way": self.way.name(),
            "sent_share": self.ready.sink.frames as f64 / (packets * (ROUNDS + 1)) as f64,
            "mpps_median": mpps(median(self.taken)),
            "mpps_best": mpps(best),
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// CPU time of this thread in `work`, in seconds. Other work on the machine matters only through the caches.
fn seconds(work: impl FnOnce()) -> f64 {
    let begun = cpu_seconds();
    work();
    cpu_seconds() - begun
}

fn main() {
    let programs: Vec<_> = SCHEMES.map(|scheme| ready::program(scheme, Target::V1model)).into();
    let mut switches = Vec::new();
    for (number, scheme) in SCHEMES.into_iter().enumerate() {
        let ways = [Way::Compiled, Way::Interpreted, Way::Logged];
        switches.extend(ways.map(|way| Measured::new(number, scheme, way)));
    }
    let mut loads = vec![Vec::new(); programs.len()];
    for _ in 0..ROUNDS {
        switches.iter_mut().for_each(Measured::round);
        for (program, taken) in programs.iter().zip(&mut loads) {
            taken.push(seconds(|| drop(black_box(program.pipeline()))));
        }
    }
    let rows: Vec<_> = (switches.into_iter())
        .map(|measured| {
            let name = programs[measured.program].name();
            measured.row(name)
        })
        .collect();
    let loads: Vec<_> = (programs.iter().zip(loads))
        .map(|(program, taken)| json!({"program": program.name(), "load_ms_median": median(taken) * 1e3}))
        .collect();
    println!("{}", json!({"packets": rows, "loads": loads}));
}
