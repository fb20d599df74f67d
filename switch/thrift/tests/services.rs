//! The methods, as BMv2's clients call them.

use crate::common::{Bench, CXT, data, exact, field, items, key, lpm, priority, range, ternary, text};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_thrift::answer::Failure;
use p4sched_thrift::value::{Value, kind};

const ROUTES: &str = "EverythingIngress.routes";
const FORWARD: &str = "EverythingIngress.forward";
const ACL: &str = "EverythingIngress.acl";
const PATHS: &str = "EverythingIngress.paths";
const SELECTOR: &str = "EverythingIngress.paths_selector";
const HOSTS: &str = "EverythingIngress.hosts";

const TABLE_FULL: i32 = 1;
const INVALID_HANDLE: i32 = 2;
const INVALID_TABLE_NAME: i32 = 7;
const INVALID_ACTION_NAME: i32 = 8;
const WRONG_TABLE_TYPE: i32 = 9;
const MEMBER_STILL_USED: i32 = 11;
const EMPTY_GROUP: i32 = 16;
const DUPLICATE_ENTRY: i32 = 17;
const BAD_MATCH_KEY: i32 = 18;
const DEFAULT_ENTRY_IS_CONST: i32 = 21;
const IMMUTABLE: i32 = 25;
const BAD_ACTION_DATA: i32 = 26;
const NO_TABLE_KEY: i32 = 27;

fn add_route(bench: &mut Bench, prefix: &[u8], length: i32, port: u8) -> Value {
    let args = [
        CXT,
        text(ROUTES),
        key(&[lpm(prefix, length)]),
        text(FORWARD),
        data(&[&[0, port]]),
        priority(0),
    ];
    bench.done("bm_mt_add_entry", &args)
}

fn handle(handle: i32) -> Value {
    Value::I32(handle)
}

#[test]
fn entries_have_handles_that_are_never_used_twice() {
    let mut bench = Bench::new();
    assert_eq!(add_route(&mut bench, &[10, 0, 1, 0], 24, 2), handle(0));
    assert_eq!(add_route(&mut bench, &[10, 0, 2, 0], 24, 3), handle(1));
    bench.done("bm_mt_delete_entry", &[CXT, text(ROUTES), handle(1)]);
    assert_eq!(add_route(&mut bench, &[10, 0, 2, 0], 24, 3), handle(2));
    assert_eq!(
        bench.refused("bm_mt_delete_entry", &[CXT, text(ROUTES), handle(1)]),
        INVALID_HANDLE
    );
    let modified = [CXT, text(ROUTES), handle(2), text(FORWARD), data(&[&[0, 9]])];
    bench.done("bm_mt_modify_entry", &modified);
    assert_eq!(bench.done("bm_mt_get_num_entries", &[CXT, text(ROUTES)]), Value::I64(2));
    let rows = bench.done("bm_mt_get_entries", &[CXT, text(ROUTES)]);
    let [_, row] = items(&rows) else { panic!("two entries") };
    assert_eq!(*field(row, 1), key(&[lpm(&[10, 0, 2, 0], 24)]));
    assert_eq!(*field(field(row, 2), 1), Value::I32(-1), "no priority");
    assert_eq!(*field(field(row, 4), 2), text(FORWARD));
    assert_eq!(*field(field(row, 4), 3), data(&[&[9]]));
    bench.done("bm_mt_clear_entries", &[CXT, text(ROUTES), Value::Bool(false)]);
    assert_eq!(bench.done("bm_mt_get_num_entries", &[CXT, text(ROUTES)]), Value::I64(0));
}

#[test]
fn bits_behind_a_prefix_and_outside_a_mask_do_not_count() {
    let mut bench = Bench::new();
    add_route(&mut bench, &[10, 0, 1, 77], 24, 2);
    let same = [CXT, text(ROUTES), key(&[lpm(&[10, 0, 1, 0], 24)]), priority(0)];
    let row = bench.done("bm_mt_get_entry_from_key", &same);
    assert_eq!(*field(&row, 1), key(&[lpm(&[10, 0, 1, 0], 24)]));
    add_route(&mut bench, &[10, 0, 0, 0], 0, 1);
}

