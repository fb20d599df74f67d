//! P4Info: ids, names and annotations (P4Runtime specification, sections 6.3 and 6.4), as p4c gives them.

use p4sched_compiler::p4info_text;
use p4sched_proto::p4::config::v1::{MatchField, P4Info, Preamble, Table, action_ref, match_field, p4_ids};

use super::ROUTER;
use crate::common::{compiled, messages, switch::Parts};

fn info_of(text: &str) -> P4Info {
    compiled(text).p4info
}

/// Names and ids of all objects.
fn objects(info: &P4Info) -> Vec<(String, u32)> {
    let mut list: Vec<&Option<Preamble>> = Vec::new();
    list.extend(info.tables.iter().map(|o| &o.preamble));
    list.extend(info.actions.iter().map(|o| &o.preamble));
    list.extend(info.action_profiles.iter().map(|o| &o.preamble));
    list.extend(info.counters.iter().map(|o| &o.preamble));
    list.extend(info.direct_counters.iter().map(|o| &o.preamble));
    list.extend(info.meters.iter().map(|o| &o.preamble));
    list.extend(info.registers.iter().map(|o| &o.preamble));
    list.extend(info.value_sets.iter().map(|o| &o.preamble));
    list.extend(info.digests.iter().map(|o| &o.preamble));
    list.into_iter().flatten().map(|p| (p.name.clone(), p.id)).collect()
}

#[track_caller]
fn id(info: &P4Info, name: &str) -> u32 {
    let found = objects(info).into_iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("no {name}")).1
}

#[track_caller]
fn table<'a>(info: &'a P4Info, name: &str) -> &'a Table {
    let found = info
        .tables
        .iter()
        .find(|t| t.preamble.as_ref().is_some_and(|p| p.name == name));
    found.unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_first_byte_of_an_id_tells_the_kind_of_object() {
    let info = info_of(ROUTER);
    let kind = |name| (id(&info, name) >> 24) as i32;
    assert_eq!(kind("I.route"), p4_ids::Prefix::Table as i32);
    assert_eq!(kind("I.forward"), p4_ids::Prefix::Action as i32);
    assert_eq!(kind("I.members"), p4_ids::Prefix::ActionProfile as i32);
    assert_eq!(kind("I.seen"), p4_ids::Prefix::Counter as i32);
    assert_eq!(kind("I.hits"), p4_ids::Prefix::DirectCounter as i32);
    assert_eq!(kind("I.depths"), p4_ids::Prefix::Register as i32);
    assert_eq!(kind("P.tunnels"), p4_ids::Prefix::ValueSet as i32);
    assert_eq!(kind("meta_t"), p4_ids::Prefix::Digest as i32);
}

#[test]
fn ids_depend_on_names_only() {
    let control = |declarations: &str| {
        Parts {
            ingress: declarations,
            ingress_apply: "t.apply(); u.apply(); c.count(0);",
            ..Parts::small()
        }
        .source()
    };
    let (t, u) = (
        "table t { key = { hdr.h.a: exact; } actions = { f; } }",
        "table u { key = { hdr.h.b: exact; } actions = { f; } }",
    );
    let first = info_of(&control(&format!(
        "action f() {{}} counter(4, CounterType.packets) c; {t} {u}"
    )));
    let second = info_of(&control(&format!(
        "counter(4, CounterType.packets) c; action f() {{ hdr.h.a = 1; }} {u} action g() {{}} {t}"
    )));
    let sorted = |info| {
        let mut list = objects(info);
        list.sort();
        list
    };
    assert_eq!(sorted(&first), sorted(&second));
    // The published ids of the tutorials' programs.
    assert_eq!(id(&first, "NoAction"), 21_257_015);
}

#[test]
fn an_id_in_the_source_is_taken_with_the_first_byte_added() {
    let info = info_of(ROUTER);
    assert_eq!(id(&info, "acl"), 0x0200_0042);
    let forward = info
        .actions
        .iter()
        .find(|a| a.preamble.as_ref().is_some_and(|p| p.name == "I.forward"));
    let params: Vec<(u32, &str, i32)> = forward
        .expect("an action")
        .params
        .iter()
        .map(|p| (p.id, p.name.as_str(), p.bitwidth))
        .collect();
    assert_eq!(params, [(1, "port", 9), (7, "mac", 48)]);
}

