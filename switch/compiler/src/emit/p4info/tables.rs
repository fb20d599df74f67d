//! Tables and actions.

use num_bigint::BigInt;
use p4sched_proto::p4::config::v1::{
    self as pb, ActionRef, MatchField, TableActionCall,
    match_field::{Match, MatchType},
    table::IdleTimeoutBehavior,
    table_action_call::Argument,
};

use super::{Emitter, Kind, annotations};
use crate::ir::{ActionCall, ActionParam, Key, Table};

/// A value as big-endian bytes, as many as `width` bits need.
pub(super) fn bytes(value: &BigInt, width: u32) -> Vec<u8> {
    let length = width.div_ceil(8) as usize;
    let (_, digits) = crate::check::wrap(value, false, width).to_bytes_be();
    let mut padded = vec![0; length.saturating_sub(digits.len())];
    padded.extend(digits);
    padded.truncate(length.max(1));
    padded
}

pub(super) fn size(cells: u64) -> i64 {
    i64::try_from(cells).unwrap_or(i64::MAX)
}

pub(super) fn match_kind(name: &str) -> Match {
    Match::MatchType(match name {
        "exact" => MatchType::Exact.into(),
        "lpm" => MatchType::Lpm.into(),
        "ternary" => MatchType::Ternary.into(),
        "range" => MatchType::Range.into(),
        "optional" => MatchType::Optional.into(),
        other => return Match::OtherMatchType(other.to_owned()),
    })
}

impl Emitter<'_> {
    pub(super) fn actions(&mut self) {
        for index in &self.ir.listed_actions {
            let action = &self.ir.actions[*index];
            let ids = annotations::part_ids(action.params.iter().map(|p| &p.annotations));
            let params = action.params.iter().zip(ids).map(|(p, id)| self.param(p, id)).collect();
            let preamble = self.preamble(Kind::Action, &action.name, &action.annotations, &[]);
            self.info.actions.push(pb::Action { preamble, params });
        }
    }

    fn param(&mut self, param: &ActionParam, id: u32) -> pb::action::Param {
        pb::action::Param {
            id,
            name: crate::typed::annotations::name_of(&param.annotations).unwrap_or_else(|| param.name.to_string()),
            annotations: annotations::texts(&param.annotations, &[]),
            annotation_locations: Vec::new(),
            bitwidth: self.width(&param.ty),
            doc: annotations::documentation(&param.annotations),
            type_name: self.type_name(&param.ty),
            structured_annotations: annotations::structured(&param.annotations),
        }
    }

    pub(super) fn tables(&mut self) {
        for index in &self.ir.listed_tables {
            let table = self.table(&self.ir.tables[*index]);
            self.info.tables.push(table);
        }
    }

    fn table(&mut self, table: &Table) -> pb::Table {
        let keys: Vec<&Key> = table.keys.iter().filter(|k| &*k.kind != "selector").collect();
        let ids = annotations::part_ids(keys.iter().map(|k| &k.annotations));
        let match_fields = keys.iter().zip(ids).map(|(k, id)| self.match_field(k, id)).collect();
        let action_refs = table
            .actions
            .iter()
            .map(|(a, notes)| self.action_ref(*a, notes))
            .collect();
        let default = self.default_action(&table.default);
        let id_of = |kind, name: &str| self.symbols.id(kind, name);
        let counter = table
            .counter
            .map(|c| id_of(Kind::DirectCounter, &self.ir.counters[c].name));
        let meter = table.meter.map(|m| id_of(Kind::DirectMeter, &self.ir.meters[m].name));
        let profile = table
            .profile
            .map(|p| id_of(Kind::ActionProfile, &self.ir.profiles[p].name));
        let timeout = if table.timeout {
            IdleTimeoutBehavior::NotifyControl
        } else {
            IdleTimeoutBehavior::NoTimeout
        };
        pb::Table {
            preamble: self.preamble(Kind::Table, &table.name, &table.annotations, &[]),
            match_fields,
            action_refs,
            const_default_action_id: if table.const_default { default.action_id } else { 0 },
            initial_default_action: Some(default),
            implementation_id: profile.unwrap_or(0),
            direct_resource_ids: counter.into_iter().chain(meter).collect(),
            size: size(table.size),
            idle_timeout_behavior: timeout.into(),
            is_const_table: table.entries.is_some() && table.const_entries,
            has_initial_entries: table.entries.as_ref().is_some_and(|e| !e.is_empty()),
            other_properties: None,
        }
    }

    fn match_field(&mut self, key: &Key, id: u32) -> MatchField {
        MatchField {
            id,
            name: key.name.clone(),
            annotations: annotations::texts(&key.annotations, &[]),
            annotation_locations: Vec::new(),
            bitwidth: self.width(&key.ty),
            r#match: Some(match_kind(&key.kind)),
            doc: annotations::documentation(&key.annotations),
            type_name: self.type_name(&key.ty),
            structured_annotations: annotations::structured(&key.annotations),
        }
    }

    fn action_ref(&self, action: usize, notes: &crate::typed::tree::Annotations) -> ActionRef {
        let texts = annotations::texts(notes, &[]);
        let scope = if texts.iter().any(|t| t == "@tableonly") {
            pb::action_ref::Scope::TableOnly
        } else if texts.iter().any(|t| t == "@defaultonly") {
            pb::action_ref::Scope::DefaultOnly
        } else {
            pb::action_ref::Scope::TableAndDefault
        };
        ActionRef {
            id: self.symbols.id(Kind::Action, &self.ir.actions[action].name),
            scope: scope.into(),
            annotations: texts,
            annotation_locations: Vec::new(),
            structured_annotations: annotations::structured(notes),
        }
    }

    fn default_action(&self, call: &ActionCall) -> TableActionCall {
        let action = &self.ir.actions[call.action];
        let ids = annotations::part_ids(action.params.iter().map(|p| &p.annotations));
        let argument = |((value, param), id): ((&BigInt, &ActionParam), u32)| Argument {
            param_id: id,
            value: bytes(value, param.width),
        };
        TableActionCall {
            action_id: self.symbols.id(Kind::Action, &action.name),
            arguments: call.values.iter().zip(&action.params).zip(ids).map(argument).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_padded_to_the_width() {
        assert_eq!(bytes(&BigInt::from(60_000), 32), [0, 0, 0xea, 0x60]);
        assert_eq!(bytes(&BigInt::from(511), 9), [1, 0xff]);
        assert_eq!(bytes(&BigInt::ZERO, 1), [0]);
    }
}
