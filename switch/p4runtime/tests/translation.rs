//! Translated values: ports, virtual routers (the name of one is fixed to 0), and classes of 2 bits.

use std::sync::LazyLock;

use crate::server::fixture::{CPU_PORT, exact, frame, lpm, optional, ternary, update};
use crate::server::{Controller, Server, compiled, id_in, start};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::p4_data::Data;
use p4sched_proto::p4::v1::packet_replication_engine_entry::Type as Replication;
use p4sched_proto::p4::v1::replica::PortKind;
use p4sched_proto::p4::v1::set_forwarding_pipeline_config_request::Action;
use p4sched_proto::p4::v1::stream_message_request::Update as Request;
use p4sched_proto::p4::v1::stream_message_response::Update as Response;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;
use tonic::Code;

static PROGRAM: LazyLock<p4rt::ForwardingPipelineConfig> =
    LazyLock::new(|| compiled("translated.p4", include_str!("programs/translated.p4")));

fn program() -> p4rt::ForwardingPipelineConfig {
    PROGRAM.clone()
}

fn id(name: &str) -> u32 {
    id_in(PROGRAM.p4info.as_ref().expect("P4Info"), name)
}

fn action(name: &str, value: &[u8]) -> p4rt::Action {
    let param = p4rt::action::Param {
        param_id: 1,
        value: value.to_vec(),
    };
    p4rt::Action {
        action_id: id(name),
        params: vec![param],
    }
}

fn does(kind: ActionKind) -> Option<p4rt::TableAction> {
    Some(p4rt::TableAction { r#type: Some(kind) })
}

/// An entry that assigns frames from a port to a virtual router.
fn vrf_of(port: &[u8], vrf: &[u8]) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: id("vrfs"),
        r#match: vec![exact(1, port)],
        action: does(ActionKind::Action(action("set_vrf", vrf))),
        ..Default::default()
    }
}

/// An entry that sends all frames of a virtual router to a port.
fn route(vrf: &[u8], port: &[u8]) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: id("routes"),
        r#match: vec![exact(1, vrf)],
        priority: 1,
        action: does(ActionKind::Action(action("forward", port))),
        ..Default::default()
    }
}

/// An entry that assigns frames from a station to a class.
fn class_of(station: u8, class: &[u8]) -> p4rt::TableEntry {
    p4rt::TableEntry {
        table_id: id("classes"),
        r#match: vec![exact(1, &[station])],
        action: does(ActionKind::Action(action("set_class", class))),
        ..Default::default()
    }
}

fn all_of(table: &str) -> Entity {
    Entity::TableEntry(p4rt::TableEntry {
        table_id: id(table),
        ..Default::default()
    })
}

async fn connected() -> (Server, Controller) {
    let server = start().await;
    let controller = Controller::with_program(&server, program()).await;
    (server, controller)
}

impl Controller {
    async fn insert(&mut self, entry: p4rt::TableEntry) -> Result<(), Code> {
        self.write_one(Type::Insert, Entity::TableEntry(entry)).await
    }
}

fn ports(sent: &[(u16, Vec<u8>)]) -> Vec<u16> {
    sent.iter().map(|(port, _)| *port).collect()
}

#[tokio::test]
async fn entries_name_ports_and_routers_and_read_back_as_written() {
    let (server, mut controller) = connected().await;
    let entries = [vrf_of(b"eth1", b"red"), vrf_of(b"eth2", b"")];
    let routes = [route(b"red", b"eth2"), route(b"", b"3")];
    for entry in entries.iter().chain(&routes) {
        assert_eq!(controller.insert(entry.clone()).await, Ok(()));
    }
    assert_eq!(ports(&server.receive(1, frame(9, 8, 0x1234))), [2], "by way of red");
    assert_eq!(
        ports(&server.receive(2, frame(9, 8, 0x1234))),
        [3],
        "by way of the nameless one"
    );
    let read = controller.read_one(all_of("vrfs")).await.expect("the table is known");
    assert_eq!(read, entries.map(Entity::TableEntry));
    let read = controller.read_one(all_of("routes")).await.expect("the table is known");
    assert_eq!(read, routes.map(Entity::TableEntry));
}