#[test]
fn the_smallest_priority_wins_and_p4runtime_sees_the_largest() {
    let mut bench = Bench::new();
    let entry = [
        CXT,
        text(ACL),
        key(&[
            ternary(&[10, 1, 2, 3], &[255, 0, 0, 0]),
            range(&[0, 0], &[0, 100]),
            ternary(&[0], &[0]),
        ]),
        text("EverythingIngress.permit"),
        data(&[]),
        priority(5),
    ];
    bench.done("bm_mt_add_entry", &entry);
    assert_eq!(bench.refused("bm_mt_add_entry", &entry), DUPLICATE_ENTRY);
    let filter = p4rt::Entity {
        entity: Some(Entity::TableEntry(p4rt::TableEntry::default())),
    };
    let read = bench.device.read(&[filter], bench.now).expect("a program is loaded");
    let entries = read.into_iter().flatten().flatten();
    let priorities: Vec<i32> = entries
        .filter_map(|entity| match entity {
            Entity::TableEntry(entry) if entry.priority != 0 => Some(entry.priority),
            _ => None,
        })
        .collect();
    assert_eq!(priorities, [i32::MAX - 5]);
    let row = bench.done("bm_mt_get_entry", &[CXT, text(ACL), handle(0)]);
    assert_eq!(*field(field(&row, 2), 1), Value::I32(5));
    let masked = ternary(&[10, 0, 0, 0], &[255, 0, 0, 0]);
    assert_eq!(items(field(&row, 1))[0], masked);
}

#[test]
fn each_mistake_has_bmv2s_number() {
    let mut bench = Bench::new();
    let add = |table: &str, given: Value, action: &str, values: Value| {
        vec![CXT, text(table), given, text(action), values, priority(0)]
    };
    let route = || key(&[lpm(&[10, 0, 0, 0], 8)]);
    let port = || data(&[&[0, 1]]);
    let cases = [
        (add("nosuch", route(), FORWARD, port()), INVALID_TABLE_NAME),
        (add(ROUTES, route(), "nosuch", port()), INVALID_ACTION_NAME),
        (
            add(ROUTES, route(), "EverythingIngress.permit", data(&[])),
            INVALID_ACTION_NAME,
        ),
        (add(ROUTES, route(), FORWARD, data(&[])), BAD_ACTION_DATA),
        (add(ROUTES, key(&[]), FORWARD, port()), BAD_MATCH_KEY),
        (
            add(ROUTES, key(&[exact(&[10, 0, 0, 0])]), FORWARD, port()),
            BAD_MATCH_KEY,
        ),
        (
            add(ROUTES, key(&[lpm(&[10, 0, 0, 0], 33)]), FORWARD, port()),
            BAD_MATCH_KEY,
        ),
        (
            add(ROUTES, key(&[lpm(&[1, 10, 0, 0, 0], 8)]), FORWARD, port()),
            BAD_MATCH_KEY,
        ),
        (add(ROUTES, key(&[lpm(&[], 8)]), FORWARD, port()), BAD_MATCH_KEY),
        (add(PATHS, key(&[exact(&[1])]), FORWARD, port()), WRONG_TABLE_TYPE),
        (
            add("EverythingIngress.parameters", key(&[]), "NoAction", data(&[])),
            NO_TABLE_KEY,
        ),
        (
            add(
                "EverythingIngress.fixed_users",
                key(&[exact(&[1])]),
                "NoAction",
                data(&[]),
            ),
            IMMUTABLE,
        ),
    ];
    for (args, code) in cases {
        assert_eq!(bench.refused("bm_mt_add_entry", &args), code, "{args:?}");
    }
    let default = [CXT, text(ACL), text("EverythingIngress.permit"), data(&[])];
    assert_eq!(
        bench.refused("bm_mt_set_default_action", &default),
        DEFAULT_ENTRY_IS_CONST
    );
    assert_eq!(bench.call("nosuch", &[]), Err(Failure::UnknownMethod));
    assert!(matches!(
        bench.call("bm_mt_get_entries", &[CXT]),
        Err(Failure::Arguments(_))
    ));
}

