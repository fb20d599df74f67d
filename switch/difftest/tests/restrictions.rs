//! Over P4Runtime, the programs accept only parameters that they can work with.

use std::path::Path;

use p4sched_device::{Device, Fault};
use p4sched_engine::Engine;
use p4sched_proto::p4::config::v1::Preamble;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use p4sched_schedulers::Target;
use p4sched_simulator::program::Program;

struct Switch {
    device: Device,
    config: p4rt::ForwardingPipelineConfig,
}

fn id<'a>(preambles: impl Iterator<Item = Option<&'a Preamble>>, name: &str) -> u32 {
    let mut named = preambles.flatten().filter(|preamble| preamble.name == name);
    named.next().unwrap_or_else(|| panic!("no {name} in P4Info")).id
}

impl Switch {
    fn new(program: &str) -> Switch {
        Switch::on(Target::V1model, program)
    }

    fn on(target: Target, program: &str) -> Switch {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let directory = project.join(target.directory());
        let compiled = Program::compile(&directory, program, target).unwrap_or_else(|error| panic!("{error}"));
        let config = compiled.config();
        let mut device = Device::new(1, Engine::new(), Box::new(|_| false));
        let program = p4sched_device::Program::new(config.clone()).unwrap_or_else(|fault| panic!("{fault}"));
        device.commit(program).unwrap_or_else(|fault| panic!("{fault}"));
        Switch { device, config }
    }

    fn entry(&self, table: &str, action: &str, values: &[u64]) -> p4rt::TableEntry {
        let info = self.config.p4info.as_ref().expect("the compiler makes P4Info");
        let params = values.iter().zip(1..).map(|(value, param_id)| p4rt::action::Param {
            param_id,
            value: value.to_be_bytes().to_vec(),
        });
        let action = p4rt::Action {
            action_id: id(info.actions.iter().map(|action| action.preamble.as_ref()), action),
            params: params.collect(),
        };
        p4rt::TableEntry {
            table_id: id(info.tables.iter().map(|table| table.preamble.as_ref()), table),
            action: Some(p4rt::TableAction {
                r#type: Some(ActionKind::Action(action)),
            }),
            ..p4rt::TableEntry::default()
        }
    }

    fn write(&mut self, kind: Type, entry: p4rt::TableEntry) -> Result<(), Fault> {
        let entity = Entity::TableEntry(entry);
        let update = p4rt::Update {
            r#type: kind.into(),
            entity: Some(p4rt::Entity { entity: Some(entity) }),
        };
        self.device.write(&[update], 0).expect("a program is loaded").remove(0)
    }

    fn set_default(&mut self, table: &str, action: &str, values: &[u64]) -> Result<(), Fault> {
        let entry = self.entry(table, action, values);
        self.write(
            Type::Modify,
            p4rt::TableEntry {
                is_default_action: true,
                ..entry
            },
        )
    }

    fn default_of(&mut self, table: &str) -> Entity {
        let info = self.config.p4info.as_ref().expect("the compiler makes P4Info");
        let filter = p4rt::TableEntry {
            table_id: id(info.tables.iter().map(|table| table.preamble.as_ref()), table),
            is_default_action: true,
            ..p4rt::TableEntry::default()
        };
        let filter = p4rt::Entity {
            entity: Some(Entity::TableEntry(filter)),
        };
        let found = self.device.read(&[filter], 0).expect("a program is loaded").remove(0);
        found.expect("a default action can be read").remove(0)
    }
}

/// Checks that each legal set of values is accepted, as the default action and as the entry of a port. Values that
/// break a restriction must leave the earlier ones unchanged.
fn check(program: &str, table: &str, action: &str, legal: &[&[u64]], broken: &[(&[u64], &str)]) {
    let mut switch = Switch::new(program);
    for values in legal {
        switch
            .set_default(table, action, values)
            .unwrap_or_else(|fault| panic!("{values:?}: {fault}"));
    }
    let in_force = switch.default_of(table);
    for (values, problem) in broken {
        let fault = switch
            .set_default(table, action, values)
            .expect_err("it is out of range");
        let expected = format!("{table}: action '{action}': {problem}");
        assert_eq!(fault.message, expected, "{values:?}");
        assert_eq!(switch.default_of(table), in_force, "{values:?}");
        let port = p4rt::field_match::Exact { value: vec![1] };
        let port = p4rt::FieldMatch {
            field_id: 1,
            field_match_type: Some(p4rt::field_match::FieldMatchType::Exact(port)),
        };
        let entry = p4rt::TableEntry {
            r#match: vec![port],
            ..switch.entry(table, action, values)
        };
        assert_eq!(
            switch
                .write(Type::Insert, entry)
                .expect_err("it is out of range")
                .message,
            expected
        );
    }
}