#[tokio::test]
async fn one_entry_is_found_by_its_names_and_what_nobody_has_named_is_not_there() {
    let (_server, mut controller) = connected().await;
    assert_eq!(controller.insert(route(b"red", b"1")).await, Ok(()));
    let again = controller.insert(route(b"red", b"2")).await;
    assert_eq!(again, Err(Code::AlreadyExists));
    let key = |vrf: &[u8]| p4rt::TableEntry {
        action: None,
        ..route(vrf, b"")
    };
    let read = controller.read_one(Entity::TableEntry(key(b"red"))).await;
    assert_eq!(read, Ok(vec![Entity::TableEntry(route(b"red", b"1"))]));
    assert_eq!(controller.read_one(Entity::TableEntry(key(b"green"))).await, Ok(vec![]));
    for kind in [Type::Modify, Type::Delete] {
        let entry = Entity::TableEntry(route(b"green", b"1"));
        assert_eq!(controller.write_one(kind, entry).await, Err(Code::NotFound), "{kind:?}");
    }
    let modified = route(b"red", b"eth3");
    assert_eq!(
        controller
            .write_one(Type::Modify, Entity::TableEntry(modified.clone()))
            .await,
        Ok(())
    );
    assert_eq!(
        controller.read_one(all_of("routes")).await,
        Ok(vec![Entity::TableEntry(modified)])
    );
    assert_eq!(
        controller
            .write_one(Type::Delete, Entity::TableEntry(key(b"red")))
            .await,
        Ok(())
    );
    assert_eq!(controller.read_one(all_of("routes")).await, Ok(vec![]));
}

#[tokio::test]
async fn an_optional_field_has_names_and_a_default_action_too() {
    let (server, mut controller) = connected().await;
    let for_class = p4rt::TableEntry {
        r#match: vec![exact(1, b"blue"), ternary(2, &[9], &[0xff]), optional(3, b"gold")],
        ..route(b"blue", b"3")
    };
    assert_eq!(controller.insert(class_of(8, b"gold")).await, Ok(()));
    assert_eq!(controller.insert(for_class.clone()).await, Ok(()));
    let default = p4rt::TableEntry {
        r#match: vec![],
        is_default_action: true,
        ..vrf_of(b"", b"blue")
    };
    assert_eq!(
        controller
            .write_one(Type::Modify, Entity::TableEntry(default.clone()))
            .await,
        Ok(())
    );
    assert_eq!(ports(&server.receive(1, frame(9, 8, 0x1234))), [3]);
    assert!(ports(&server.receive(1, frame(9, 7, 0x1234))).is_empty());
    assert_eq!(
        controller.read_one(all_of("routes")).await,
        Ok(vec![Entity::TableEntry(for_class)])
    );
    let defaults = Entity::TableEntry(p4rt::TableEntry {
        table_id: id("vrfs"),
        is_default_action: true,
        ..Default::default()
    });
    assert_eq!(
        controller.read_one(defaults).await,
        Ok(vec![Entity::TableEntry(default)])
    );
}

#[tokio::test]
async fn the_programs_own_value_is_read_as_a_number_and_given_to_nobody_else() {
    let (_server, mut controller) = connected().await;
    let defaults = Entity::TableEntry(p4rt::TableEntry {
        table_id: id("vrfs"),
        is_default_action: true,
        ..Default::default()
    });
    let read = controller.read_one(defaults).await.expect("the table is known");
    let Entity::TableEntry(default) = &read[0] else {
        panic!("{read:?}")
    };
    assert_eq!(default.action, does(ActionKind::Action(action("set_vrf", b"5"))));
    // There are 1024 values; 0, 9 and 5 already have names.
    for name in 0..1021 {
        assert_eq!(
            controller.insert(route(format!("vrf {name}").as_bytes(), b"1")).await,
            Ok(()),
            "{name}"
        );
    }
    assert_eq!(
        controller.insert(route(b"one more", b"1")).await,
        Err(Code::ResourceExhausted)
    );
    let gone = Entity::TableEntry(route(b"vrf 77", b"1"));
    assert_eq!(controller.write_one(Type::Delete, gone).await, Ok(()));
    assert_eq!(
        controller.insert(route(b"one more", b"1")).await,
        Ok(()),
        "its value is free"
    );
}

