//! References of a program's key fields and parameters: `@refers_to(TABLE, FIELD)`, as in SAI P4 and smolkaj/4ward.

use std::collections::{BTreeMap, BTreeSet};

use p4sched_dataplane::MatchKind;
use p4sched_proto::p4::config::v1 as p4info;

use super::Index;
use crate::annotation::body;
use crate::fault::Fault;

const REFERS_TO: &str = "refers_to";
/// The name that stands for the multicast groups.
const MULTICAST_GROUPS: &str = "builtin::multicast_group_table";

/// The references of a program's key fields and parameters.
#[derive(Debug, Default)]
pub struct References {
    /// Indexed by table and key field.
    pub keys: BTreeMap<(u32, u32), Vec<Target>>,
    /// Indexed by action and parameter.
    pub params: BTreeMap<(u32, u32), Vec<Target>>,
}

/// The object that a key field or a parameter refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A key field of a table.
    Field { table: u32, field: u32 },
    /// A multicast group.
    MulticastGroup,
}

/// The table and the field that an annotation names; p4c puts spaces between the parts of a name.
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

/// The target of an annotation; `None` if the program does not have the table.
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
    /// Collects the references of a program whose tables and actions are already indexed.
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

    /// The key fields of a table that others refer to.
    pub fn to_table(&self, table: u32) -> BTreeSet<u32> {
        let targets = self.keys.values().chain(self.params.values()).flatten();
        let fields = targets.filter_map(|target| match target {
            Target::Field { table: of, field } if *of == table => Some(*field),
            _ => None,
        });
        fields.collect()
    }
}
