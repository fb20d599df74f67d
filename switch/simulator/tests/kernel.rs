//! Hosts of the simulator against hosts with Linux kernels: Cubic flows through one FIFO.
//!
//! The kernel's figures were measured in the lab (`switch/transport/README.md` has the commands and the table).

use std::path::Path;

use p4sched_simulator::network::connections::Record;
use p4sched_simulator::network::results;
use p4sched_simulator::network::scenario::Scenario;
use p4sched_simulator::network::world::World;
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;
const RATE_BPS: u64 = 10_000_000;
/// Time that both sides leave out before they measure.
const WARM_UP: u64 = 10 * SECOND;
const MEASURED: u64 = 40 * SECOND;
/// Number of runs of the model; their mean counts. In each run, flows start at other times in the first tenths of a
/// second.
const RUNS: u64 = 3;

/// A run of the lab.
struct Kernel {
    rtt_ms: u64,
    /// Size of the FIFO in packets.
    buffer: u64,
    flows: u64,
    /// Mean length of the queue in packets.
    length: f64,
    /// Jain's index of the flows' throughputs.
    jain: f64,
    retransmissions: f64,
}

const fn kernel(rtt_ms: u64, buffer: u64, flows: u64, length: f64, jain: f64, retransmissions: f64) -> Kernel {
    Kernel {
        rtt_ms,
        buffer,
        flows,
        length,
        jain,
        retransmissions,
    }
}

const LAB: [Kernel; 12] = [
    kernel(100, 83, 1, 59.6, 1.0, 23.0),
    kernel(100, 83, 5, 69.7, 0.953, 111.0),
    kernel(100, 83, 20, 75.6, 0.988, 918.0),
    kernel(200, 83, 1, 48.6, 1.0, 27.0),
    kernel(200, 83, 5, 59.4, 0.972, 118.0),
    kernel(200, 83, 20, 70.3, 0.963, 619.0),
    kernel(40, 66, 1, 54.8, 1.0, 13.0),
    kernel(40, 66, 5, 58.4, 0.982, 180.0),
    kernel(40, 66, 20, 62.2, 0.989, 1545.0),
    kernel(40, 33, 1, 25.2, 1.0, 16.0),
    kernel(40, 33, 5, 27.3, 0.99, 318.0),
    kernel(40, 33, 20, 30.1, 0.99, 2473.0),
];

/// The same figures for the model.
struct Model {
    throughput: f64,
    length: f64,
    jain: f64,
    retransmissions: f64,
}

fn world(kernel: &Kernel, run: u64) -> World {
    let step = SECOND / 100;
    let flows: Vec<Value> = (0..kernel.flows)
        .map(|flow| {
            let start_ns = flow * step + (run * 7919 * (flow + 1) * 1_000_003) % step;
            let source = format!("u{}", flow % 4 + 1);
            json!({"start_ns": start_ns, "source": source, "destination": "server", "bytes": 1_u64 << 40})
        })
        .collect();
    let scenario: Scenario = serde_json::from_value(json!({
        "end_ns": WARM_UP + MEASURED,
        "topology": {"dumbbell": {
            "hosts": 4,
            "access": {"rate_bps": 10_000_000_000_u64, "delay_ns": 1000},
            "bottleneck": {"rate_bps": RATE_BPS, "delay_ns": kernel.rtt_ms * 500_000 - 1000}}},
        "ports": {"scheme": "fifo", "queues": 1, "queue_size": kernel.buffer},
        "transports": {"cubic": {"control": "cubic"}},
        "flows": {"list": flows},
    }))
    .unwrap();
    World::new(scenario.setup(Path::new("")).unwrap()).unwrap()
}

/// Counters at one time.
struct Reading {
    /// Bytes sent by the bottleneck.
    sent: f64,
    /// Area under the length of its queue over time, in packets times ns.
    area: f64,
    records: Vec<Record>,
}

fn read(world: &World, flows: u64) -> Reading {
    let summary = results::summary(world);
    let mut ports = summary["ports"].as_array().unwrap().iter();
    let port = ports
        .find(|port| port["node"] == "s1" && port["to"] == "server")
        .unwrap();
    Reading {
        sent: port["sent_bytes"].as_f64().unwrap(),
        area: port["queue_packets"]["mean"].as_f64().unwrap() * world.now() as f64,
        records: (0..flows as usize).map(|flow| world.record(flow)).collect(),
    }
}

fn model(kernel: &Kernel, run: u64) -> Model {
    let mut world = world(kernel, run);
    while world.now() < WARM_UP && world.step() {}
    let early = read(&world, kernel.flows);
    world.run();
    let late = read(&world, kernel.flows);
    let records = || early.records.iter().zip(&late.records);
    let got: Vec<f64> = records()
        .map(|(early, late)| (late.received_bytes - early.received_bytes) as f64)
        .collect();
    let again = records().map(|(early, late)| late.statistics.retransmitted - early.statistics.retransmitted);
    let squares: f64 = got.iter().map(|bytes| bytes * bytes).sum();
    Model {
        throughput: (late.sent - early.sent) * 8.0 / (MEASURED as f64 / SECOND as f64) / RATE_BPS as f64,
        length: (late.area - early.area) / MEASURED as f64,
        jain: got.iter().sum::<f64>().powi(2) / squares / got.len() as f64,
        retransmissions: again.sum::<u64>() as f64,
    }
}

/// Throughput within 5 %, mean length within 15 %, Jain's index within 0.03, retransmissions within a factor of 1.5.
#[test]
fn cubic_flows_of_the_model_do_as_those_of_a_kernel() {
    for kernel in &LAB {
        let runs: Vec<Model> = (0..RUNS).map(|run| model(kernel, run)).collect();
        let mean = |of: fn(&Model) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
        let (length, jain) = (mean(|run| run.length), mean(|run| run.jain));
        let (throughput, retransmissions) = (mean(|run| run.throughput), mean(|run| run.retransmissions));
        let text = format!(
            "{} ms, {} packets, {} flows: throughput {throughput:.4}, length {length:.1} ({}), Jain {jain:.3} ({}), {retransmissions:.0} ({})",
            kernel.rtt_ms, kernel.buffer, kernel.flows, kernel.length, kernel.jain, kernel.retransmissions
        );
        // In every run of the lab, the kernel's flows filled the link: 1.000.
        println!("{text}");
        assert!((throughput - 1.0).abs() < 0.05, "{text}");
        assert!((length / kernel.length - 1.0).abs() < 0.15, "{text}");
        assert!((jain - kernel.jain).abs() < 0.03, "{text}");
        assert!(
            (kernel.retransmissions / 1.5..kernel.retransmissions * 1.5).contains(&retransmissions),
            "{text}"
        );
    }
}
