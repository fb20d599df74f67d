//! Restrictions of a program (p4-constraints) are checked when the program is loaded and at every write.

use crate::fixture::{Bench, code, config, exact, update};
use p4sched_device::{Code, Fault, Program};
use p4sched_proto::p4::config::v1::Preamble;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;

/// The program with annotations on the objects with these aliases.
fn annotated(annotations: &[(&str, &str)]) -> p4rt::ForwardingPipelineConfig {
    let mut config = config();
    let info = config.p4info.as_mut().expect("it has P4Info");
    let actions = info.actions.iter_mut().filter_map(|action| action.preamble.as_mut());
    let tables = info.tables.iter_mut().filter_map(|table| table.preamble.as_mut());
    let mut preambles: Vec<&mut Preamble> = actions.chain(tables).collect();
    for (alias, annotation) in annotations {
        let preamble = preambles.iter_mut().find(|preamble| preamble.alias == *alias);
        let preamble = preamble.unwrap_or_else(|| panic!("no {alias} in P4Info"));
        preamble.annotations.push((*annotation).to_owned());
    }
    config
}

/// A switch that forwards to ports 1 to 3 only, from stations below 00:00:00:00:00:10, with nonzero users.
fn bench() -> Bench {
    let mut bench = Bench::empty();
    let program = Program::new(annotated(&[
        ("forward", "@action_restriction(\"port != 0 && port <= 3\")"),
        ("set_user", "@action_restriction(\"user != 0\")"),
        (
            "hosts",
            "@entry_restriction(\"hdr.ethernet.dst_addr < mac('00:00:00:00:00:10')\")",
        ),
    ]));
    bench
        .device
        .commit(program.expect("it loads"))
        .expect("the switch takes it");
    bench
}

fn refusal(result: Result<(), Fault>) -> String {
    let fault = result.expect_err("a restriction is broken");
    assert_eq!(fault.code, Code::InvalidArgument, "{fault}");
    fault.message
}

#[test]
fn an_entry_with_a_parameter_or_key_that_is_not_allowed_is_refused_and_nothing_changes() {
    let mut bench = bench();
    bench.insert(Entity::TableEntry(bench.host(1, 2)));
    let before = bench.entries("hosts");
    let refused = bench.write(Type::Insert, Entity::TableEntry(bench.host(2, 4)));
    assert_eq!(
        refusal(refused),
        "EverythingIngress.hosts: action 'EverythingIngress.forward': port = 4 breaks the restriction 'port != 0 && port <= 3'"
    );
    refusal(bench.write(Type::Modify, Entity::TableEntry(bench.host(1, 0))));
    let refused = bench.write(Type::Insert, Entity::TableEntry(bench.host(16, 1)));
    assert_eq!(
        refusal(refused),
        "EverythingIngress.hosts: its entries: hdr.ethernet.dst_addr = 16 breaks the restriction \
         'hdr.ethernet.dst_addr < mac('00:00:00:00:00:10')'"
    );
    assert_eq!(bench.entries("hosts"), before);
    bench
        .write(Type::Modify, Entity::TableEntry(bench.host(1, 3)))
        .expect("port 3 is allowed");
    bench
        .write(Type::Delete, Entity::TableEntry(bench.host(1, 0)))
        .expect("the action of a deletion says nothing");
}

#[test]
fn a_default_action_that_is_not_allowed_leaves_the_one_in_force() {
    let mut bench = bench();
    let set = |bench: &mut Bench, user: u8| {
        let default = p4rt::TableEntry {
            is_default_action: true,
            ..bench.entry("parameters", vec![], 0, "set_user", &[&[user]])
        };
        bench.write(Type::Modify, Entity::TableEntry(default))
    };
    let in_force = |bench: &mut Bench| {
        let filter = p4rt::TableEntry {
            table_id: bench.table("parameters"),
            is_default_action: true,
            ..p4rt::TableEntry::default()
        };
        bench
            .read(Entity::TableEntry(filter))
            .expect("a default action can be read")
    };
    set(&mut bench, 5).expect("user 5 is allowed");
    let before = in_force(&mut bench);
    let refused = set(&mut bench, 0);
    assert_eq!(
        refusal(refused),
        "EverythingIngress.parameters: action 'EverythingIngress.set_user': user = 0 breaks the restriction 'user != 0'"
    );
    assert_eq!(in_force(&mut bench), before);
}