#[tokio::test]
async fn what_is_no_name_of_a_port_and_a_mask_over_a_name_are_refused() {
    let (_server, mut controller) = connected().await;
    assert_eq!(
        controller.insert(vrf_of(b"Ethernet0", b"red")).await,
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        controller.insert(vrf_of(b"512", b"red")).await,
        Err(Code::InvalidArgument),
        "9 bits"
    );
    assert_eq!(controller.insert(vrf_of(b"eth1", b"red")).await, Ok(()));
    assert_eq!(
        controller.insert(vrf_of(b"1", b"red")).await,
        Err(Code::InvalidArgument),
        "it is eth1"
    );
    let masked = p4rt::TableEntry {
        r#match: vec![ternary(1, b"red", b"\xff")],
        ..route(b"red", b"1")
    };
    assert_eq!(controller.insert(masked).await, Err(Code::InvalidArgument));
}

#[tokio::test]
async fn packets_and_digests_carry_names() {
    let (server, mut controller) = connected().await;
    let learn = p4rt::DigestEntry {
        digest_id: id("learn_t"),
        config: Some(p4rt::digest_entry::Config::default()),
    };
    assert_eq!(
        controller.write_one(Type::Insert, Entity::DigestEntry(learn)).await,
        Ok(())
    );
    assert_eq!(controller.insert(vrf_of(b"eth1", b"red")).await, Ok(()));
    let cpu = CPU_PORT.to_string();
    assert_eq!(controller.insert(route(b"red", cpu.as_bytes())).await, Ok(()));
    server.receive(1, frame(9, 8, 0x1234));
    let mut heard = [
        controller.next().await.expect("a digest"),
        controller.next().await.expect("a packet"),
    ];
    heard.sort_by_key(|heard| matches!(heard, Response::Packet(_)));
    let [Response::Digest(list), Response::Packet(packet)] = heard else {
        panic!("{heard:?}")
    };
    let metadata = |metadata_id, value: &[u8]| p4rt::PacketMetadata {
        metadata_id,
        value: value.to_vec(),
    };
    assert_eq!(packet.metadata, [metadata(1, b"eth1"), metadata(2, &[5])]);
    let Some(Data::Struct(learnt)) = &list.data[0].data else {
        panic!("{list:?}")
    };
    let values: Vec<_> = learnt.members.iter().map(|member| member.data.clone()).collect();
    let bits = |value: &[u8]| Some(Data::Bitstring(value.to_vec()));
    assert_eq!(values, [bits(b"eth1"), bits(b"red"), bits(&[8])]);

    let out = |port: &[u8]| {
        Request::Packet(p4rt::PacketOut {
            payload: frame(9, 8, 0x1234),
            metadata: vec![metadata(1, port), metadata(2, &[0])],
        })
    };
    controller.send(out(b"nowhere")).await;
    let Ok(Response::Error(error)) = controller.next().await else {
        panic!("there is no such port")
    };
    assert_eq!(error.canonical_code, Code::InvalidArgument as i32);
    controller.send(out(cpu.as_bytes())).await;
    let Ok(Response::Packet(packet)) = controller.next().await else {
        panic!("it comes back")
    };
    assert_eq!(
        packet.metadata,
        [metadata(1, cpu.as_bytes()), metadata(2, &[5])],
        "the port that packet-outs come from"
    );
}

