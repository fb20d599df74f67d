//! P4Info for a program without one: its tables, actions, action profiles and parser value sets.
//!
//! An identifier is the object's place in the program plus 1, with the prefix of its kind. Counters, meters and
//! registers are left out: without P4Info, clients ask for them by name. Every table reports idle entries.

use std::collections::BTreeMap;

use p4sched_dataplane::{KeyField, MatchKind, Pipeline};
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::match_field::{Match, MatchType};
use p4sched_proto::p4::config::v1::p4_ids::Prefix;
use p4sched_proto::p4::config::v1::table::IdleTimeoutBehavior;

fn preamble(kind: Prefix, place: usize, name: &str) -> Option<p4info::Preamble> {
    Some(p4info::Preamble {
        id: (kind as u32) << 24 | (place as u32 + 1),
        name: name.to_owned(),
        alias: name.to_owned(),
        ..p4info::Preamble::default()
    })
}

fn match_field(place: usize, name: &str, width: u32, kind: MatchKind) -> p4info::MatchField {
    let kind = match kind {
        MatchKind::Exact | MatchKind::Valid => MatchType::Exact,
        MatchKind::Lpm => MatchType::Lpm,
        MatchKind::Ternary => MatchType::Ternary,
        MatchKind::Range => MatchType::Range,
        MatchKind::Optional => MatchType::Optional,
    };
    p4info::MatchField {
        id: place as u32 + 1,
        name: name.to_owned(),
        bitwidth: width.cast_signed(),
        r#match: Some(Match::MatchType(kind.into())),
        ..p4info::MatchField::default()
    }
}

/// Makes P4Info for a loaded program.
pub fn p4info(pipeline: &Pipeline) -> p4info::P4Info {
    let mut actions: BTreeMap<String, p4info::Action> = BTreeMap::new();
    let mut tables = Vec::new();
    let mut profiles = Vec::new();
    for (place, profile) in pipeline.profile_ids().enumerate() {
        profiles.push(p4info::ActionProfile {
            preamble: preamble(Prefix::ActionProfile, place, pipeline.profile_name(profile)),
            with_selector: pipeline.profile_has_selector(profile),
            size: pipeline.profile_size(profile) as i64,
            ..p4info::ActionProfile::default()
        });
    }
    for (place, table) in pipeline.table_ids().enumerate() {
        let mut references = Vec::new();
        for action in pipeline.table_actions(table) {
            // p4c writes an action once for each table that uses it; the parameters are always the same.
            let name = pipeline.action_name(action);
            let next = actions.len();
            let info = actions.entry(name.to_owned()).or_insert_with(|| p4info::Action {
                preamble: preamble(Prefix::Action, next, name),
                params: pipeline.action_params(action).iter().zip(1..).map(param).collect(),
            });
            let id = info.preamble.as_ref().map_or(0, |preamble| preamble.id);
            references.push(p4info::ActionRef {
                id,
                ..p4info::ActionRef::default()
            });
        }
        let fields = pipeline.table_key(table).iter().enumerate();
        let field = |(place, field): (usize, &KeyField)| match_field(place, &field.name, field.width, field.kind);
        let implementation = pipeline.table_profile(table).and_then(|profile| {
            let info: &mut p4info::ActionProfile = profiles.get_mut(profile.index())?;
            let id = preamble(Prefix::Table, place, "")?.id;
            info.table_ids.push(id);
            Some(info.preamble.as_ref()?.id)
        });
        let const_default = pipeline.table_default_is_const(table);
        tables.push(p4info::Table {
            preamble: preamble(Prefix::Table, place, pipeline.table_name(table)),
            match_fields: fields.map(field).collect(),
            const_default_action_id: references.first().filter(|_| const_default).map_or(0, |first| first.id),
            action_refs: references,
            implementation_id: implementation.unwrap_or(0),
            size: pipeline.table_size(table) as i64,
            is_const_table: pipeline.table_is_const(table),
            idle_timeout_behavior: IdleTimeoutBehavior::NotifyControl.into(),
            ..p4info::Table::default()
        });
    }
    let sets = pipeline
        .value_set_ids()
        .enumerate()
        .map(|(place, set)| p4info::ValueSet {
            preamble: preamble(Prefix::ValueSet, place, pipeline.value_set_name(set)),
            r#match: vec![match_field(0, "value", pipeline.value_set_width(set), MatchKind::Exact)],
            size: i32::MAX,
        });
    p4info::P4Info {
        actions: actions.into_values().collect(),
        tables,
        value_sets: sets.collect(),
        action_profiles: profiles,
        ..p4info::P4Info::default()
    }
}

fn param((param, id): (&(String, u32), u32)) -> p4info::action::Param {
    p4info::action::Param {
        id,
        name: param.0.clone(),
        bitwidth: param.1.cast_signed(),
        ..p4info::action::Param::default()
    }
}