#[test]
fn members_of_action_profiles_are_checked() {
    let mut bench = bench();
    let member = |bench: &Bench, user: u8| {
        Entity::ActionProfileMember(p4rt::ActionProfileMember {
            action_profile_id: bench.profile("classes_profile"),
            member_id: 1,
            action: Some(bench.action("set_user", &[&[user]])),
        })
    };
    let refused = bench.write(Type::Insert, member(&bench, 0));
    assert!(refusal(refused).starts_with("EverythingIngress.classes_profile: action 'EverythingIngress.set_user'"));
    bench.insert(member(&bench, 1));
    refusal(bench.write(Type::Modify, member(&bench, 0)));
}

#[test]
fn a_batch_with_a_broken_restriction_is_applied_as_its_atomicity_says() {
    let mut bench = bench();
    let batch = |bench: &Bench, atomicity: Atomicity| p4rt::WriteRequest {
        updates: [(1, 1), (2, 9), (3, 3)]
            .map(|(address, port)| update(Type::Insert, Entity::TableEntry(bench.host(address, port))))
            .into(),
        atomicity: atomicity.into(),
        ..p4rt::WriteRequest::default()
    };
    let request = batch(&bench, Atomicity::RollbackOnError);
    let results = bench
        .device
        .write_request(&request, bench.now)
        .expect("a program is loaded");
    let codes: Vec<_> = results.into_iter().map(code).collect();
    assert_eq!(
        codes,
        [Err(Code::Aborted), Err(Code::InvalidArgument), Err(Code::Aborted)]
    );
    assert!(bench.entries("hosts").is_empty());
    let request = batch(&bench, Atomicity::ContinueOnError);
    let results = bench
        .device
        .write_request(&request, bench.now)
        .expect("a program is loaded");
    let codes: Vec<_> = results.into_iter().map(code).collect();
    assert_eq!(codes, [Ok(()), Err(Code::InvalidArgument), Ok(())]);
    assert_eq!(bench.entries("hosts").len(), 2);
}

#[test]
fn a_program_with_a_malformed_restriction_or_one_that_it_breaks_itself_is_refused() {
    for (object, annotation, problem) in [
        (
            "forward",
            "@action_restriction(\"prot != 0\")",
            "P4Info: action 'EverythingIngress.forward': @action_restriction: no parameter 'prot'; there are port",
        ),
        (
            "hosts",
            "@entry_restriction(\"hdr.ethernet.dst_addr::mask == 0\")",
            "P4Info: table 'EverythingIngress.hosts': @entry_restriction: 'hdr.ethernet.dst_addr::mask': exact of bit<48> has \
             value",
        ),
        (
            "set_user",
            "@action_restriction(\"user > 7\")",
            "the program's own entries: EverythingIngress.parameters: action 'EverythingIngress.set_user': user = 7 breaks the \
             restriction 'user > 7'",
        ),
        (
            "set_user",
            "@action_restriction(\"user < 1000\")",
            "the program's own entries: EverythingIngress.fixed_users: action 'EverythingIngress.set_user': user = 1700 breaks \
             the restriction 'user < 1000'",
        ),
        (
            "fixed_users",
            "@entry_restriction(\"hdr.ipv4.protocol != 17\")",
            "the program's own entries: EverythingIngress.fixed_users: its entries: hdr.ipv4.protocol = 17 breaks the \
             restriction 'hdr.ipv4.protocol != 17'",
        ),
    ] {
        let fault = Program::new(annotated(&[(object, annotation)])).expect_err("the restriction is wrong");
        assert_eq!((fault.code, fault.message.as_str()), (Code::InvalidArgument, problem));
    }
}

#[test]
fn a_new_program_whose_restriction_forbids_what_is_written_cannot_keep_it() {
    let mut bench = Bench::new();
    bench.insert(Entity::TableEntry(bench.host(1, 9)));
    let stricter = Program::new(annotated(&[("forward", "@action_restriction(\"port <= 3\")")])).expect("it loads");
    let fault = bench
        .device
        .reconcile_and_commit(stricter, bench.now)
        .expect_err("port 9 is forbidden");
    assert!(
        fault
            .message
            .starts_with("the new program cannot keep what was written: EverythingIngress.hosts: action")
    );
    let stored = bench.entries("hosts");
    assert_eq!(stored[0].r#match, [exact(1, &[1])], "the old one stays");
}
