//! Table entries and default actions.

mod read;
mod write;

use p4sched_dataplane::{ActionCall, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;

use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::store::StoredEntry;
use crate::{action, match_key};

pub(crate) use read::{read, replay, snapshot};
pub(crate) use write::write;

/// Takes over the program's own entries.
///
/// # Errors
/// `INVALID_ARGUMENT` for an entry or default action that breaks one of the program's own restrictions: a controller
/// could not write it again.
pub(crate) fn adopt_initial(forwarding: &mut Forwarding, pipeline: &Pipeline) -> Result<(), Fault> {
    for table in forwarding.index.tables.values() {
        let Some(store) = forwarding.tables.get_mut(&table.id) else {
            continue;
        };
        if let Some(ActionCall::Action { action, params }) = pipeline.table_default(table.table) {
            action::check_initial(&forwarding.index, pipeline, table, action, &params)?;
        }
        for view in pipeline.table_entries(table.table) {
            let ActionCall::Action { action, params } = &view.action else {
                continue;
            };
            action::check_initial(&forwarding.index, pipeline, table, *action, params)?;
            if let Some(restriction) = &table.restriction {
                restriction
                    .check_entry(&table.name, &table.fields, &view.key, view.priority)
                    .map_err(action::own_restriction)?;
            }
            let action = action::from_program(&forwarding.index, pipeline, table, *action, params);
            let priority = if table.needs_priority { view.priority } else { 0 };
            let entry = p4rt::TableEntry {
                table_id: table.id,
                r#match: match_key::to_response(&table.fields, &view.key),
                action: action.map(|action| p4rt::TableAction {
                    r#type: Some(ActionKind::Action(action)),
                }),
                priority,
                is_const: view.is_const || table.is_const,
                ..p4rt::TableEntry::default()
            };
            let stored = StoredEntry {
                handle: view.handle,
                entry,
                one_shot: None,
                idle_notice: 0,
            };
            store.add(stored);
        }
    }
    Ok(())
}
