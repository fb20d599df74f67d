//! Parser value sets.

use std::collections::HashSet;

use num_bigint::BigUint;
use p4sched_dataplane::{MatchKey, MatchKind, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{modify_only, selected};
use crate::fault::{Code, Fault};
use crate::forwarding::Forwarding;
use crate::index::{Field, ValueSet, unknown};
use crate::match_key::{ones, prefix_mask};
use crate::{bits, match_key};

/// The most pairs of value and mask that one member may need: a range becomes several prefixes.
const MAX_MASKED: usize = 65536;

/// A value, and the mask of the bits that are compared.
type Masked = (Vec<u8>, Vec<u8>);

/// The pairs of value and mask that together match the same as a member; fields stand one after the other.
fn masked(name: &str, fields: &[Field], key: &[MatchKey]) -> Result<Vec<Masked>, Fault> {
    let mut found = vec![(bits::Writer::default(), bits::Writer::default())];
    for (field, key) in fields.iter().zip(key) {
        let zeros = || vec![0; ones(field.width).len()];
        let choices = match key {
            MatchKey::Exact(value) | MatchKey::Optional(Some(value)) => vec![(value.clone(), ones(field.width))],
            MatchKey::Valid(valid) => vec![(vec![u8::from(*valid)], ones(field.width))],
            MatchKey::Lpm(value, length) => vec![(value.clone(), prefix_mask(field.width, u32::from(*length)))],
            MatchKey::Ternary(value, mask) => vec![(value.clone(), mask.clone())],
            MatchKey::Optional(None) => vec![(zeros(), zeros())],
            MatchKey::Range(low, high) => prefixes(low, high, field.width),
        };
        if found.len() * choices.len() > MAX_MASKED {
            let message = format!("{name}: ranges that are more than {MAX_MASKED} prefixes");
            return Err(Fault::new(Code::ResourceExhausted, message));
        }
        let mut longer = Vec::with_capacity(found.len() * choices.len());
        for (value, mask) in &found {
            for choice in &choices {
                let (mut value, mut mask) = (value.clone(), mask.clone());
                value.push(&choice.0, field.width);
                mask.push(&choice.1, field.width);
                longer.push((value, mask));
            }
        }
        found = longer;
    }
    let found = found.into_iter();
    Ok(found
        .map(|(value, mask)| (value.right_aligned(), mask.right_aligned()))
        .collect())
}

/// The prefixes that together cover an interval.
fn prefixes(low: &[u8], high: &[u8], width: u32) -> Vec<Masked> {
    let bytes = low.len();
    let full = |number: &BigUint| {
        let digits = number.to_bytes_be();
        [vec![0; bytes.saturating_sub(digits.len())], digits].concat()
    };
    let (mut from, to) = (BigUint::from_bytes_be(low), BigUint::from_bytes_be(high));
    let mut found = Vec::new();
    while from <= to {
        let aligned = from.trailing_zeros().map_or(width, |zeros| zeros as u32);
        let fits = |&bits: &u32| &from + (BigUint::from(1_u8) << bits) - 1_u8 <= to;
        let bits = (0..=aligned.min(width)).rev().find(fits).unwrap_or(0);
        found.push((full(&from), prefix_mask(width, width - bits)));
        from += BigUint::from(1_u8) << bits;
    }
    found
}

/// The value of a member that matches only one.
///
/// # Errors
/// `INVALID_ARGUMENT` for a member that matches several values.
pub(crate) fn value(set: &ValueSet, member: &p4rt::ValueSetMember) -> Result<Vec<u8>, Fault> {
    let key = match_key::from_request(&set.name, &set.fields, &member.r#match)?;
    let width: u32 = set.fields.iter().map(|field| field.width).sum();
    match masked(&set.name, &set.fields, &key)?.as_slice() {
        [(value, mask)] if *mask == ones(width) => Ok(value.clone()),
        _ => Err(Fault::invalid(format!(
            "{}: a member matches more than one value",
            set.name
        ))),
    }
}

/// A match of this value only.
pub(crate) fn only(field: &Field, value: Vec<u8>) -> MatchKey {
    match field.kind {
        MatchKind::Lpm => MatchKey::Lpm(value, field.width as u16),
        MatchKind::Ternary => MatchKey::Ternary(value, ones(field.width)),
        MatchKind::Range => MatchKey::Range(value.clone(), value),
        MatchKind::Optional => MatchKey::Optional(Some(value)),
        MatchKind::Exact | MatchKind::Valid => MatchKey::Exact(value),
    }
}

/// Replaces the members of a value set.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::ValueSetEntry,
) -> Result<(), Fault> {
    modify_only("parser value sets", kind)?;
    let index = forwarding.index.clone();
    let id = entry.value_set_id;
    let set = index
        .value_sets
        .get(&id)
        .ok_or_else(|| unknown("parser value set", id))?;
    let (name, size, given) = (&set.name, set.size, entry.members.len());
    if given > size {
        return Err(Fault::new(
            Code::ResourceExhausted,
            format!("{name}: {given} members, it has room for {size}"),
        ));
    }
    let (mut keys, mut values, mut members) = (HashSet::with_capacity(given), Vec::new(), Vec::with_capacity(given));
    for member in &entry.members {
        let key = match_key::from_request(name, &set.fields, &member.r#match)?;
        values.extend(masked(name, &set.fields, &key)?);
        members.push(p4rt::ValueSetMember {
            r#match: match_key::to_response(&set.fields, &key),
        });
        if !keys.insert(key) {
            return Err(Fault::exists(format!("{name}: the same member twice")));
        }
    }
    pipeline.value_set_write_masked(set.set, &values)?;
    forwarding.value_sets.insert(id, members);
    Ok(())
}

/// Reads one value set, or all of them.
pub(crate) fn read(forwarding: &Forwarding, filter: &p4rt::ValueSetEntry) -> Result<Vec<Entity>, Fault> {
    let sets = selected(&forwarding.index.value_sets, "parser value set", filter.value_set_id)?;
    let found = sets.map(|(value_set_id, _)| {
        let members = forwarding.value_sets.get(&value_set_id).cloned().unwrap_or_default();
        Entity::ValueSetEntry(p4rt::ValueSetEntry { value_set_id, members })
    });
    Ok(found.collect())
}