#[test]
fn wrong_ids_are_errors() {
    let said = |annotation: &str| {
        let ingress = format!(
            "@id(5) table t {{ actions = {{ NoAction; }} }} {annotation} table u {{ actions = {{ NoAction; }} }}"
        );
        let text = Parts {
            ingress: &ingress,
            ingress_apply: "t.apply(); u.apply();",
            ..Parts::small()
        }
        .source();
        messages(&text)
            .split_once(": ")
            .map(|(_, message)| message.trim().to_owned())
    };
    assert_eq!(said("@id(6)"), None);
    assert_eq!(said("@id(5)").as_deref(), Some("the @id 5 is used twice"));
    assert_eq!(said("@id(0)").as_deref(), Some("the @id 0 is not valid"));
    assert_eq!(
        said("@id(0x01000005)").as_deref(),
        Some("the @id 0x1000005 must begin with the byte 0x02, or have no such byte")
    );
}

#[test]
fn a_name_in_the_source_replaces_the_declared_one() {
    let declare = "control Inner() { @name(\"counted\") counter(1, CounterType.packets) a; @name(\".absolute\") counter(1, CounterType.packets) b;
        apply { a.count(0); b.count(0); } }";
    let types = format!("{}{declare}", crate::common::switch::SMALL);
    let text = Parts {
        types: &types,
        ingress: "Inner() one; @name(\"second\") Inner() two;",
        ingress_apply: "one.apply();",
        ..Parts::small()
    }
    .source();
    let info = info_of(&text);
    let names: Vec<String> = objects(&info).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"I.one.counted".to_owned()), "{names:?}");
    assert!(names.contains(&"absolute".to_owned()), "{names:?}");
}

#[test]
fn an_alias_is_the_shortest_end_of_the_name_that_no_other_has() {
    let declare = "control Inner() { counter(1, CounterType.packets) c; apply { c.count(0); } }";
    let types = format!("{}{declare}", crate::common::switch::SMALL);
    let text = Parts {
        types: &types,
        ingress: "Inner() one; Inner() two; counter(1, CounterType.packets) d;",
        ingress_apply: "one.apply(); two.apply(); d.count(0);",
        ..Parts::small()
    }
    .source();
    let aliases: Vec<(String, String)> = info_of(&text)
        .counters
        .iter()
        .filter_map(|c| c.preamble.as_ref())
        .map(|p| (p.name.clone(), p.alias.clone()))
        .collect();
    for (name, alias) in [("I.one.c", "one.c"), ("I.two.c", "two.c"), ("I.d", "d")] {
        assert!(aliases.contains(&(name.to_owned(), alias.to_owned())), "{aliases:?}");
    }
}

#[test]
fn tables_tell_their_keys_actions_and_resources() {
    let info = info_of(ROUTER);
    let route = table(&info, "I.route");
    let fields: Vec<(u32, &str, i32, i32)> = route.match_fields.iter().map(field).collect();
    use match_field::MatchType as M;
    assert_eq!(
        fields,
        [
            (1, "hdr.eth.dst", 48, M::Exact as i32),
            (2, "hdr.eth.type", 16, M::Ternary as i32),
            (3, "sm.ingress_port", 9, M::Range as i32),
            (4, "hdr.opt.$valid$", 1, M::Exact as i32),
            (5, "vlan", 12, M::Lpm as i32),
        ]
    );
    assert_eq!(route.size, 100);
    assert_eq!(route.direct_resource_ids, [id(&info, "I.hits")]);
    let actions: Vec<(u32, i32)> = route.action_refs.iter().map(|a| (a.id, a.scope)).collect();
    use action_ref::Scope as S;
    assert_eq!(
        actions,
        [
            (id(&info, "I.forward"), S::TableAndDefault as i32),
            (id(&info, "I.drop"), S::TableAndDefault as i32),
            (id(&info, "NoAction"), S::DefaultOnly as i32),
        ]
    );
    assert_eq!(info.direct_counters[0].direct_table_id, id(&info, "I.route"));
}