#[test]
fn aifo_needs_a_target_a_queue_a_window_of_1_to_32_ranks_and_a_sampling() {
    check(
        "aifo",
        "AifoIngress.aifo_params",
        "AifoIngress.set_aifo",
        &[
            &[1, 1, 0, 1, 1],
            &[65_535, 65_535, 255, 32, u64::from(u32::MAX)],
            &[40, 20, 26, 20, 15],
        ],
        &[
            (
                &[0, 20, 26, 20, 15],
                "target_packets = 0 breaks the restriction 'target_packets != 0'",
            ),
            (
                &[20, 0, 26, 20, 15],
                "capacity_packets = 0 breaks the restriction 'capacity_packets != 0'",
            ),
            (
                &[20, 20, 26, 0, 15],
                "window_ranks = 0 breaks the restriction 'window_ranks >= 1 && window_ranks <= 32'",
            ),
            (
                &[20, 20, 26, 33, 0],
                "window_ranks = 33 breaks the restriction 'window_ranks >= 1 && window_ranks <= 32'; \
                 sampling = 0 breaks the restriction 'sampling != 0'",
            ),
        ],
    );
}

#[test]
fn rifo_needs_a_queue_and_a_tracking_range() {
    check(
        "rifo",
        "RifoIngress.rifo_params",
        "RifoIngress.set_rifo",
        &[&[1, 0, 1], &[65_535, 255, u64::from(u32::MAX)]],
        &[
            (
                &[0, 26, 50],
                "capacity_packets = 0 breaks the restriction 'capacity_packets != 0'",
            ),
            (
                &[20, 26, 0],
                "tracking_packets = 0 breaks the restriction 'tracking_packets != 0'",
            ),
        ],
    );
}

const NO_QUEUE: &str = "size_1 = 0, size_2 = 0, size_3 = 0, size_4 = 0, size_5 = 0, size_6 = 0, size_7 = 0, size_8 = 0 break \
                        the restriction 'size_1 != 0 || size_2 != 0 || size_3 != 0 || size_4 != 0 || size_5 != 0 || \
                        size_6 != 0 || size_7 != 0 || size_8 != 0'";

#[test]
fn packs_and_sp_pifo_need_at_least_one_queue() {
    check(
        "packs",
        "PacksIngress.packs_params",
        "PacksIngress.set_packs",
        &[
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
            &[0, 0, 0, 0, 0, 0, 0, 9, 255, 32, 7],
        ],
        &[
            (&[0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1], NO_QUEUE),
            (
                &[9, 0, 0, 0, 0, 0, 0, 0, 0, 33, 1],
                "window_ranks = 33 breaks the restriction 'window_ranks >= 1 && window_ranks <= 32'",
            ),
            (
                &[9, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0],
                "sampling = 0 breaks the restriction 'sampling != 0'",
            ),
        ],
    );
    check(
        "sp_pifo",
        "SpPifoIngress.sp_pifo_params",
        "SpPifoIngress.set_sp_pifo",
        &[&[0, 0, 0, 1, 0, 0, 0, 0], &[7, 7, 7, 0, 0, 0, 0, 0]],
        &[(&[0; 8], NO_QUEUE)],
    );
}

