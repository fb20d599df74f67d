//! Service `simple_pre_lag`: multicast groups, nodes and link aggregation groups (LAGs).

use p4sched_dataplane::DROP_PORT;
use p4sched_device::bmv2::{ReplicationCode, Runtime};
use serde_json::{Value as Json, json};

use crate::answer::{Failure, Outcome};
use crate::value::{Fields, Value};

/// The numbers in a map of digits 0 and 1. The last digit stands for number 0.
fn numbers(map: &str, limit: u16) -> Result<Vec<u16>, Failure> {
    let mut numbers = Vec::new();
    for (number, digit) in map.bytes().rev().enumerate() {
        match (digit, u16::try_from(number)) {
            (b'0', _) => {}
            (b'1', Ok(number)) if number < limit => numbers.push(number),
            _ => {
                let problem = format!(
                    "a map of 0s and 1s, its last digit number 0, the first at most {}",
                    limit - 1
                );
                return Err(ReplicationCode::Error.because(problem).into());
            }
        }
    }
    Ok(numbers)
}

/// The number of LAGs in BMv2.
const LAGS: u16 = 256;

pub fn call(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Option<Outcome> {
    methods(method, args, runtime).unwrap_or_else(|failure| Some(Err(failure)))
}

fn methods(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Result<Option<Outcome>, Failure> {
    let ports = |field| numbers(args.text(field)?, DROP_PORT);
    let lags = |field| numbers(args.text(field)?, LAGS);
    let result = match method {
        "bm_mc_mgrp_create" => {
            let group = args.i32(2)?;
            runtime.create_multicast_group(group)?;
            Some(Value::I32(group))
        }
        "bm_mc_mgrp_destroy" => {
            runtime.destroy_multicast_group(args.i32(2)?)?;
            None
        }
        "bm_mc_node_create" => {
            let node = runtime.create_node(args.i32(2)?, ports(3)?, lags(4)?)?;
            Some(Value::I32(node.cast_signed()))
        }
        "bm_mc_node_update" => {
            runtime.update_node(args.i32(2)?, ports(3)?, lags(4)?)?;
            None
        }
        "bm_mc_node_associate" => {
            runtime.associate_node(args.i32(2)?, args.i32(3)?)?;
            None
        }
        "bm_mc_node_dissociate" => {
            runtime.dissociate_node(args.i32(2)?, args.i32(3)?)?;
            None
        }
        "bm_mc_node_destroy" => {
            runtime.destroy_node(args.i32(2)?)?;
            None
        }
        "bm_mc_set_lag_membership" => {
            runtime.set_lag(args.i16(2)?, ports(3)?)?;
            None
        }
        "bm_mc_get_entries" => Some(Value::String(entries(runtime).to_string().into_bytes())),
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}

/// All groups, nodes and LAGs, in the JSON that clients read. A node has the same handle at both of BMv2's levels.
fn entries(runtime: &Runtime<'_>) -> Json {
    let groups = runtime.multicast_groups().into_iter();
    let groups: Vec<Json> = groups
        .map(|(id, nodes)| json!({"id": id, "l1_handles": nodes}))
        .collect();
    let nodes = runtime.nodes().iter();
    let upper: Vec<Json> = nodes
        .clone()
        .map(|(handle, node)| json!({"handle": handle, "rid": node.rid, "l2_handle": handle}))
        .collect();
    let lower: Vec<Json> = nodes
        .map(|(handle, node)| json!({"handle": handle, "ports": node.ports, "lags": node.lags}))
        .collect();
    let lags = runtime.lags().iter();
    let lags: Vec<Json> = lags.map(|(id, ports)| json!({"id": id, "ports": ports})).collect();
    json!({"mgrps": groups, "l1_handles": upper, "l2_handles": lower, "lags": lags})
}