#[test]
fn members_and_groups_count_from_0() {
    let mut bench = Bench::new();
    let member = |port: u8| [CXT, text(SELECTOR), text(FORWARD), data(&[&[0, port]])];
    assert_eq!(bench.done("bm_mt_act_prof_add_member", &member(1)), handle(0));
    assert_eq!(bench.done("bm_mt_act_prof_add_member", &member(2)), handle(1));
    assert_eq!(
        bench.done("bm_mt_act_prof_create_group", &[CXT, text(SELECTOR)]),
        handle(0)
    );
    let entry = |group: i32| [CXT, text(PATHS), key(&[exact(&[7])]), handle(group), priority(0)];
    assert_eq!(bench.refused("bm_mt_indirect_ws_add_entry", &entry(0)), EMPTY_GROUP);
    for member in [0, 1] {
        let joined = [CXT, text(SELECTOR), handle(member), handle(0)];
        bench.done("bm_mt_act_prof_add_member_to_group", &joined);
    }
    bench.done("bm_mt_indirect_ws_add_entry", &entry(0));
    let used = [CXT, text(SELECTOR), handle(1)];
    assert_eq!(bench.refused("bm_mt_act_prof_delete_member", &used), MEMBER_STILL_USED);
    bench.done(
        "bm_mt_act_prof_remove_member_from_group",
        &[CXT, text(SELECTOR), handle(1), handle(0)],
    );
    bench.done("bm_mt_act_prof_delete_member", &used);
    let group = bench.done("bm_mt_act_prof_get_group", &[CXT, text(SELECTOR), handle(0)]);
    assert_eq!(*field(&group, 2), Value::handles([0]));
    let row = bench.done("bm_mt_get_entry", &[CXT, text(PATHS), handle(0)]);
    assert_eq!(*field(field(&row, 4), 5), handle(0));
    bench.done("bm_mt_indirect_set_default_member", &[CXT, text(PATHS), handle(0)]);
    let default = bench.done("bm_mt_get_default_entry", &[CXT, text(PATHS)]);
    assert_eq!(*field(&default, 4), handle(0));
}

#[test]
fn a_full_table_is_reported() {
    let mut bench = Bench::new();
    let profile = "EverythingIngress.classes_profile";
    let member = [CXT, text(profile), text("NoAction"), data(&[])];
    for _ in 0..4 {
        bench.done("bm_mt_act_prof_add_member", &member);
    }
    assert_eq!(bench.refused("bm_mt_act_prof_add_member", &member), TABLE_FULL);
}

#[test]
fn timeouts_count_from_the_last_hit() {
    let mut bench = Bench::new();
    let aging = "EverythingIngress.aging";
    let entry = [
        CXT,
        text(aging),
        key(&[exact(&[0, 0, 0, 0, 0, 1])]),
        text("NoAction"),
        data(&[]),
        priority(0),
    ];
    bench.done("bm_mt_add_entry", &entry);
    bench.done("bm_mt_set_entry_ttl", &[CXT, text(aging), handle(0), Value::I32(2000)]);
    bench.now += 1_500_000_000;
    let row = bench.done("bm_mt_get_entry", &[CXT, text(aging), handle(0)]);
    assert_eq!(*field(field(&row, 5), 1), Value::I32(2000));
    assert_eq!(*field(field(&row, 5), 2), Value::I32(1500));
}

fn rates(units: [(f64, i32); 2]) -> Value {
    let rate = |(units, burst)| Value::Struct(vec![(1, Value::Double(units)), (2, Value::I32(burst))]);
    Value::List(kind::STRUCT, units.into_iter().map(rate).collect())
}

#[test]
fn arrays_are_read_and_written_by_name() {
    let mut bench = Bench::new();
    let host = [
        CXT,
        text(HOSTS),
        key(&[exact(&[0, 0, 0, 0, 0, 2])]),
        text("EverythingIngress.drop"),
        data(&[]),
        priority(0),
    ];
    bench.done("bm_mt_add_entry", &host);
    let count = Value::Struct(vec![(1, Value::I64(640)), (2, Value::I64(10))]);
    bench.done("bm_mt_write_counter", &[CXT, text(HOSTS), handle(0), count.clone()]);
    assert_eq!(bench.done("bm_mt_read_counter", &[CXT, text(HOSTS), handle(0)]), count);
    bench.done("bm_mt_reset_counters", &[CXT, text(HOSTS)]);
    let zero = Value::Struct(vec![(1, Value::I64(0)), (2, Value::I64(0))]);
    assert_eq!(bench.done("bm_mt_read_counter", &[CXT, text(HOSTS), handle(0)]), zero);

    let arrivals = "EverythingIngress.arrivals";
    bench.done("bm_counter_write", &[CXT, text(arrivals), Value::I32(1), count.clone()]);
    assert_eq!(
        bench.done("bm_counter_read", &[CXT, text(arrivals), Value::I32(1)]),
        count
    );
    bench.done("bm_counter_reset_all", &[CXT, text(arrivals)]);
    assert_eq!(
        bench.done("bm_counter_read", &[CXT, text(arrivals), Value::I32(1)]),
        zero
    );
    assert_eq!(
        bench.refused("bm_counter_read", &[CXT, text(arrivals), Value::I32(-1)]),
        2
    );
    assert_eq!(
        bench.refused("bm_counter_read", &[CXT, text("nosuch"), Value::I32(0)]),
        1
    );
}