#[tokio::test]
async fn registers_and_value_sets_have_names() {
    let (server, mut controller) = connected().await;
    assert_eq!(controller.insert(vrf_of(b"1", b"red")).await, Ok(()));
    server.receive(1, frame(9, 8, 0x1234));
    let cell = |index, value: &[u8]| {
        Entity::RegisterEntry(p4rt::RegisterEntry {
            register_id: id("last_vrf"),
            index: Some(p4rt::Index { index }),
            data: Some(p4rt::P4Data {
                data: Some(Data::Bitstring(value.to_vec())),
            }),
        })
    };
    assert_eq!(controller.read_one(cell(0, b"")).await, Ok(vec![cell(0, b"red")]));
    assert_eq!(controller.write_one(Type::Modify, cell(1, b"green")).await, Ok(()));
    assert_eq!(controller.read_one(cell(1, b"")).await, Ok(vec![cell(1, b"green")]));
    assert_eq!(
        controller.read_one(cell(2, b"")).await,
        Ok(vec![cell(2, b"")]),
        "0 is called so"
    );

    let set = Entity::ValueSetEntry(p4rt::ValueSetEntry {
        value_set_id: id("special_types"),
        members: vec![p4rt::ValueSetMember {
            r#match: vec![exact(1, b"0"), exact(2, &[0x12, 0x34])],
        }],
    });
    assert_eq!(controller.write_one(Type::Modify, set.clone()).await, Ok(()));
    assert_eq!(controller.read_one(set.clone()).await, Ok(vec![set]));
    let by_class = p4rt::TableEntry {
        r#match: vec![exact(1, b"red"), optional(3, b"3")],
        ..route(b"red", b"2")
    };
    assert_eq!(controller.insert(by_class).await, Ok(()));
    assert_eq!(
        ports(&server.receive(1, frame(9, 8, 0x1234))),
        [2],
        "the parser knows its type"
    );
    assert!(ports(&server.receive(1, frame(9, 8, 0x1235))).is_empty());
}

#[tokio::test]
async fn replicas_and_one_shots_name_ports() {
    let (server, mut controller) = connected().await;
    let replica = |port: &[u8]| p4rt::Replica {
        instance: 1,
        port_kind: Some(PortKind::Port(port.to_vec())),
        ..Default::default()
    };
    let group = |ports: &[&[u8]]| {
        Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry {
            r#type: Some(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
                multicast_group_id: 1,
                replicas: ports.iter().map(|port| replica(port)).collect(),
                ..Default::default()
            })),
        })
    };
    assert_eq!(
        controller.write_one(Type::Insert, group(&[b"eth9"])).await,
        Err(Code::InvalidArgument)
    );
    assert_eq!(
        controller.write_one(Type::Insert, group(&[b"eth2", b"3"])).await,
        Ok(())
    );
    assert_eq!(controller.read_one(group(&[])).await, Ok(vec![group(&[b"eth2", b"3"])]));
    assert_eq!(controller.insert(vrf_of(b"1", b"red")).await, Ok(()));
    let copies = p4rt::TableEntry {
        action: does(ActionKind::Action(action("copy", &[1]))),
        ..route(b"red", b"")
    };
    assert_eq!(controller.insert(copies).await, Ok(()));
    assert_eq!(ports(&server.receive(1, frame(9, 8, 0x1234))), [2, 3]);

    let choice = p4rt::ActionProfileAction {
        action: Some(action("forward", b"eth2")),
        weight: 1,
        ..Default::default()
    };
    let set = p4rt::ActionProfileActionSet {
        action_profile_actions: vec![choice],
        ..Default::default()
    };
    let path = p4rt::TableEntry {
        table_id: id("paths"),
        r#match: vec![exact(1, b"blue")],
        action: does(ActionKind::ActionProfileActionSet(set)),
        ..Default::default()
    };
    assert_eq!(controller.insert(path.clone()).await, Ok(()));
    assert_eq!(controller.insert(vrf_of(b"eth2", b"blue")).await, Ok(()));
    assert_eq!(ports(&server.receive(2, frame(9, 8, 0x1234))), [2]);
    assert_eq!(
        controller.read_one(all_of("paths")).await,
        Ok(vec![Entity::TableEntry(path)])
    );
}

