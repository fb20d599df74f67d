//! Action profile members and groups.

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use crate::action::bind_for_profile;
use crate::fault::{Code, Fault};
use crate::forwarding::Forwarding;
use crate::index::Profile;
use crate::links::{Links, liveness};
use crate::store::{FIRST_RESERVED_ID, ProfileStore};

/// The largest sum of the weights of a group: each unit of weight takes a slot of the group.
const MAX_GROUP_SLOTS: i64 = 65536;

fn check_id(profile: &Profile, what: &str, id: u32) -> Result<(), Fault> {
    if id == 0 || id >= FIRST_RESERVED_ID {
        return Err(Fault::invalid(format!(
            "{}: {what} {id:#x}; identifiers are 1 to {:#x} (those above belong to one-shot entries)",
            profile.name,
            FIRST_RESERVED_ID - 1
        )));
    }
    Ok(())
}

/// Inserts, modifies or deletes a member.
pub(crate) fn write_member(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    member: &p4rt::ActionProfileMember,
) -> Result<(), Fault> {
    let index = forwarding.index.clone();
    let profile = index.profile(member.action_profile_id)?;
    let (name, id) = (&profile.name, member.member_id);
    check_id(profile, "member", id)?;
    let store = forwarding.profiles.entry(profile.id).or_default();
    match (kind, store.members.contains_key(&id)) {
        (Type::Insert, true) => return Err(Fault::exists(format!("{name}: member {id} exists"))),
        (Type::Modify | Type::Delete, false) => return Err(Fault::not_found(format!("{name}: no member {id}"))),
        _ => {}
    }
    if kind == Type::Delete {
        // A member whose watch port is down still belongs to its group.
        let groups = store.groups.iter();
        let mut using = groups.filter(|(_, group)| group.members.iter().any(|member| member.member_id == id));
        if let Some((group, _)) = using.next() {
            let message = format!("{name}: member {id} is used by group {group}");
            return Err(Fault::new(Code::FailedPrecondition, message));
        }
        pipeline.member_delete(profile.profile, id)?;
        store.members.remove(&id);
        return Ok(());
    }
    if kind == Type::Insert && profile.size > 0 && store.members.len() as i64 >= profile.size {
        return Err(Fault::new(
            Code::ResourceExhausted,
            format!("{name}: all {} members are used", profile.size),
        ));
    }
    let action = member.action.as_ref();
    let action = action.ok_or_else(|| Fault::invalid(format!("{name}: member {id} without an action")))?;
    let bound = bind_for_profile(&index, pipeline, profile, action)?;
    if kind == Type::Insert {
        pipeline.member_insert(profile.profile, id, bound.action, &bound.params)?;
    } else {
        pipeline.member_modify(profile.profile, id, bound.action, &bound.params)?;
    }
    let stored = p4rt::ActionProfileMember {
        action: Some(bound.to_response(&index)),
        ..member.clone()
    };
    store.members.insert(id, stored);
    Ok(())
}

/// Checks the weights of a group against P4Info and the group's size, and returns the size. `in_members` is
/// [`Profile::size_in_members`].
///
/// # Errors
/// `INVALID_ARGUMENT` for weights or a size that P4Info does not allow, `RESOURCE_EXHAUSTED` if the switch has not
/// enough room.
pub(crate) fn check_weights(
    profile: &Profile,
    weights: impl Iterator<Item = i32> + Clone,
    max_size: i32,
    in_members: Option<i32>,
) -> Result<i64, Fault> {
    let name = &profile.name;
    if profile.weights_disallowed {
        if let Some(weight) = weights.clone().find(|&weight| weight != 0) {
            return Err(Fault::invalid(format!(
                "{name}: a weight of {weight}; its members have no weights (0)"
            )));
        }
    } else if let Some(weight) = weights.clone().find(|&weight| weight < 1) {
        return Err(Fault::invalid(format!(
            "{name}: a weight of {weight}; weights are at least 1"
        )));
    }
    if let Some(largest) = in_members.filter(|&largest| largest > 0)
        && let Some(weight) = weights.clone().find(|&weight| weight > largest)
    {
        return Err(Fault::invalid(format!(
            "{name}: a weight of {weight}; it is at most {largest}"
        )));
    }
    let slots = size_of(weights.clone(), None);
    let size = size_of(weights, in_members);
    if max_size > 0 && size > i64::from(max_size) {
        return Err(Fault::invalid(format!(
            "{name}: a group of size {size}; it may have {max_size}"
        )));
    }
    if slots > MAX_GROUP_SLOTS {
        return Err(Fault::new(
            Code::ResourceExhausted,
            format!("{name}: weights add up to more than {MAX_GROUP_SLOTS}"),
        ));
    }
    Ok(size)
}

/// The size of a group: the number of its members, or the sum of their weights. `in_members` is
/// [`Profile::size_in_members`].
fn size_of(weights: impl Iterator<Item = i32>, in_members: Option<i32>) -> i64 {
    match in_members {
        Some(_) => weights.count() as i64,
        None => weights.map(|weight| i64::from(weight.max(1))).sum(),
    }
}

