//! The action of a table entry: direct, by member or group, or a whole group (a "one-shot").

use p4sched_dataplane::{ActionCall, Pipeline, ProfileId};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::action_profile_action_set::{ActionSelectionMode, SizeSemantics};
use p4sched_proto::p4::v1::table_action::Type as ActionKind;

use super::profiles::{check_total, check_weights};
use crate::action;
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::{Index, Profile, Table};
use crate::links::{Links, liveness};
use crate::store::{FIRST_RESERVED_ID, OneShot};

/// The checked action of an entry, ready for the data plane.
pub struct CheckedAction {
    /// The call for the data plane.
    pub call: ActionCall,
    /// The message that reads return.
    pub response: ActionKind,
    /// Parts that must be removed together with the entry.
    pub one_shot: Option<OneShot>,
}

/// Parts that a new action replaces.
#[derive(Debug, Clone, Copy)]
pub enum Replaces {
    /// The entry is new.
    Nothing,
    /// The entry names a member or group.
    Reference,
    /// The entry is a one-shot of this size.
    OneShot(i64),
}

impl Replaces {
    /// The action of an existing entry. For a one-shot, its size is given.
    pub fn entry(one_shot: Option<i64>) -> Replaces {
        one_shot.map_or(Replaces::Reference, Replaces::OneShot)
    }
}

/// Checks an entry's action, and creates the members and the group of a one-shot. If the caller fails later, it must
/// call [`discard`].
///
/// # Errors
/// `INVALID_ARGUMENT` for a kind of action that the table or its other entries do not allow, `NOT_FOUND` for an unknown
/// member or group, and the errors of the action itself.
pub fn prepare(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    index: &Index,
    table: &Table,
    action: &ActionKind,
    replaces: Replaces,
) -> Result<CheckedAction, Fault> {
    let name = &table.name;
    let profile = table.profile.map(|id| index.profile(id)).transpose()?;
    if let Some(store) = profile.and_then(|profile| forwarding.profiles.get(&profile.id)) {
        let is_one_shot = matches!(action, ActionKind::ActionProfileActionSet(_));
        let other_kind_goes = match replaces {
            Replaces::Nothing => false,
            Replaces::Reference => is_one_shot,
            Replaces::OneShot(_) => !is_one_shot,
        };
        if store.written(!is_one_shot) > usize::from(other_kind_goes) {
            return Err(Fault::invalid(format!(
                "{name}: entries of an action selector are all one-shots, or all name members and groups"
            )));
        }
    }
    let prepared = |call, response| CheckedAction {
        call,
        response,
        one_shot: None,
    };
    match (action, profile) {
        (ActionKind::Action(action), None) => {
            let bound = action::bind_for_table(index, pipeline, table, action, false)?;
            let response = ActionKind::Action(bound.to_response(index));
            let call = ActionCall::Action {
                action: bound.action,
                params: bound.params,
            };
            Ok(prepared(call, response))
        }
        (ActionKind::ActionProfileMemberId(member), Some(profile)) => {
            let store = forwarding.profiles.get(&profile.id);
            if !store.is_some_and(|store| store.members.contains_key(member)) {
                return Err(Fault::not_found(format!("{}: no member {member}", profile.name)));
            }
            Ok(prepared(ActionCall::Member(*member), action.clone()))
        }
        (ActionKind::ActionProfileGroupId(group), Some(profile)) if profile.with_selector => {
            let store = forwarding.profiles.get(&profile.id);
            if !store.is_some_and(|store| store.groups.contains_key(group)) {
                return Err(Fault::not_found(format!("{}: no group {group}", profile.name)));
            }
            Ok(prepared(ActionCall::Group(*group), action.clone()))
        }
        (ActionKind::ActionProfileActionSet(set), Some(profile)) if profile.with_selector => {
            let size = check_set(forwarding, profile, set)?;
            let goes = match replaces {
                Replaces::OneShot(size) => size,
                _ => 0,
            };
            if let Some(store) = forwarding.profiles.get(&profile.id) {
                check_total(profile, store, size - goes)?;
            }
            expand(forwarding, pipeline, index, (table, profile), (set, size))
        }
        (_, None) => Err(Fault::invalid(format!(
            "{name}: its entries take an action, not a member or group"
        ))),
        (_, Some(profile)) if profile.with_selector => Err(Fault::invalid(format!(
            "{name}: its entries take a member, a group or an action set of '{}'",
            profile.name
        ))),
        (_, Some(profile)) => Err(Fault::invalid(format!(
            "{name}: its entries take a member of '{}'",
            profile.name
        ))),
    }
}