fn field(f: &MatchField) -> (u32, &str, i32, i32) {
    let kind = match f.r#match {
        Some(match_field::Match::MatchType(kind)) => kind,
        _ => 0,
    };
    (f.id, f.name.as_str(), f.bitwidth, kind)
}

#[test]
fn const_tables_and_defaults_say_so() {
    let info = info_of(ROUTER);
    let acl = table(&info, "acl");
    assert!(acl.is_const_table && acl.has_initial_entries);
    assert_eq!(acl.const_default_action_id, id(&info, "NoAction"));
    let route = table(&info, "I.route");
    assert!(!route.is_const_table);
    assert_eq!(route.const_default_action_id, 0);
    assert_eq!(
        route.initial_default_action.as_ref().map(|d| d.action_id),
        Some(id(&info, "NoAction"))
    );
}

#[test]
fn selector_fields_are_no_match_fields_and_profiles_list_their_tables() {
    let info = info_of(ROUTER);
    let spread = table(&info, "I.spread");
    assert_eq!(
        spread.match_fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        ["hdr.eth.dst"]
    );
    let profile = &info.action_profiles[0];
    assert_eq!(spread.implementation_id, id(&info, "I.members"));
    assert_eq!(profile.table_ids, [id(&info, "I.spread")]);
    assert!(profile.with_selector);
    assert_eq!(profile.size, 32);
}

#[test]
fn annotations_of_externs_reach_the_control_plane() {
    let info = info_of(ROUTER);
    let preamble = info.registers[0].preamble.clone().expect("a preamble");
    assert_eq!(
        (preamble.name.as_str(), preamble.annotations.as_slice()),
        ("I.depths", ["@queue_depth".to_owned()].as_slice())
    );
}

#[test]
fn digests_and_registers_tell_their_types() {
    let info = info_of(ROUTER);
    let types = info.type_info.as_ref().expect("types");
    let members: Vec<&str> = types.structs["meta_t"]
        .members
        .iter()
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(members, ["class", "ok", "level"]);
    let text = p4info_text(&info);
    let register = "  type_spec {\n    bitstring {\n      bit {\n        bitwidth: 16\n";
    assert!(text.contains(register), "{text}");
}

#[test]
fn packet_in_and_packet_out_headers_are_listed() {
    let types = "@controller_header(\"packet_in\") header pi_t { bit<9> port; bit<7> pad; }
        @controller_header(\"packet_out\") header po_t { bit<9> port; bit<7> pad; }
        header h_t { bit<8> a; } struct headers_t { pi_t pi; po_t po; h_t h; } struct meta_t { bit<8> x; }";
    let info = info_of(
        &Parts {
            types,
            ..Parts::small()
        }
        .source(),
    );
    // Id, name and width of each field.
    type Fields = Vec<(u32, String, i32)>;
    let list: Vec<(String, Fields)> = info
        .controller_packet_metadata
        .iter()
        .map(|m| {
            let fields = m.metadata.iter().map(|f| (f.id, f.name.clone(), f.bitwidth)).collect();
            (m.preamble.clone().expect("a preamble").name, fields)
        })
        .collect();
    let fields = vec![(1, "port".to_owned(), 9), (2, "pad".to_owned(), 7)];
    assert_eq!(
        list,
        [
            ("packet_in".to_owned(), fields.clone()),
            ("packet_out".to_owned(), fields)
        ]
    );
}

#[test]
fn actions_that_nothing_can_run_are_not_listed() {
    let ingress =
        "action used() {} action unused() {} action called() { hdr.h.b = 1; } table t { actions = { used; } }";
    let text = Parts {
        ingress,
        ingress_apply: "t.apply(); called();",
        ..Parts::small()
    }
    .source();
    let names: Vec<String> = info_of(&text)
        .actions
        .iter()
        .filter_map(|a| a.preamble.as_ref())
        .map(|p| p.name.clone())
        .collect();
    assert!(
        names.contains(&"I.used".to_owned()) && names.contains(&"I.called".to_owned()),
        "{names:?}"
    );
    assert!(!names.contains(&"I.unused".to_owned()), "{names:?}");
}

#[test]
fn a_control_applied_by_its_type_is_listed_under_that_name() {
    let declare = "control Inner(inout h_t h) { action set(bit<8> x) { h.b = x; }
        table t { key = { h.a: exact; } actions = { set; NoAction; } default_action = NoAction; } apply { t.apply(); } }";
    let types = format!("{}{declare}", crate::common::switch::SMALL);
    let text = Parts {
        types: &types,
        ingress_apply: "Inner.apply(hdr.h);",
        ..Parts::small()
    }
    .source();
    let info = info_of(&text);
    assert_eq!(table(&info, "I.Inner.t").match_fields[0].name, "h.a");
    assert!(objects(&info).iter().any(|(name, _)| name == "I.Inner.set"));
}