#[test]
fn meters_have_rates_in_units_a_microsecond() {
    let mut bench = Bench::new();
    let json: serde_json::Value = serde_json::from_slice(crate::common::JSON).expect("it is JSON");
    let arrays = json["meter_arrays"].as_array().expect("there are meters");
    let meter = arrays
        .iter()
        .find(|meter| meter["is_direct"] != true)
        .expect("one is indirect");
    let name = meter["name"].as_str().expect("a name");
    let get = [CXT, text(name), Value::I32(0)];
    assert!(
        items(&bench.done("bm_meter_get_rates", &get)).is_empty(),
        "not configured"
    );
    let given = rates([(0.5, 100), (1.25, 200)]);
    bench.done("bm_meter_array_set_rates", &[CXT, text(name), given.clone()]);
    assert_eq!(bench.done("bm_meter_get_rates", &get), given);
    let falling = rates([(2.0, 100), (1.0, 200)]);
    let set = [CXT, text(name), Value::I32(0), falling];
    assert_eq!(bench.refused("bm_meter_set_rates", &set), 4);
    for odd in [f64::NAN, -1.0] {
        let set = [CXT, text(name), Value::I32(0), rates([(odd, 1), (1.0, 1)])];
        assert_eq!(bench.refused("bm_meter_set_rates", &set), 3);
    }
}

#[test]
fn registers_are_written_modulo_their_width() {
    let mut bench = Bench::new();
    let json: serde_json::Value = serde_json::from_slice(crate::common::JSON).expect("it is JSON");
    let registers = json["register_arrays"].as_array().expect("there are registers");
    let register = registers
        .iter()
        .find(|register| register["bitwidth"] == 32)
        .expect("one has 32 bits");
    let name = text(register["name"].as_str().expect("a name"));
    let size = register["size"].as_i64().expect("a size");
    bench.done("bm_register_write", &[CXT, name.clone(), Value::I32(0), Value::I64(-1)]);
    let read = bench.done("bm_register_read", &[CXT, name.clone(), Value::I32(0)]);
    assert_eq!(read, Value::I64(0xffff_ffff));
    let all = bench.done("bm_register_read_all", &[CXT, name.clone()]);
    assert_eq!(items(&all).len() as i64, size);
    bench.done("bm_register_reset", &[CXT, name.clone()]);
    assert_eq!(
        bench.done("bm_register_read", &[CXT, name.clone(), Value::I32(0)]),
        Value::I64(0)
    );
    let behind = [CXT, name, Value::I32(size as i32), Value::I64(1)];
    assert_eq!(bench.refused("bm_register_write", &behind), 2);
}

fn groups(bench: &mut Bench) -> Vec<p4rt::MulticastGroupEntry> {
    let all = p4rt::PacketReplicationEngineEntry { r#type: None };
    let filter = p4rt::Entity {
        entity: Some(Entity::PacketReplicationEngineEntry(all)),
    };
    let read = bench.device.read(&[filter], bench.now).expect("a program is loaded");
    let found = read.into_iter().flatten().flatten();
    let groups = found.filter_map(|entity| match entity {
        Entity::PacketReplicationEngineEntry(entry) => match entry.r#type {
            Some(Replication::MulticastGroupEntry(group)) => Some(group),
            _ => None,
        },
        _ => None,
    });
    groups.collect()
}