/// Checks the members of a one-shot and returns its size.
fn check_set(forwarding: &Forwarding, profile: &Profile, set: &p4rt::ActionProfileActionSet) -> Result<i64, Fault> {
    let known = ActionSelectionMode::try_from(set.action_selection_mode).is_ok()
        && SizeSemantics::try_from(set.size_semantics).is_ok();
    if !known {
        return Err(Fault::invalid(format!(
            "{}: an unknown action_selection_mode or size_semantics",
            profile.name
        )));
    }
    let in_members = match set.size_semantics() {
        SizeSemantics::DefaultSizeDeterminedByActionSelector => profile.size_in_members,
        SizeSemantics::SumOfWeights => None,
        SizeSemantics::SumOfMembers => profile.size_in_members.or(Some(0)),
    };
    let weights = set.action_profile_actions.iter().map(|action| action.weight);
    let size = check_weights(profile, weights, profile.max_group_size, in_members)?;
    for choice in &set.action_profile_actions {
        liveness::check_watch(&forwarding.links, &profile.name, liveness::of_choice(choice))?;
    }
    Ok(size)
}

/// The live members of a one-shot's group, each repeated by its weight.
pub fn shares(links: &Links, set: &p4rt::ActionProfileActionSet, members: &[u32]) -> Vec<u32> {
    let choices = set.action_profile_actions.iter().zip(members);
    let alive = choices.filter(|(choice, _)| liveness::is_alive(links, liveness::of_choice(choice)));
    let shares = alive.map(|(choice, &member)| std::iter::repeat_n(member, choice.weight.max(1) as usize));
    shares.flatten().collect()
}

fn expand(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    index: &Index,
    (table, profile): (&Table, &Profile),
    (set, size): (&p4rt::ActionProfileActionSet, i64),
) -> Result<CheckedAction, Fault> {
    let mut bound = Vec::with_capacity(set.action_profile_actions.len());
    for choice in &set.action_profile_actions {
        let action = choice.action.as_ref();
        let action = action.ok_or_else(|| Fault::invalid(format!("{}: an action set with no action", table.name)))?;
        action::bind_for_table(index, pipeline, table, action, false)?;
        bound.push(action::bind_for_profile(index, pipeline, profile, action)?);
    }
    let store = forwarding.profiles.entry(profile.id).or_default();
    let mut created = OneShot {
        group: store.reserve(),
        members: Vec::with_capacity(bound.len()),
        size,
    };
    for bound in &bound {
        let member = store.reserve();
        if let Err(error) = pipeline.member_insert(profile.profile, member, bound.action, &bound.params) {
            remove(pipeline, profile.profile, &created, false);
            return Err(error.into());
        }
        created.members.push(member);
    }
    let shares = shares(&forwarding.links, set, &created.members);
    if let Err(error) = pipeline.group_insert(profile.profile, created.group, &shares) {
        remove(pipeline, profile.profile, &created, false);
        return Err(error.into());
    }
    let at_random = set.action_selection_mode() == ActionSelectionMode::Random;
    pipeline.group_at_random(profile.profile, created.group, at_random)?;
    let actions = set
        .action_profile_actions
        .iter()
        .zip(&bound)
        .map(|(choice, bound)| p4rt::ActionProfileAction {
            action: Some(bound.to_response(index)),
            ..choice.clone()
        });
    let response = p4rt::ActionProfileActionSet {
        action_profile_actions: actions.collect(),
        ..set.clone()
    };
    Ok(CheckedAction {
        call: ActionCall::Group(created.group),
        response: ActionKind::ActionProfileActionSet(response),
        one_shot: Some(created),
    })
}

/// Removes the group and the members of a one-shot whose entry was removed.
pub fn discard(pipeline: &mut Pipeline, index: &Index, table: &Table, one_shot: Option<OneShot>) {
    let profile = table.profile.and_then(|id| index.profiles.get(&id));
    if let (Some(profile), Some(one_shot)) = (profile, one_shot) {
        remove(pipeline, profile.profile, &one_shot, true);
    }
}

fn remove(pipeline: &mut Pipeline, profile: ProfileId, one_shot: &OneShot, with_group: bool) {
    debug_assert!(one_shot.group >= FIRST_RESERVED_ID, "a controller's group");
    if with_group {
        let removed = pipeline.group_delete(profile, one_shot.group);
        debug_assert!(
            removed.is_ok(),
            "the group of a one-shot is used by its entry only: {removed:?}"
        );
    }
    for &member in &one_shot.members {
        let removed = pipeline.member_delete(profile, member);
        debug_assert!(
            removed.is_ok(),
            "the members of a one-shot are used by its group only: {removed:?}"
        );
    }
}
