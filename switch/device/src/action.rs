//! Actions: conversion between P4Runtime's action messages and the data plane's calls.

use p4sched_dataplane::{ActionId, Pipeline};
use p4sched_proto::p4::config::v1::action_ref::Scope;
use p4sched_proto::p4::v1 as p4rt;

use crate::bytestring::{canonical, full_width};
use crate::fault::Fault;
use crate::index::{Index, Profile, Table};

/// A checked action with its parameters, for the data plane and for later reads.
#[derive(Debug, Clone)]
pub struct Bound {
    /// Identifier in P4Info.
    pub id: u32,
    pub action: ActionId,
    /// Parameter values at full width, in order.
    pub params: Vec<Vec<u8>>,
}

impl Bound {
    /// The message that reads return, with canonical values.
    pub fn to_response(&self, index: &Index) -> p4rt::Action {
        let params = index.actions.get(&self.id).map_or(&[][..], |action| &action.params);
        let params = params.iter().zip(&self.params);
        let params = params.map(|(param, value)| p4rt::action::Param {
            param_id: param.id,
            value: canonical(value),
        });
        p4rt::Action {
            action_id: self.id,
            params: params.collect(),
        }
    }
}

/// Checks an action that a table may use, as the action of an entry or as the default action.
///
/// # Errors
/// `INVALID_ARGUMENT` if the table does not have the action or a parameter is wrong, `PERMISSION_DENIED` outside the
/// action's scope, `OUT_OF_RANGE` for values that are too wide.
pub fn bind_for_table(
    index: &Index,
    pipeline: &Pipeline,
    table: &Table,
    action: &p4rt::Action,
    as_default: bool,
) -> Result<Bound, Fault> {
    let known = table.action(action.action_id).ok_or_else(|| {
        let names = table.actions.iter().filter_map(|known| index.actions.get(&known.id));
        let names: Vec<&str> = names.map(|action| action.name.as_str()).collect();
        let (id, names) = (action.action_id, names.join(", "));
        Fault::invalid(format!(
            "{}: action {id:#010x} is not one of this table's; it may use {names}",
            table.name
        ))
    })?;
    match (known.scope, as_default) {
        (Scope::TableOnly, true) => {
            return Err(Fault::denied(format!(
                "{}: this action may not be the default action",
                table.name
            )));
        }
        (Scope::DefaultOnly, false) => {
            return Err(Fault::denied(format!(
                "{}: this action may only be the default action",
                table.name
            )));
        }
        _ => {}
    }
    bind(index, pipeline, &table.name, known.action, action)
}

/// Checks the action of a profile member.
///
/// # Errors
/// Those of [`bind`], and `INVALID_ARGUMENT` for an action that the profile's tables may not use.
pub fn bind_for_profile(
    index: &Index,
    pipeline: &Pipeline,
    profile: &Profile,
    action: &p4rt::Action,
) -> Result<Bound, Fault> {
    let name = &index.action(action.action_id)?.name;
    let place = pipeline.profile_action(profile.profile, name).ok_or_else(|| {
        Fault::invalid(format!(
            "{}: the tables of this profile do not use the action '{name}'",
            profile.name
        ))
    })?;
    bind(index, pipeline, &profile.name, place, action)
}

/// Checks the parameters of an action that is already known to the pipeline.
///
/// # Errors
/// `INVALID_ARGUMENT` for missing, unknown or repeated parameters and for those that break the action's restriction,
/// `OUT_OF_RANGE` for values that are too wide.
pub fn bind(
    index: &Index,
    pipeline: &Pipeline,
    owner: &str,
    place: ActionId,
    action: &p4rt::Action,
) -> Result<Bound, Fault> {
    let declared = index.action(action.action_id)?;
    let name = &declared.name;
    for (position, given) in action.params.iter().enumerate() {
        if !declared.params.iter().any(|param| param.id == given.param_id) {
            return Err(Fault::invalid(format!(
                "{owner}: action '{name}' has no parameter {}; it has {} parameters",
                given.param_id,
                declared.params.len()
            )));
        }
        if action.params[..position]
            .iter()
            .any(|other| other.param_id == given.param_id)
        {
            return Err(Fault::invalid(format!(
                "{owner}: parameter {} of '{name}' is given twice",
                given.param_id
            )));
        }
    }
    let widths = pipeline.action_params(place);
    let params = declared.params.iter().zip(widths).map(|(param, (_, width))| {
        let given = action.params.iter().find(|given| given.param_id == param.id);
        let given = given
            .ok_or_else(|| Fault::invalid(format!("{owner}: parameter '{}' of '{name}' is missing", param.name)))?;
        full_width(
            &format_args!("{owner}: parameter '{}' of '{name}'", param.name),
            &given.value,
            *width,
        )
    });
    let params = params.collect::<Result<Vec<_>, _>>()?;
    if let Some(restriction) = &declared.restriction {
        restriction.check_action(owner, name, &params)?;
    }
    Ok(Bound {
        id: action.action_id,
        action: place,
        params,
    })
}

/// Checks an action that the program's own entries use.
///
/// # Errors
/// `INVALID_ARGUMENT` for parameters that break the action's restriction.
pub fn check_initial(
    index: &Index,
    pipeline: &Pipeline,
    table: &Table,
    action: ActionId,
    params: &[Vec<u8>],
) -> Result<(), Fault> {
    let declared = index
        .action_id(pipeline.action_name(action))
        .and_then(|id| index.actions.get(&id));
    let restricted = declared.and_then(|action| Some((action, action.restriction.as_ref()?)));
    let Some((declared, restriction)) = restricted else {
        return Ok(());
    };
    restriction
        .check_action(&table.name, &declared.name, params)
        .map_err(own_restriction)
}

/// The error for a program whose own entries break its restriction.
pub fn own_restriction(fault: Fault) -> Fault {
    Fault::invalid(format!("the program's own entries: {}", fault.message))
}

/// The canonical message of an action that the program's own entries use; `None` if P4Info does not declare it.
pub fn from_program(
    index: &Index,
    pipeline: &Pipeline,
    table: &Table,
    action: ActionId,
    params: &[Vec<u8>],
) -> Option<p4rt::Action> {
    let name = pipeline.action_name(action);
    let known = table.actions.iter().find(|known| {
        known.action == action
            || index
                .actions
                .get(&known.id)
                .is_some_and(|declared| declared.name == name)
    })?;
    Some(
        Bound {
            id: known.id,
            action,
            params: params.to_vec(),
        }
        .to_response(index),
    )
}