/// The parameters of `set_bands`: interval, edges, token buckets or not, rates, burst. There are no flowlets and no
/// depths.
fn bands(interval: u64, edges: [u64; 7], buckets: u64, rates: [u64; 7], burst: u64) -> Vec<u64> {
    let rest = [burst, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    [&[interval][..], &edges, &[buckets], &rates, &rest].concat()
}

#[test]
fn fdpa_needs_an_interval_edges_that_do_not_fall_and_a_burst_for_its_buckets() {
    const UNUSED: u64 = u32::MAX as u64;
    let edges = [10, 20, 30, UNUSED, UNUSED, UNUSED, UNUSED];
    let falling = [10, 9, 30, 40, 50, 60, 70];
    let named = |name: &str, values: [u64; 7]| {
        let values: Vec<String> = values
            .iter()
            .zip(1..)
            .map(|(value, q)| format!("{name}_{q} = {value}"))
            .collect();
        let pairs: Vec<String> = (1..7).map(|q| format!("{name}_{q} <= {name}_{}", q + 1)).collect();
        format!("{} break the restriction '{}'", values.join(", "), pairs.join(" && "))
    };
    check(
        "fdpa",
        "FdpaIngress.fdpa_params",
        "FdpaIngress.set_bands",
        &[
            &bands(1, edges, 0, [0; 7], 0),
            &bands(60_000, [UNUSED; 7], 0, [0; 7], 0),
            &bands(60_000, edges, 1, edges, (1 << 28) - 1),
        ],
        &[
            (
                &bands(0, edges, 0, [0; 7], 0),
                "interval_us = 0 breaks the restriction 'interval_us != 0'",
            ),
            (&bands(1, falling, 0, [0; 7], 0), &named("edge", falling)),
            (&bands(1, edges, 1, falling, 5), &named("rate", falling)),
            (
                &bands(1, edges, 1, edges, 1 << 28),
                "burst_bytes = 268435456 breaks the restriction 'burst_bytes < 0x10000000'",
            ),
            (
                &bands(1, edges, 1, edges, 0),
                "token_bucket = 1, burst_bytes = 0 break the restriction 'token_bucket == 1 -> burst_bytes != 0'",
            ),
        ],
    );
}

#[test]
fn ranked_programs_know_four_sources_of_ranks() {
    for (program, ingress) in [
        ("fifo", "FifoIngress"),
        ("aifo", "AifoIngress"),
        ("rifo", "RifoIngress"),
        ("packs", "PacksIngress"),
        ("sp_pifo", "SpPifoIngress"),
    ] {
        check(
            program,
            &format!("{ingress}.ranking.rank_sources"),
            &format!("{ingress}.ranking.set_rank_source"),
            &[&[0], &[1], &[2], &[3]],
            &[
                (&[4], "rank_source = 4 breaks the restriction 'rank_source <= 3'"),
                (&[255], "rank_source = 255 breaks the restriction 'rank_source <= 3'"),
            ],
        );
    }
}

#[test]
fn users_are_below_4096_and_weigh_something_and_groups_have_64_buckets() {
    let mut switch = Switch::new("fdpa");
    let address = |value: &[u8]| p4rt::FieldMatch {
        field_id: 1,
        field_match_type: Some(p4rt::field_match::FieldMatchType::Lpm(p4rt::field_match::Lpm {
            value: value.to_vec(),
            prefix_len: 32,
        })),
    };
    for (values, problem) in [
        ([4096, 256], Some("user = 4096 breaks the restriction 'user < 4096'")),
        ([1, 0], Some("scale = 0 breaks the restriction 'scale != 0'")),
        ([4095, 65_535], None),
    ] {
        let entry = switch.entry(
            "FdpaIngress.users.users_by_prefix",
            "FdpaIngress.users.set_user",
            &values,
        );
        let written = switch.write(
            Type::Insert,
            p4rt::TableEntry {
                r#match: vec![address(&[10, 0, 0, 1])],
                ..entry
            },
        );
        let said = written.err().map(|fault| fault.message);
        let expected = problem.map(|problem| {
            format!("FdpaIngress.users.users_by_prefix: action 'FdpaIngress.users.set_user': {problem}")
        });
        assert_eq!(said, expected);
    }
    let exact = |field_id, value| p4rt::FieldMatch {
        field_id,
        field_match_type: Some(p4rt::field_match::FieldMatchType::Exact(p4rt::field_match::Exact {
            value: vec![value],
        })),
    };
    for (bucket, problem) in [
        (63, None),
        (64, Some("ecmp_bucket = 64 breaks the restriction 'ecmp_bucket < 64'")),
    ] {
        let entry = switch.entry(
            "FdpaIngress.forwarding.ecmp_paths",
            "FdpaIngress.forwarding.forward",
            &[1, 1],
        );
        let r#match = vec![exact(1, 5), exact(2, bucket)];
        let said = switch
            .write(Type::Insert, p4rt::TableEntry { r#match, ..entry })
            .err()
            .map(|fault| fault.message);
        let expected = problem.map(|problem| format!("FdpaIngress.forwarding.ecmp_paths: its entries: {problem}"));
        assert_eq!(said, expected);
    }
}

#[test]
fn a_tofino_has_a_window_of_16_ranks_no_gaps_between_queues_and_no_ranks_of_stfq() {
    let (table, action) = ("pipe.PacksIngress.packs_params", "PacksIngress.set_packs");
    let mut packs = Switch::on(Target::T2na, "packs");
    let legal = [10, 20, 30, 0, 0, 0, 0, 0, 0, 16, 1];
    assert_eq!(packs.set_default(table, action, &legal), Ok(()));
    for (at, value) in [(9, 17), (0, 0), (1, 0), (5, 1), (10, 0)] {
        let mut broken = legal;
        broken[at] = value;
        let fault = packs
            .set_default(table, action, &broken)
            .expect_err("it is out of range");
        assert!(fault.message.contains("the restriction"), "{fault}");
    }
    for target in [Target::Tna, Target::T2na] {
        let mut aifo = Switch::on(target, "aifo");
        let (table, action) = ("pipe.AifoIngress.aifo_params", "AifoIngress.set_aifo");
        assert_eq!(aifo.set_default(table, action, &[20, 20, 26, 16, 15]), Ok(()));
        assert!(aifo.set_default(table, action, &[20, 20, 26, 17, 15]).is_err());
        let (table, action) = (
            "pipe.AifoIngress.ranking.rank_sources",
            "AifoIngress.ranking.set_rank_source",
        );
        assert_eq!(aifo.set_default(table, action, &[2]), Ok(()));
        assert!(aifo.set_default(table, action, &[3]).is_err());
    }
}