#[test]
fn key_fields_have_the_names_that_their_fields_are_annotated_with() {
    let types = "header h_t { @name(\"kind\") bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; } struct meta_t { bit<8> x; }";
    let text = Parts {
        types,
        ingress: "table t { key = { hdr.h.a: exact; hdr.h.c[8w7:0x4]: ternary; hdr.h.b & 8w0x0F: exact; } actions = { NoAction; } }",
        ingress_apply: "t.apply();",
        ..Parts::small()
    }
    .source();
    let info = info_of(&text);
    let names: Vec<&str> = table(&info, "I.t")
        .match_fields
        .iter()
        .map(|f| f.name.as_str())
        .collect();
    assert_eq!(names, ["hdr.h.kind", "hdr.h.c[7:0x4]", "hdr.h.b & 0xf"]);
}

#[test]
fn a_profile_made_in_the_table_is_named_after_it() {
    let text = Parts {
        ingress: "table t { key = { hdr.h.a: exact; } actions = { NoAction; } implementation = action_profile(8); }
            table u { key = { hdr.h.a: exact; } actions = { NoAction; } @name(\"shared\") implementation = action_profile(8); }",
        ingress_apply: "t.apply(); u.apply();",
        ..Parts::small()
    }
    .source();
    let info = info_of(&text);
    let names: Vec<String> = info
        .action_profiles
        .iter()
        .filter_map(|p| p.preamble.as_ref())
        .map(|p| p.name.clone())
        .collect();
    assert_eq!(names, ["I.t.action_profile", "shared"]);
}

/// P4Info of the small program with these declarations and statements of ingress.
fn info_with(types: &str, ingress: &str, ingress_apply: &str) -> P4Info {
    let types = format!("{}{types}", crate::common::switch::SMALL);
    let parts = Parts {
        types: &types,
        ingress,
        ingress_apply,
        ..Parts::small()
    };
    info_of(&parts.source())
}

/// Names of the objects in a list.
fn names<'a>(preambles: impl Iterator<Item = &'a Option<Preamble>>) -> Vec<&'a str> {
    preambles.flatten().map(|p| p.name.as_str()).collect()
}

#[test]
fn objects_stand_in_the_order_of_declaration_and_those_of_controls_applied_directly_last() {
    let info = info_with(
        "control Inner(inout h_t h) { direct_counter(CounterType.packets) c; action set() { h.b = 1; }
            table t { key = { h.a: exact; } actions = { set; } counters = c; } apply { t.apply(); } }",
        "direct_counter(CounterType.packets) c; action f() {}
            table t { key = { hdr.h.a: exact; } actions = { f; } counters = c; }
            Inner() one; table u { actions = { f; } }",
        "Inner.apply(hdr.h); one.apply(hdr.h); t.apply(); u.apply();",
    );
    let tables = names(info.tables.iter().map(|t| &t.preamble));
    assert_eq!(tables, ["I.t", "I.one.t", "I.u", "I.Inner.t"]);
    let actions = names(info.actions.iter().map(|a| &a.preamble));
    assert_eq!(actions, ["NoAction", "I.f", "I.one.set", "I.Inner.set"]);
    let counters = names(info.direct_counters.iter().map(|c| &c.preamble));
    assert_eq!(counters, ["I.c", "I.one.c", "I.Inner.c"]);
}

#[test]
fn an_action_that_a_control_calls_has_no_parameters_left() {
    let info = info_with("", "action set(bit<8> x) { hdr.h.b = x; }", "set(3);");
    assert!(info.actions[0].params.is_empty());
}