/// Checks that all groups of a selector together have room for `more`.
///
/// # Errors
/// `RESOURCE_EXHAUSTED`.
pub(crate) fn check_total(profile: &Profile, store: &ProfileStore, more: i64) -> Result<(), Fault> {
    let total = store.size_of_groups + more;
    if profile.size > 0 && more > 0 && total > profile.size {
        let counted = match profile.size_in_members {
            Some(_) => "members",
            None => "weights",
        };
        let message = format!(
            "{}: its groups would have {counted} of {total} together; P4Info allows {}",
            profile.name, profile.size
        );
        return Err(Fault::new(Code::ResourceExhausted, message));
    }
    Ok(())
}

fn check_group(
    store: &ProfileStore,
    links: &Links,
    profile: &Profile,
    group: &p4rt::ActionProfileGroup,
) -> Result<i64, Fault> {
    let (name, id) = (&profile.name, group.group_id);
    let (size, limit) = (group.max_size, profile.max_group_size);
    if size < 0 {
        return Err(Fault::invalid(format!(
            "{name}: group {id}: a max_size of {size} is below 0"
        )));
    }
    if limit > 0 && size > limit {
        return Err(Fault::invalid(format!(
            "{name}: group {id}: a max_size of {size}; P4Info allows 1 to {limit}"
        )));
    }
    // p4runtime-shell writes 0 by default, and BMv2 accepts it.
    let size = if size == 0 { limit } else { size };
    for (position, member) in group.members.iter().enumerate() {
        if !store.members.contains_key(&member.member_id) {
            return Err(Fault::not_found(format!(
                "{name}: group {id}: no member {}",
                member.member_id
            )));
        }
        if group.members[..position]
            .iter()
            .any(|other| other.member_id == member.member_id)
        {
            let member = member.member_id;
            return Err(Fault::invalid(format!(
                "{name}: group {id}: member {member} twice; use its weight"
            )));
        }
        liveness::check_watch(links, name, liveness::of_member(member))?;
    }
    let weights = group.members.iter().map(|member| member.weight);
    check_weights(profile, weights, size, profile.size_in_members)
}

/// Inserts, modifies or deletes a group.
pub(crate) fn write_group(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    group: &p4rt::ActionProfileGroup,
) -> Result<(), Fault> {
    let index = forwarding.index.clone();
    let profile = index.profile(group.action_profile_id)?;
    let (name, id) = (&profile.name, group.group_id);
    if !profile.with_selector {
        return Err(Fault::invalid(format!(
            "{name}: an action profile without a selector has no groups"
        )));
    }
    check_id(profile, "group", id)?;
    let store = forwarding.profiles.entry(profile.id).or_default();
    let existing = store.groups.get(&id);
    let was = existing.map_or(0, |group| {
        let weights = group.members.iter().map(|member| member.weight);
        size_of(weights, profile.size_in_members)
    });
    match (kind, existing) {
        (Type::Insert, Some(_)) => return Err(Fault::exists(format!("{name}: group {id} exists"))),
        (Type::Modify | Type::Delete, None) => return Err(Fault::not_found(format!("{name}: no group {id}"))),
        (Type::Delete, Some(_)) => {
            pipeline.group_delete(profile.profile, id)?;
            store.groups.remove(&id);
            store.size_of_groups -= was;
            return Ok(());
        }
        (Type::Modify, Some(existing)) if existing.max_size != group.max_size => {
            let (was, is) = (existing.max_size, group.max_size);
            return Err(Fault::invalid(format!(
                "{name}: group {id}: max_size is {was} for good, not {is}"
            )));
        }
        _ => {}
    }
    let more = check_group(store, &forwarding.links, profile, group)? - was;
    check_total(profile, store, more)?;
    let shares = liveness::shares(&forwarding.links, group);
    if kind == Type::Insert {
        pipeline.group_insert(profile.profile, id, &shares)?;
    } else {
        pipeline.group_modify(profile.profile, id, &shares)?;
    }
    store.size_of_groups += more;
    store.groups.insert(id, group.clone());
    Ok(())
}

/// The profiles that a read selects: one, or all.
fn selected(forwarding: &Forwarding, id: u32) -> Result<Vec<&ProfileStore>, Fault> {
    if id == 0 {
        return Ok(forwarding.profiles.values().collect());
    }
    forwarding.index.profile(id)?;
    Ok(forwarding.profiles.get(&id).into_iter().collect())
}

/// Reads one member, all members of a profile, or all members.
pub(crate) fn read_members(forwarding: &Forwarding, filter: &p4rt::ActionProfileMember) -> Result<Vec<Entity>, Fault> {
    let stores = selected(forwarding, filter.action_profile_id)?;
    let members = stores.into_iter().flat_map(|store| store.members.values());
    let members = members.filter(|member| filter.member_id == 0 || filter.member_id == member.member_id);
    Ok(members.cloned().map(Entity::ActionProfileMember).collect())
}

/// Reads one group, all groups of a profile, or all groups.
pub(crate) fn read_groups(forwarding: &Forwarding, filter: &p4rt::ActionProfileGroup) -> Result<Vec<Entity>, Fault> {
    let stores = selected(forwarding, filter.action_profile_id)?;
    let groups = stores.into_iter().flat_map(|store| store.groups.values());
    let groups = groups.filter(|group| filter.group_id == 0 || filter.group_id == group.group_id);
    Ok(groups.cloned().map(Entity::ActionProfileGroup).collect())
}