#[test]
fn nodes_are_the_replicas_of_p4runtimes_groups() {
    let mut bench = Bench::new();
    let call = |bench: &mut Bench, method: &str, args: &[Value]| bench.done(&format!("simple_pre_lag:{method}"), args);
    call(&mut bench, "bm_mc_mgrp_create", &[CXT, handle(3)]);
    let node = call(
        &mut bench,
        "bm_mc_node_create",
        &[CXT, handle(9), text("110"), text("")],
    );
    call(&mut bench, "bm_mc_node_associate", &[CXT, handle(3), node.clone()]);
    let [group] = &groups(&mut bench)[..] else {
        panic!("one group")
    };
    assert_eq!((group.multicast_group_id, group.replicas.len()), (3, 2));
    assert!(group.replicas.iter().all(|replica| replica.instance == 9));
    let again = bench.refused("simple_pre_lag:bm_mc_node_associate", &[CXT, handle(3), node.clone()]);
    assert_eq!(again, 5, "ERROR: it belongs to a group");
    call(
        &mut bench,
        "bm_mc_node_update",
        &[CXT, node.clone(), text("1000"), text("")],
    );
    assert_eq!(groups(&mut bench)[0].replicas.len(), 1);
    call(&mut bench, "bm_mc_node_destroy", &[CXT, node]);
    assert!(groups(&mut bench)[0].replicas.is_empty());
    assert_eq!(bench.refused("simple_pre_lag:bm_mc_node_destroy", &[CXT, handle(0)]), 4);
    let odd = [CXT, handle(0), text("12"), text("")];
    assert_eq!(bench.refused("simple_pre_lag:bm_mc_node_create", &odd), 5);
}

#[test]
fn a_mirroring_session_is_a_port_a_group_or_both() {
    let mut bench = Bench::new();
    let both = Value::Struct(vec![(1, Value::I32(2)), (2, Value::I32(3))]);
    bench.done("simple_switch:mirroring_session_add", &[Value::I32(0), both.clone()]);
    assert_eq!(
        bench.done("simple_switch:mirroring_session_get", &[Value::I32(0)]),
        both
    );
    bench.done("simple_switch:mirroring_session_delete", &[Value::I32(0)]);
    assert_eq!(
        bench.refused("simple_switch:mirroring_session_get", &[Value::I32(0)]),
        1
    );
}

#[test]
fn queues_are_set_one_by_one_a_port_at_a_time_or_all() {
    let mut bench = Bench::new();
    let number = Value::I32;
    bench.done("simple_switch:set_all_egress_queue_depths", &[number(20)]);
    bench.done("simple_switch:set_egress_queue_depth", &[number(1), number(30)]);
    bench.done(
        "simple_switch:set_egress_priority_queue_depth",
        &[number(1), number(7), number(40)],
    );
    bench.done("simple_switch:set_egress_queue_rate", &[number(2), Value::I64(100)]);
    let sizes = |bench: &Bench, port| {
        bench
            .device
            .engine()
            .port(port)
            .config
            .queues
            .map(|queue| queue.size_packets)
    };
    assert_eq!(sizes(&bench, 0), [20; 8]);
    assert_eq!(sizes(&bench, 1), [30, 30, 30, 30, 30, 30, 30, 40]);
    assert!(
        bench
            .device
            .engine()
            .port(2)
            .config
            .queues
            .iter()
            .all(|queue| queue.rate_pps == 100)
    );
    // BMv2 does not have such a queue either, and reports no error.
    bench.done(
        "simple_switch:set_egress_priority_queue_depth",
        &[number(-1), number(9), number(40)],
    );
}

#[test]
fn a_port_gets_a_rate_that_its_queues_share() {
    let mut bench = Bench::new();
    bench.done("bm_dev_mgr_add_port", &[text("veth0"), Value::I32(4), text("")]);
    let port = Value::I32(4);
    let rate = |bench: &mut Bench| bench.done("simple_switch:get_port_rate", std::slice::from_ref(&port));
    assert_eq!(rate(&mut bench), Value::I64(0));
    for bit_per_second in [10_000_000, 0] {
        bench.done(
            "simple_switch:set_port_rate",
            &[port.clone(), Value::I64(bit_per_second)],
        );
        assert_eq!(rate(&mut bench), Value::I64(bit_per_second));
        assert_eq!(bench.device.engine().port(4).config.rate_bps, bit_per_second as u64);
    }
    let mut failure = |port, rate| {
        let outcome = bench.call("simple_switch:set_port_rate", &[Value::I32(port), Value::I64(rate)]);
        outcome.expect_err("it is refused").to_string()
    };
    assert!(failure(4, 999).contains("use at least 1000 bit/s, or 0"));
    assert!(failure(4, -1).contains("below 0"));
    assert!(failure(3, 10_000).contains("no port 3; this switch has 4"));
    assert!(failure(-3, 10_000).contains("port -3"));
}