#[tokio::test]
async fn names_stay_when_a_program_is_reconciled_and_go_with_another_one() {
    let (server, mut controller) = connected().await;
    for entry in [
        vrf_of(b"eth1", b"green"),
        vrf_of(b"eth2", b"red"),
        route(b"red", b"eth3"),
    ] {
        assert_eq!(controller.insert(entry).await, Ok(()));
    }
    let green = Entity::TableEntry(vrf_of(b"eth1", b"green"));
    assert_eq!(controller.write_one(Type::Delete, green).await, Ok(()));
    let kept = controller
        .set_pipeline(Action::ReconcileAndCommit, Some(program()))
        .await;
    kept.expect("the same program keeps everything");
    let read = controller.read_one(all_of("vrfs")).await;
    assert_eq!(read, Ok(vec![Entity::TableEntry(vrf_of(b"eth2", b"red"))]));
    assert_eq!(ports(&server.receive(2, frame(9, 8, 0x1234))), [3]);

    let mut other = program();
    let types = other
        .p4info
        .as_mut()
        .and_then(|info| info.type_info.as_mut())
        .expect("it has types");
    let vrf = types.new_types.get_mut("vrf_t").expect("it has routers");
    vrf.annotations = vec!["@p4runtime_translation_mappings({{\"red\", 77}})".to_owned()];
    let refused = controller
        .set_pipeline(Action::ReconcileAndCommit, Some(other.clone()))
        .await;
    assert_eq!(
        refused.expect_err("red would be another one").code(),
        Code::InvalidArgument
    );
    for entry in [vrf_of(b"eth2", b"red"), route(b"red", b"eth3")] {
        assert_eq!(
            controller.write_one(Type::Delete, Entity::TableEntry(entry)).await,
            Ok(())
        );
    }
    let still = controller
        .set_pipeline(Action::ReconcileAndCommit, Some(other.clone()))
        .await;
    assert_eq!(still.expect_err("a register holds it").code(), Code::InvalidArgument);
    let cells = p4rt::RegisterEntry {
        register_id: id("last_vrf"),
        index: None,
        data: Some(p4rt::P4Data {
            data: Some(Data::Bitstring(vec![])),
        }),
    };
    let cleared = controller.write_one(Type::Modify, Entity::RegisterEntry(cells)).await;
    assert_eq!(cleared, Ok(()));
    let kept = controller.set_pipeline(Action::ReconcileAndCommit, Some(other)).await;
    kept.expect("nothing is called red any more");
}

#[tokio::test]
async fn a_batch_that_is_taken_back_leaves_the_entries_as_they_were() {
    let (_server, mut controller) = connected().await;
    assert_eq!(controller.insert(route(b"red", b"eth1")).await, Ok(()));
    let update = |kind, entry| crate::server::fixture::update(kind, Entity::TableEntry(entry));
    let request = p4rt::WriteRequest {
        device_id: 1,
        election_id: Some(controller.election_id),
        updates: vec![
            update(Type::Modify, route(b"red", b"eth2")),
            update(Type::Insert, route(b"green", b"eth2")),
            update(Type::Delete, route(b"yellow", b"")),
        ],
        atomicity: p4rt::write_request::Atomicity::RollbackOnError.into(),
        ..Default::default()
    };
    let status = controller.client.write(request).await.expect_err("yellow is not there");
    let codes = [Code::Aborted as i32, Code::Aborted as i32, Code::NotFound as i32];
    assert_eq!(crate::server::error_codes(&status), codes);
    let read = controller.read_one(all_of("routes")).await;
    assert_eq!(read, Ok(vec![Entity::TableEntry(route(b"red", b"eth1"))]));
}

/// The program with port numbers of 32 bits instead of port names.
fn with_numbers_of_ports() -> String {
    include_str!("programs/translated.p4").replace(
        "@p4runtime_translation(\"\", string)\ntype bit<9> port_id_t",
        "@p4runtime_translation(\"\", bit<32>)\ntype bit<9> port_id_t",
    )
}

#[tokio::test]
async fn numbers_of_ports_are_translated_in_headers_narrower_than_the_controllers() {
    let server = start().await;
    let program = compiled("translated.p4", &with_numbers_of_ports());
    let mut controller = Controller::with_program(&server, program).await;
    let cpu = [0xff, 0xff, 0xff, 0xfd];
    for entry in [vrf_of(&[1], b"red"), route(b"red", &cpu)] {
        assert_eq!(controller.insert(entry).await, Ok(()));
    }
    let too_wide = controller.insert(vrf_of(&[2, 0], b"red")).await;
    assert_eq!(too_wide, Err(Code::OutOfRange));
    server.receive(1, frame(9, 8, 0x1234));
    let Ok(Response::Packet(packet)) = controller.next().await else {
        panic!("a packet-in")
    };
    let metadata = |metadata_id, value: &[u8]| p4rt::PacketMetadata {
        metadata_id,
        value: value.to_vec(),
    };
    assert_eq!(packet.metadata, [metadata(1, &[1]), metadata(2, &[5])]);
    assert_eq!(packet.payload, frame(9, 8, 0x1234));
    assert_eq!(
        controller.read_one(all_of("routes")).await,
        Ok(vec![Entity::TableEntry(route(b"red", &cpu))])
    );
}

