//! The same flows here and in Netbench, the simulator behind the flow completion times of SP-PIFO, AIFO, PACKS and RIFO. README.md
//! says how its results are made.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

/// Names the folder with Netbench's results: a folder `SCHEME-LOAD` for each run, with its `flow_completion.csv.log`.
const RESULTS: &str = "NETBENCH_RESULTS";
/// How far a figure may be from Netbench's.
const TOLERANCE: f64 = 0.05;
/// Each gives flows other paths. The 99th percentile is that of some hundred flows, so it depends on who shares a path.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;
const SMALL_BYTES: u64 = 100_000;

/// Bytes, and the completion time in ms of a flow that was completed.
type Flow = (u64, Option<f64>);

/// A run of Netbench.
struct Reference {
    scheme: String,
    load: String,
    /// In the order of their start.
    listed: Vec<Value>,
    flows: Vec<Flow>,
}

fn read(folder: &Path) -> Reference {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let (scheme, load) = name
        .rsplit_once('-')
        .unwrap_or_else(|| panic!("{name} is not SCHEME-LOAD"));
    let log = fs::read_to_string(folder.join("flow_completion.csv.log")).unwrap();
    let (mut listed, mut flows) = (Vec::new(), Vec::new());
    for line in log.lines() {
        let [_, source, destination, _, bytes, start, _, duration, completed, ..] =
            line.split(',').collect::<Vec<_>>()[..]
        else {
            panic!("{name}: {line}");
        };
        let number = |text: &str| text.parse::<u64>().unwrap();
        listed.push(
            json!({"start_ns": number(start), "source": number(source), "destination": number(destination),
                           "bytes": number(bytes)}),
        );
        let time = (completed == "TRUE").then(|| number(duration) as f64 / 1e6);
        flows.push((number(bytes), time));
    }
    Reference {
        scheme: scheme.to_owned(),
        load: load.to_owned(),
        listed,
        flows,
    }
}

/// The ports of RIFO's run files. Where Netbench's PIFO is full, 79 packets wait.
fn ports(scheme: &str) -> Value {
    match scheme {
        "fifo" => json!({"scheme": "fifo", "queues": 1, "queue_size": 80}),
        "pifo" => json!({"scheme": "pifo", "queues": 1, "queue_size": 79}),
        "sp_pifo" => json!({"scheme": "sp_pifo", "queues": 8, "queue_size": 10}),
        "aifo" => json!({"scheme": "aifo", "parameters": {"target_packets": 20, "capacity_packets": 20,
                         "headroom_256": 26, "window_ranks": 20, "sampling": 15}}),
        _ => panic!("no ports are known for {scheme}"),
    }
}

fn run(reference: &Reference, seed: u64) -> Vec<Flow> {
    let scenario = json!({
        "seed": seed,
        "end_ns": 1_000_000_000,
        "topology": {"leaf_spine": {"leaves": 9, "spines": 4, "hosts": 16,
            "access": {"rate_bps": 1_000_000_000, "delay_ns": 20},
            "fabric": {"rate_bps": 4_000_000_000_u64, "delay_ns": 20}}},
        "ports": ports(&reference.scheme),
        "hosts": ports(&reference.scheme),
        "ranks": "to_end",
        "overhead_bytes": 120,
        "transports": {"netbench": {"control": "netbench", "mss": 1380, "initial_window": 30, "window": 65_535,
            "initial_rto": 96_384, "min_rto": 1}},
        "flows": {"list": reference.listed},
    });
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    let mut world = World::new(scenario.setup(Path::new("")).unwrap()).unwrap();
    world.run();
    let flows = world.setup().flows.iter().enumerate();
    let time = |(number, flow): (usize, &p4sched_simulator::network::flows::Flow)| {
        let end = world.record(number).acknowledged_ns;
        (flow.bytes, end.map(|end| (end - flow.start_ns) as f64 / 1e6))
    };
    flows.map(time).collect()
}

/// Mean and 99th percentile (nearest rank) in ms of the completed flows below so many bytes.
fn figures(flows: &[Flow], below: u64) -> [f64; 2] {
    let mut times: Vec<f64> = flows
        .iter()
        .filter(|flow| flow.0 < below)
        .filter_map(|flow| flow.1)
        .collect();
    times.sort_by(f64::total_cmp);
    let last = (0.99 * times.len() as f64).ceil() as usize - 1;
    [times.iter().sum::<f64>() / times.len() as f64, times[last]]
}

/// Schemes in the order of their first figure.
fn order(figures: &BTreeMap<String, [f64; 4]>, place: usize) -> Vec<&str> {
    let mut schemes: Vec<_> = figures.iter().collect();
    schemes.sort_by(|a, b| a.1[place].total_cmp(&b.1[place]));
    schemes.into_iter().map(|(scheme, _)| scheme.as_str()).collect()
}

#[test]
#[ignore = "needs results of Netbench, in the folder that NETBENCH_RESULTS names"]
fn flows_complete_as_in_netbench() {
    let folder = PathBuf::from(env::var(RESULTS).unwrap_or_else(|_| panic!("set {RESULTS}")));
    let mut folders: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let mut far = Vec::new();
    // By load: theirs and ours, by scheme.
    let mut all: BTreeMap<String, [BTreeMap<String, [f64; 4]>; 2]> = BTreeMap::new();
    println!("mean and 99th percentile in ms, theirs and ours: all flows; those below {SMALL_BYTES} bytes");
    for folder in folders {
        let reference = read(&folder);
        let of = |flows: &[Flow]| {
            let ([mean, p99], [small, small_p99]) = (figures(flows, u64::MAX), figures(flows, SMALL_BYTES));
            [mean, p99, small, small_p99]
        };
        let theirs = of(&reference.flows);
        let started = Instant::now();
        let runs: Vec<[f64; 4]> = SEEDS.map(|seed| of(&run(&reference, seed))).collect();
        let seconds = started.elapsed().as_secs_f64() / runs.len() as f64;
        let ours = std::array::from_fn(|place| runs.iter().map(|run| run[place]).sum::<f64>() / runs.len() as f64);
        let name = format!("{} {}", reference.scheme, reference.load);
        println!("{name}: {theirs:.3?} {ours:.3?} {seconds:.1} s");
        for (what, (theirs, ours)) in ["mean", "99th percentile", "small mean", "small 99th percentile"]
            .iter()
            .zip(theirs.iter().zip(ours))
        {
            if (ours / theirs - 1.0).abs() > TOLERANCE {
                far.push(format!("{name}, {what}: {ours:.3} ms, not {theirs:.3} ms"));
            }
        }
        let [of_theirs, of_ours] = all.entry(reference.load).or_default();
        of_theirs.insert(reference.scheme.clone(), theirs);
        of_ours.insert(reference.scheme, ours);
    }
    assert!(!all.is_empty(), "{RESULTS} has no results");
    for (load, [theirs, ours]) in &all {
        for place in [0, 2] {
            assert_eq!(order(ours, place), order(theirs, place), "the order at {load}");
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