#[test]
fn annotations_say_how_large_groups_are() {
    let size = "@max_group_size(200) @selector_size_semantics(\"sum_of_members\") @max_member_weight(4000)";
    let key = "key = { hdr.h.a: exact; hdr.h.b: selector; } actions = { NoAction; }";
    let ingress = format!(
        "{size} action_profile(8) plain; table t {{ key = {{ hdr.h.a: exact; }} actions = {{ NoAction; }} implementation = plain; }}
         table u {{ {key} @name(\"spread\") {size} implementation = action_selector(HashAlgorithm.crc16, 8, 8); }}
         @selector_size_semantics(\"sum_of_weights\") action_selector(HashAlgorithm.crc16, 8, 8) s; table v {{ {key} implementation = s; }}"
    );
    let info = info_with("", &ingress, "t.apply(); u.apply(); v.apply();");
    use p4sched_proto::p4::config::v1::action_profile::{SelectorSizeSemantics as S, SumOfMembers, SumOfWeights};
    let profile = |name: &str| {
        let mut found = info.action_profiles.iter();
        let found = found.find(|p| {
            p.preamble
                .as_ref()
                .is_some_and(|p| p.name == name && p.annotations.is_empty())
        });
        let found = found.expect(name);
        (found.max_group_size, found.selector_size_semantics)
    };
    // Without a selector, there are no groups.
    assert_eq!(profile("I.plain"), (0, None));
    let members = SumOfMembers {
        max_member_weight: 4000,
    };
    assert_eq!(profile("spread"), (200, Some(S::SumOfMembers(members))));
    assert_eq!(profile("I.s"), (0, Some(S::SumOfWeights(SumOfWeights {}))));
}

#[test]
fn values_in_structured_annotations_are_computed() {
    let info = info_with(
        "const bit<8> N = 3;",
        "@list[1, 2 * N, N == 3, \"text\"] @pairs[k = N + 1] table t { actions = { NoAction; } }",
        "t.apply();",
    );
    let text = p4info_text(&info);
    for value in [
        "int64_value: 6",
        "bool_value: true",
        "string_value: \"text\"",
        "int64_value: 4",
    ] {
        assert!(text.contains(value), "{value} in {text}");
    }
}

#[test]
fn properties_of_the_platform_are_in_pkg_info() {
    let text = Parts::small().source().replace(
        "V1Switch(",
        "@platform_property(multicast_group_table_size = 10, multicast_group_table_total_replicas = 20) V1Switch(",
    );
    let pkg = info_of(&text).pkg_info.expect("pkg_info");
    let properties = pkg.platform_properties.expect("properties");
    assert_eq!(
        (
            properties.multicast_group_table_size,
            properties.multicast_group_table_total_replicas
        ),
        (10, 20)
    );
    assert_eq!(pkg.annotations, Vec::<String>::new());
}

#[test]
fn a_type_made_of_a_translated_one_is_as_wide_as_in_the_program() {
    let info = info_with(
        "@p4runtime_translation(\"x\", 32) type bit<8> wide_t; type wide_t again_t;",
        "table t { key = { (wide_t)hdr.h.a: exact @name(\"w\"); (again_t)(wide_t)hdr.h.b: exact @name(\"a\"); }
            actions = { NoAction; } }",
        "t.apply();",
    );
    let widths: Vec<i32> = table(&info, "I.t").match_fields.iter().map(|f| f.bitwidth).collect();
    assert_eq!(widths, [32, 8]);
}

#[test]
fn digests_without_a_named_type_are_numbered() {
    let info = info_with(
        "struct seen_t { error e; }",
        "",
        "digest(1, hdr.h.a); digest(1, { hdr.h.a, hdr.h.b }); digest(1, hdr.h); digest<seen_t>(1, { sm.parser_error });",
    );
    let digests = names(info.digests.iter().map(|d| &d.preamble));
    assert_eq!(digests, ["digest_0", "digest_1", "h_t", "seen_t"]);
    // The list of errors is included, because a digest contains an error.
    let errors = info.type_info.expect("types").error.expect("errors").members;
    assert_eq!(errors[..2], ["NoError", "PacketTooShort"]);
}
