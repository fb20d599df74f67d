//! Parser value sets.

use p4sched_dataplane::{MatchKey, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{modify_only, selected};
use crate::index::{Field, ValueSet, unknown};
use crate::{Code, Fault, Forwarding, bits, match_key};

/// The value of a member: its fields one after the other.
fn value_of(name: &str, fields: &[Field], key: &[MatchKey]) -> Result<Vec<u8>, Fault> {
    let mut value = bits::Writer::default();
    for (field, key) in fields.iter().zip(key) {
        let MatchKey::Exact(bytes) = key else {
            return Err(Fault::unimplemented(format!(
                "{name}: members match exactly, as in BMv2"
            )));
        };
        value.push(bytes, field.width);
    }
    Ok(value.right_aligned())
}

/// The value of a member that was written.
pub(crate) fn value(set: &ValueSet, member: &p4rt::ValueSetMember) -> Result<Vec<u8>, Fault> {
    let key = match_key::from_request(&set.name, &set.fields, &member.r#match)?;
    value_of(&set.name, &set.fields, &key)
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
    let (mut values, mut members) = (Vec::with_capacity(given), Vec::with_capacity(given));
    for member in &entry.members {
        let key = match_key::from_request(name, &set.fields, &member.r#match)?;
        let value = value_of(name, &set.fields, &key)?;
        if values.contains(&value) {
            return Err(Fault::exists(format!("{name}: the same member twice")));
        }
        values.push(value);
        members.push(p4rt::ValueSetMember {
            r#match: match_key::to_response(&set.fields, &key),
        });
    }
    pipeline.value_set_write(set.set, &values)?;
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
