//! Parser value sets. A value holds all fields of a member, one after the other.

use p4sched_dataplane::MatchKey;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::update::Type;

use super::{Refusal, Runtime, ValueSetCode};
use crate::bytestring::full_width;
use crate::entities::value_sets;
use crate::index::{Index, ValueSet};
use crate::{bits, match_key};

fn value_set<'i>(index: &'i Index, name: &str) -> Result<(u32, &'i ValueSet), Refusal> {
    let found = index.value_sets.iter().find(|(_, set)| set.name == name);
    let (id, set) =
        found.ok_or_else(|| ValueSetCode::InvalidParseVsetName.because(format!("no parser value set '{name}'")))?;
    Ok((*id, set))
}

/// Makes a member from its value.
fn member_of(set: &ValueSet, value: &[u8]) -> Result<p4rt::ValueSetMember, Refusal> {
    let width: u32 = set.fields.iter().map(|field| field.width).sum();
    let full = full_width(&set.name, value, width).map_err(|fault| ValueSetCode::Error.because(fault.message))?;
    let mut start = full.len() * 8 - width as usize;
    let keys = set.fields.iter().map(|field| {
        start += field.width as usize;
        value_sets::only(field, bits::slice(&full, start - field.width as usize, field.width))
    });
    let keys: Vec<MatchKey> = keys.collect();
    Ok(p4rt::ValueSetMember {
        r#match: match_key::to_response(&set.fields, &keys),
    })
}

impl Runtime<'_> {
    /// The values of a set, each in its shortest form.
    pub fn value_set(&self, name: &str) -> Result<Vec<Vec<u8>>, Refusal> {
        let index = self.forwarding.index.clone();
        let (id, set) = value_set(&index, name)?;
        let members = self.forwarding.value_sets.get(&id).map_or(&[][..], Vec::as_slice);
        let values = members.iter().map(|member| value_sets::value(set, member));
        values
            .collect::<Result<_, _>>()
            .map_err(|fault| ValueSetCode::Error.because(fault.message))
    }

    fn replace(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Vec<p4rt::ValueSetMember>, &ValueSet) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let (id, set) = value_set(&index, name)?;
        let mut members = self.forwarding.value_sets.get(&id).cloned().unwrap_or_default();
        change(&mut members, set)?;
        let entry = p4rt::ValueSetEntry {
            value_set_id: id,
            members,
        };
        let written = value_sets::write(self.forwarding, self.pipeline, Type::Modify, &entry);
        written.map_err(|fault| ValueSetCode::Error.because(fault.message))
    }

    /// Adds a value; a value that is already there stays.
    pub fn add_value(&mut self, name: &str, value: &[u8]) -> Result<(), Refusal> {
        self.replace(name, |members, set| {
            let member = member_of(set, value)?;
            if !members.contains(&member) {
                members.push(member);
            }
            Ok(())
        })
    }

    /// Removes a value if it is there.
    pub fn remove_value(&mut self, name: &str, value: &[u8]) -> Result<(), Refusal> {
        self.replace(name, |members, set| {
            let member = member_of(set, value)?;
            members.retain(|other| *other != member);
            Ok(())
        })
    }

    pub fn clear_values(&mut self, name: &str) -> Result<(), Refusal> {
        self.replace(name, |members, _| {
            members.clear();
            Ok(())
        })
    }
}