#[test]
fn ports_come_and_go() {
    let mut bench = Bench::new();
    bench.done("bm_dev_mgr_add_port", &[text("veth0"), Value::I32(4), text("")]);
    let rows = bench.done("bm_dev_mgr_show_ports", &[]);
    assert_eq!(*field(&items(&rows)[0], 2), text("veth0"));
    bench.done("bm_dev_mgr_remove_port", &[Value::I32(4)]);
    assert!(items(&bench.done("bm_dev_mgr_show_ports", &[])).is_empty());
    assert_eq!(
        bench.refused("bm_dev_mgr_add_port", &[text("veth0"), Value::I32(511), text("")]),
        1
    );
}

#[test]
fn a_program_is_swapped_with_the_switchs_groups_and_sessions() {
    let mut bench = Bench::new();
    add_route(&mut bench, &[10, 0, 1, 0], 24, 2);
    bench.done("simple_pre_lag:bm_mc_mgrp_create", &[CXT, handle(3)]);
    let port = Value::Struct(vec![(1, Value::I32(2))]);
    bench.done("simple_switch:mirroring_session_add", &[Value::I32(5), port.clone()]);
    assert_eq!(bench.refused("bm_swap_configs", &[]), 3);
    let program = p4sched_device::Program::without_p4info(crate::common::JSON.to_vec()).expect("it is a program");
    bench.device.load_for_swap(program).expect("none waits");
    assert_eq!(
        bench.done("bm_mt_get_num_entries", &[CXT, text(ROUTES)]),
        Value::I64(0),
        "of the new one"
    );
    add_route(&mut bench, &[10, 0, 2, 0], 24, 2);
    bench.done("bm_swap_configs", &[]);
    assert_eq!(bench.done("bm_mt_get_num_entries", &[CXT, text(ROUTES)]), Value::I64(1));
    assert_eq!(groups(&mut bench).len(), 1);
    assert_eq!(
        bench.done("simple_switch:mirroring_session_get", &[Value::I32(5)]),
        port
    );
    assert_eq!(
        bench.done("bm_get_config", &[]),
        Value::String(crate::common::JSON.to_vec())
    );
}

#[test]
fn a_program_in_the_message_of_the_tutorials_is_shown_without_the_message() {
    let mut bench = Bench::new();
    let json = crate::common::JSON;
    // Fields 1 (reassign = true) and 3 (device_data) of p4.tmp.P4DeviceConfig.
    let mut wrapped = vec![0x08, 1, 0x1a];
    let mut length = json.len();
    while length > 0x7f {
        wrapped.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    wrapped.push(length as u8);
    wrapped.extend_from_slice(json);
    let program = p4sched_device::Program::without_p4info(wrapped).expect("it is a program");
    bench.device.commit(program).expect("it fits the switch");
    assert_eq!(bench.done("bm_get_config", &[]), Value::String(json.to_vec()));
}

#[test]
fn value_sets_are_written_value_by_value() {
    let mut bench = Bench::new();
    let name = text("EverythingParser.special_types");
    for value in [[0x12, 0x34], [0x56, 0x78], [0x12, 0x34]] {
        bench.done("bm_parse_vset_add", &[CXT, name.clone(), Value::String(value.to_vec())]);
    }
    bench.done(
        "bm_parse_vset_remove",
        &[CXT, name.clone(), Value::String(vec![0x12, 0x34])],
    );
    assert_eq!(
        bench.done("bm_parse_vset_get", &[CXT, name.clone()]),
        data(&[&[0x56, 0x78]])
    );
    bench.done("bm_parse_vset_clear", &[CXT, name.clone()]);
    assert_eq!(bench.done("bm_parse_vset_get", &[CXT, name]), data(&[]));
}
