//! Results of a run: a summary as JSON, and one line for each flow as CSV. The same run gives the same bytes.

use std::fmt::Write as _;

use p4sched_schedulers::Nanos;
use p4sched_world::topology::Node;
use serde_json::{Value, json};

use super::world::{PortSample, World};

/// One line for each flow: number, start, ends, bytes; the time at which the receiver had all bytes and the time at
/// which the sender knew it; segments sent, and retransmissions. A field is empty if its event did not happen before
/// the end of the run.
pub fn flows_csv(world: &World) -> String {
    let mut text = String::from(
        "flow,start_ns,source,destination,bytes,received_ns,acknowledged_ns,received_bytes,sent_segments,retransmitted,timeouts\n",
    );
    let hosts = &world.setup().topology.hosts;
    let or_nothing = |at: Option<Nanos>| at.map(|at| at.to_string()).unwrap_or_default();
    for (number, flow) in world.setup().flows.iter().enumerate() {
        let record = world.record(number);
        let statistics = record.statistics;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{number},{},{},{},{},{},{},{},{},{},{}",
            flow.start_ns,
            hosts[flow.source as usize].name,
            hosts[flow.destination as usize].name,
            flow.bytes,
            or_nothing(record.received_ns),
            or_nothing(record.acknowledged_ns),
            record.received_bytes,
            statistics.sent,
            statistics.retransmitted,
            statistics.timeouts,
        );
    }
    text
}

/// The summary: flows and their completion times, bytes, and every port.
pub fn summary(world: &World) -> Value {
    let account = world.account();
    let setup = world.setup();
    let wires = 0..setup.topology.wires.len();
    let mut record = json!({
        "seed": setup.seed,
        "end_ns": setup.end_ns,
        "events": world.events(),
        "flows": completion(world),
        "frame_bytes": {
            "sent": account.sent,
            "delivered": account.delivered,
            "dropped": account.dropped,
            "in_flight": account.in_flight(),
        },
        "ports": wires.map(|wire| port_record(world, wire)).collect::<Vec<Value>>(),
    });
    if setup.sample_ns.is_some() {
        let received: Vec<_> = world.samples().iter().map(|sample| &sample.received_bytes).collect();
        record["received_bytes"] = json!(received);
    }
    record
}

fn completion(world: &World) -> Value {
    let flows = &world.setup().flows;
    let mut times: Vec<Nanos> = (flows.iter().enumerate())
        .filter_map(|(number, flow)| Some(world.record(number).received_ns? - flow.start_ns))
        .collect();
    times.sort_unstable();
    let mean = times.iter().map(|&time| u128::from(time)).sum::<u128>() as f64 / times.len() as f64;
    // Quantile by nearest rank.
    let quantile = |share: f64| times.get(((share * times.len() as f64).ceil() as usize).saturating_sub(1));
    json!({
        "listed": flows.len(),
        "started": world.started(),
        "completed": times.len(),
        "completion_ns": {
            "mean": if times.is_empty() { Value::Null } else { json!(mean) },
            "median": quantile(0.5),
            "p99": quantile(0.99),
            "longest": times.last(),
        },
    })
}

fn port_record(world: &World, number: usize) -> Value {
    let topology = &world.setup().topology;
    let (wire, counts) = (&topology.wires[number], world.counts(number));
    let queue = world.lengths(number).map(|lengths| {
        json!({
            "mean": lengths.mean(),
            "median": lengths.quantile(0.5),
            "p99": lengths.quantile(0.99),
            "longest": lengths.longest(),
        })
    });
    let port_number = match wire.from {
        Node::Host(_) => Value::Null,
        Node::Switch(_) => json!(wire.from_port),
    };
    let mut record = json!({
        "node": topology.name(wire.from),
        "port": port_number,
        "to": topology.name(wire.to),
        "sent_packets": counts.sent_packets,
        "sent_bytes": counts.sent_bytes,
        "dropped_full": counts.full,
        "dropped_refused": counts.refused,
        "pushed_out": counts.pushed_out,
        "marked": counts.marked,
        "queue_packets": queue,
    });
    let samples: Vec<&PortSample> = (world.samples().iter())
        .filter_map(|sample| sample.ports.get(number)?.as_ref())
        .collect();
    if !samples.is_empty() {
        let counted = |of: fn(&PortSample) -> u64| samples.iter().map(|&sample| of(sample)).collect::<Vec<_>>();
        record["samples"] = json!({
            "queue_packets": samples.iter().map(|sample| sample.queues).collect::<Vec<_>>(),
            "sent_bytes": counted(|sample| sample.counts.sent_bytes),
            "dropped_full": counted(|sample| sample.counts.full),
            "dropped_refused": counted(|sample| sample.counts.refused),
            "pushed_out": counted(|sample| sample.counts.pushed_out),
        });
        if samples.iter().any(|sample| !sample.bounds.is_empty()) {
            record["samples"]["bounds"] = json!(samples.iter().map(|sample| &sample.bounds).collect::<Vec<_>>());
        }
    }
    if let Some(counts) = world.out_of_order(number) {
        record["inversions"] = json!(counts.inversions);
        record["overtakes"] = json!(counts.overtakes);
    }
    if let Some(counts) = world.by_rank(number) {
        record["by_rank"] = json!({
            "inversions": counts.inversions,
            "behind_higher": counts.behind_higher,
            "drops": counts.drops,
            "departures": counts.departures,
            "queued": counts.queued,
        });
    }
    record
}