#[tokio::test]
async fn a_mask_or_prefix_of_all_bits_means_one_value() {
    let server = start().await;
    let text = with_numbers_of_ports()
        .replace(": exact @name(\"in_port\")", ": ternary @name(\"in_port\")")
        .replace(
            "meta.vrf              : exact;\n            hdr.ethernet.dst",
            "meta.vrf : lpm;\n            hdr.ethernet.dst",
        )
        .replace("meta.class            : optional;", "meta.class : ternary;");
    let mut controller = Controller::with_program(&server, compiled("translated.p4", &text)).await;
    let all = [0xff; 4];
    let of_port = |port: &[u8], mask: &[u8]| p4rt::TableEntry {
        r#match: vec![ternary(1, port, mask)],
        priority: 1,
        ..vrf_of(&[], b"red")
    };
    let to_port = |vrf: &[u8], bits: i32, class: &[u8], mask: &[u8]| p4rt::TableEntry {
        r#match: vec![lpm(1, vrf, bits), ternary(3, class, mask)],
        ..route(b"", &[2])
    };
    let written = [
        of_port(&[1], &all),
        of_port(&[0xff, 0xff, 0xff, 0xfd], &all),
        of_port(&[1], &[1]),
        to_port(b"red", 24, b"gold", &all),
    ];
    for entry in &written {
        assert_eq!(controller.insert(entry.clone()).await, Ok(()), "{entry:?}");
    }
    for (table, entries) in [("vrfs", &written[..3]), ("routes", &written[3..])] {
        let expected = entries.iter().cloned().map(Entity::TableEntry).collect();
        assert_eq!(controller.read_one(all_of(table)).await, Ok(expected));
    }
    assert_eq!(
        controller.insert(class_of(8, b"gold")).await,
        Ok(()),
        "so the frame is of the class that the route asks for"
    );
    let sent = server.receive(1, frame(9, 8, 0x1234));
    assert_eq!(sent.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [2]);
    for wrong in [
        of_port(&[1], &[1, 0xff]), // all that the switch has, not all that the controller has
        to_port(b"red", 16, b"gold", &all),
        to_port(b"red", 24, b"gold", &[0xff]),
    ] {
        assert_eq!(controller.insert(wrong).await, Err(Code::InvalidArgument));
    }
}

#[tokio::test]
async fn replicas_of_older_clients_have_numbers_of_ports() {
    let group = |port: u32| {
        #[allow(deprecated, reason = "the form of clients older than P4Runtime 1.4")]
        let replica = p4rt::Replica {
            port_kind: Some(PortKind::EgressPort(port)),
            ..Default::default()
        };
        Entity::PacketReplicationEngineEntry(p4rt::PacketReplicationEngineEntry {
            r#type: Some(Replication::MulticastGroupEntry(p4rt::MulticastGroupEntry {
                multicast_group_id: 7,
                replicas: vec![replica],
                ..Default::default()
            })),
        })
    };
    let server = start().await;
    let program = compiled("translated.p4", &with_numbers_of_ports());
    let mut controller = Controller::with_program(&server, program).await;
    let to_cpu = group(0xffff_fffd);
    assert_eq!(controller.write_one(Type::Insert, to_cpu.clone()).await, Ok(()));
    assert_eq!(controller.read_one(to_cpu.clone()).await, Ok(vec![to_cpu]));
    assert_eq!(
        controller.write_one(Type::Modify, group(512)).await,
        Err(Code::OutOfRange)
    );
    let (_server, mut controller) = connected().await;
    let refused = controller.write(vec![update(Type::Insert, group(2))]).await;
    let refused = refused.expect_err("ports have names");
    assert!(
        refused
            .message()
            .ends_with("egress_port 2: ports of this program have names; they stand in 'port'"),
        "{}",
        refused.message()
    );
}
