//! Checks of references between entries. An entry that is inserted or modified may only use a value that some entry of
//! the other table has in the field that it refers to. Deletions are not checked.

use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use crate::bytestring::{canonical, hex};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::{Table, Target};
use crate::store::single_value;

/// Checks that everything an update refers to exists.
///
/// # Errors
/// `INVALID_ARGUMENT`; the message names what is missing.
pub fn check(forwarding: &Forwarding, update: &p4rt::Update) -> Result<(), Fault> {
    let references = &forwarding.index.references;
    let nothing_refers = references.keys.is_empty() && references.params.is_empty();
    if nothing_refers || update.r#type() == Type::Delete {
        return Ok(());
    }
    match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) {
        Some(Entity::TableEntry(entry)) => {
            check_key(forwarding, entry)?;
            match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
                Some(ActionKind::Action(action)) => check_action(forwarding, action),
                Some(ActionKind::ActionProfileActionSet(set)) => {
                    let mut actions = set.action_profile_actions.iter().flat_map(|choice| &choice.action);
                    actions.try_for_each(|action| check_action(forwarding, action))
                }
                _ => Ok(()),
            }
        }
        Some(Entity::ActionProfileMember(member)) => {
            let mut action = member.action.iter();
            action.try_for_each(|action| check_action(forwarding, action))
        }
        _ => Ok(()),
    }
}

fn check_key(forwarding: &Forwarding, entry: &p4rt::TableEntry) -> Result<(), Fault> {
    let index = &forwarding.index;
    for given in &entry.r#match {
        let targets = index.references.keys.get(&(entry.table_id, given.field_id));
        let Some((targets, value)) = targets.zip(single_value(given)) else {
            continue;
        };
        if let Some(missing) = targets.iter().find_map(|target| missing(forwarding, target, value)) {
            let table = index.table(entry.table_id)?;
            let field = table.fields.iter().find(|field| field.id == given.field_id);
            let field = field.map_or("", |field| &field.name);
            return Err(Fault::invalid(format!(
                "{}: key field '{field}' refers to {missing}",
                table.name
            )));
        }
    }
    Ok(())
}

fn check_action(forwarding: &Forwarding, action: &p4rt::Action) -> Result<(), Fault> {
    let index = &forwarding.index;
    for given in &action.params {
        let targets = index.references.params.get(&(action.action_id, given.param_id));
        let mut targets = targets.into_iter().flatten();
        if let Some(missing) = targets.find_map(|target| missing(forwarding, target, &given.value)) {
            let action = index.action(action.action_id)?;
            let param = action.params.iter().find(|param| param.id == given.param_id);
            let param = param.map_or("", |param| &param.name);
            return Err(Fault::invalid(format!(
                "parameter '{param}' of '{}' refers to {missing}",
                action.name
            )));
        }
    }
    Ok(())
}

/// The description of what a value refers to, if that does not exist.
fn missing(forwarding: &Forwarding, target: &Target, value: &[u8]) -> Option<String> {
    let value = canonical(value);
    // A controller that uses names does not know the data plane's number.
    let shown = || match forwarding.translation.is_empty() {
        true => format!(" = 0x{}", hex(&value)),
        false => " of this value".to_owned(),
    };
    match target {
        Target::Field { table, field } => {
            let exists = forwarding
                .tables
                .get(table)
                .is_some_and(|store| store.has(*field, &value));
            let named = |table: &Table| {
                let field = table.fields.iter().find(|known| known.id == *field);
                format!(
                    "an entry of '{}' with '{}'{}, and there is none",
                    table.name,
                    field.map_or("", |field| &field.name),
                    shown()
                )
            };
            (!exists).then(|| forwarding.index.tables.get(table).map(named))?
        }
        Target::MulticastGroup => {
            let push = |id: u32, &byte: &u8| Some(id.checked_mul(256)? | u32::from(byte));
            let id = value.iter().try_fold(0, push);
            match id.filter(|id| !forwarding.multicast.contains_key(id)) {
                Some(id) => Some(format!("multicast group {id}, and there is none")),
                None if id.is_none() => Some("a multicast group above 4294967295".to_owned()),
                None => None,
            }
        }
    }
}
