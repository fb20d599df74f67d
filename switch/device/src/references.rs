//! Entries that need others: `@refers_to(TABLE, FIELD)` of a key field or a parameter, as SAI P4 and smolkaj/4ward use it.
//!
//! What is inserted or modified may only name a value that some entry of the table has in this field.
//! `builtin::multicast_group_table` stands for the multicast groups. A deletion looks at no references.

use std::collections::{BTreeMap, BTreeSet};

use p4sched_dataplane::MatchKind;
use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;
use p4sched_proto::p4::v1::update::Type;

use crate::annotation::body;
use crate::bytestring::{canonical, hex};
use crate::index::{Index, Table};
use crate::{Fault, Forwarding};

const REFERS_TO: &str = "refers_to";
const MULTICAST_GROUPS: &str = "builtin::multicast_group_table";

/// What the key fields and parameters of a program refer to.
#[derive(Debug, Default)]
pub struct References {
    /// By table and key field.
    keys: BTreeMap<(u32, u32), Vec<Target>>,
    /// By action and parameter.
    params: BTreeMap<(u32, u32), Vec<Target>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// A key field of a table.
    Field {
        table: u32,
        field: u32,
    },
    MulticastGroup,
}

/// Table and field that an annotation names; p4c puts spaces between the parts of a name.
fn named(annotation: &str) -> Option<Result<(String, String), ()>> {
    let names = body(annotation, REFERS_TO)?;
    let names = names.strip_prefix('(').and_then(|names| names.strip_suffix(')'));
    let name = |text: &str| {
        let name = text.replace([' ', '"'], "");
        (!name.is_empty()).then_some(name)
    };
    let pair = names.and_then(|names| names.split_once(','));
    let pair = pair.and_then(|(table, field)| name(table).zip(name(field)));
    Some(pair.filter(|(_, field)| !field.contains(',')).ok_or(()))
}

/// The target of an annotation; `None` if the program has no such table.
fn target(index: &Index, p4info: &p4info::P4Info, (name, field): &(String, String)) -> Result<Option<Target>, String> {
    if name == MULTICAST_GROUPS {
        return Ok(Some(Target::MulticastGroup));
    }
    let mut preambles = p4info.tables.iter().filter_map(|table| table.preamble.as_ref());
    let preamble = preambles.find(|preamble| preamble.alias == *name || preamble.name == *name);
    let Some(table) = preamble.and_then(|preamble| index.tables.get(&preamble.id)) else {
        return Ok(None);
    };
    let Some(found) = table.fields.iter().find(|known| known.name == *field) else {
        let known: Vec<&str> = table.fields.iter().map(|field| field.name.as_str()).collect();
        return Err(format!(
            "'{name}' has no key field '{field}'; it has {}",
            known.join(", ")
        ));
    };
    if !matches!(found.kind, MatchKind::Exact | MatchKind::Optional) {
        return Err(format!(
            "'{field}' of '{name}' is neither exact nor optional: its entries have no single value"
        ));
    }
    Ok(Some(Target::Field {
        table: table.id,
        field: found.id,
    }))
}

impl References {
    /// The references of a program whose tables and actions are known.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an annotation that does not name a table and one of its fields.
    pub fn new(p4info: &p4info::P4Info, index: &Index) -> Result<References, Fault> {
        let targets = |owner: &str, annotations: &[String]| {
            let wrong = |problem: &str| Fault::invalid(format!("P4Info: {owner}: @{REFERS_TO}: {problem}"));
            let mut targets = Vec::new();
            for names in annotations.iter().filter_map(|annotation| named(annotation)) {
                let names = names.map_err(|()| wrong("it takes a table and its key field, (TABLE, FIELD)"))?;
                targets.extend(target(index, p4info, &names).map_err(|problem| wrong(&problem))?);
            }
            Ok::<_, Fault>(targets)
        };
        let mut references = References::default();
        for (preamble, table) in p4info.tables.iter().map(|table| (table.preamble.as_ref(), table)) {
            let Some(preamble) = preamble else { continue };
            for field in &table.match_fields {
                let owner = format!("'{}': key field '{}'", preamble.name, field.name);
                let found = targets(&owner, &field.annotations)?;
                references.keys.insert((preamble.id, field.id), found);
            }
        }
        for (preamble, action) in p4info.actions.iter().map(|action| (action.preamble.as_ref(), action)) {
            let Some(preamble) = preamble else { continue };
            for param in &action.params {
                let owner = format!("'{}': parameter '{}'", preamble.name, param.name);
                let found = targets(&owner, &param.annotations)?;
                references.params.insert((preamble.id, param.id), found);
            }
        }
        references.keys.retain(|_, targets| !targets.is_empty());
        references.params.retain(|_, targets| !targets.is_empty());
        Ok(references)
    }

    /// The key fields of a table to which something refers.
    pub fn to_table(&self, table: u32) -> BTreeSet<u32> {
        let targets = self.keys.values().chain(self.params.values()).flatten();
        let fields = targets.filter_map(|target| match target {
            Target::Field { table: of, field } if *of == table => Some(*field),
            _ => None,
        });
        fields.collect()
    }
}

/// Checks that what an update refers to exists.
///
/// # Errors
/// `INVALID_ARGUMENT`, with what there is not.
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

/// The value of an exact or optional field.
pub fn single_value(field: &p4rt::FieldMatch) -> Option<&[u8]> {
    use p4rt::field_match::FieldMatchType;
    match field.field_match_type.as_ref()? {
        FieldMatchType::Exact(exact) => Some(&exact.value),
        FieldMatchType::Optional(optional) => Some(&optional.value),
        _ => None,
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

/// What a value refers to, if that does not exist.
fn missing(forwarding: &Forwarding, target: &Target, value: &[u8]) -> Option<String> {
    let value = canonical(value);
    // A controller that uses names does not know the number.
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
