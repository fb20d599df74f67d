//! Action profiles: members and groups by handle. Handle `h` is P4Runtime's identifier `h + 1`.

use std::collections::BTreeMap;

use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::update::Type;

use super::tables::{action_of, named_action};
use super::{Refusal, Runtime, TableCode, profile};
use crate::entities::profiles;
use crate::fault::{Code, Fault};
use crate::index::{Index, Profile};
use crate::store::ProfileStore;

/// A member: its handle, its action and its parameters at full width.
pub type Member = (u32, String, Vec<Vec<u8>>);

fn no_member(profile: &Profile, handle: u32) -> Refusal {
    TableCode::InvalidMemberHandle.because(format!("{}: no member {handle}", profile.name))
}

fn no_group(profile: &Profile, handle: u32) -> Refusal {
    TableCode::InvalidGroupHandle.because(format!("{}: no group {handle}", profile.name))
}

/// The smallest free identifier.
fn free<T>(taken: &BTreeMap<u32, T>) -> u32 {
    (1..).find(|id| !taken.contains_key(id)).unwrap_or(u32::MAX)
}

fn member_row(index: &Index, handle: u32, member: &p4rt::ActionProfileMember) -> Member {
    let (name, data) = member
        .action
        .as_ref()
        .map(|action| named_action(index, action))
        .unwrap_or_default();
    (handle, name, data)
}

fn member_handles(group: &p4rt::ActionProfileGroup) -> Vec<u32> {
    group.members.iter().map(|member| member.member_id - 1).collect()
}

impl Runtime<'_> {
    fn profile_store(&self, profile: &Profile) -> &ProfileStore {
        // The store exists: it is created for every profile when the program is loaded.
        &self.forwarding.profiles[&profile.id]
    }

    fn member_action(
        &self,
        index: &Index,
        profile: &Profile,
        name: &str,
        data: &[Vec<u8>],
    ) -> Result<p4rt::Action, Refusal> {
        let ids = index.actions.keys().copied();
        if self.pipeline.profile_action(profile.profile, name).is_none() {
            let problem = format!("{}: its tables have no action '{name}'", profile.name);
            return Err(TableCode::InvalidActionName.because(problem));
        }
        action_of(index, ids, name, data)
    }

    /// Adds a member and returns its handle.
    pub fn add_member(&mut self, name: &str, action: &str, data: &[Vec<u8>]) -> Result<u32, Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let action = self.member_action(&index, profile, action, data)?;
        let id = free(&self.profile_store(profile).members);
        self.write_member(Type::Insert, profile, id, Some(action))?;
        Ok(id - 1)
    }

    pub fn modify_member(&mut self, name: &str, handle: u32, action: &str, data: &[Vec<u8>]) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let action = self.member_action(&index, profile, action, data)?;
        let id = self.member_id(profile, handle)?;
        self.write_member(Type::Modify, profile, id, Some(action))
    }

    /// Removes a member that no entry and no group uses.
    pub fn delete_member(&mut self, name: &str, handle: u32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let id = self.member_id(profile, handle)?;
        self.write_member(Type::Delete, profile, id, None)
    }

    fn write_member(
        &mut self,
        kind: Type,
        profile: &Profile,
        id: u32,
        action: Option<p4rt::Action>,
    ) -> Result<(), Refusal> {
        let member = p4rt::ActionProfileMember {
            action_profile_id: profile.id,
            member_id: id,
            action,
        };
        let written = profiles::write_member(self.forwarding, self.pipeline, kind, &member);
        written.map_err(|fault| in_use(fault, TableCode::MemberStillUsed))
    }

    fn member_id(&self, profile: &Profile, handle: u32) -> Result<u32, Refusal> {
        let id = handle.wrapping_add(1);
        let known = self.profile_store(profile).members.contains_key(&id);
        known.then_some(id).ok_or_else(|| no_member(profile, handle))
    }

    fn group(&self, profile: &Profile, handle: u32) -> Result<&p4rt::ActionProfileGroup, Refusal> {
        if !profile.with_selector {
            let problem = format!("{}: an action profile without a selector has no groups", profile.name);
            return Err(TableCode::NoActionProfileSelection.because(problem));
        }
        let group = self.profile_store(profile).groups.get(&handle.wrapping_add(1));
        group.ok_or_else(|| no_group(profile, handle))
    }

    /// Adds an empty group and returns its handle.
    pub fn create_group(&mut self, name: &str) -> Result<u32, Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        if !profile.with_selector {
            let problem = format!("{name}: an action profile without a selector has no groups");
            return Err(TableCode::NoActionProfileSelection.because(problem));
        }
        let group = p4rt::ActionProfileGroup {
            action_profile_id: profile.id,
            group_id: free(&self.profile_store(profile).groups),
            max_size: profile.max_group_size,
            ..p4rt::ActionProfileGroup::default()
        };
        profiles::write_group(self.forwarding, self.pipeline, Type::Insert, &group)?;
        Ok(group.group_id - 1)
    }

    /// Removes a group that no entry uses.
    pub fn delete_group(&mut self, name: &str, handle: u32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let group = self.group(profile(&index, name)?, handle)?.clone();
        let written = profiles::write_group(self.forwarding, self.pipeline, Type::Delete, &group);
        written.map_err(|fault| in_use(fault, TableCode::GroupStillUsed))
    }

    pub fn add_to_group(&mut self, name: &str, member: u32, group: u32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let id = self.member_id(profile, member)?;
        let mut changed = self.group(profile, group)?.clone();
        if changed.members.iter().any(|other| other.member_id == id) {
            let problem = format!("{name}: member {member} is in group {group}");
            return Err(TableCode::MemberAlreadyInGroup.because(problem));
        }
        changed.members.push(p4rt::action_profile_group::Member {
            member_id: id,
            weight: i32::from(!profile.weights_disallowed),
            ..p4rt::action_profile_group::Member::default()
        });
        self.change_group(&changed)
    }

    /// Removes a member from a group.
    pub fn remove_from_group(&mut self, name: &str, member: u32, group: u32) -> Result<(), Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let id = self.member_id(profile, member)?;
        let mut changed = self.group(profile, group)?.clone();
        let before = changed.members.len();
        changed.members.retain(|other| other.member_id != id);
        if changed.members.len() == before {
            let problem = format!("{name}: member {member} is not in group {group}");
            return Err(TableCode::MemberNotInGroup.because(problem));
        }
        self.change_group(&changed)
    }

    fn change_group(&mut self, changed: &p4rt::ActionProfileGroup) -> Result<(), Refusal> {
        Ok(profiles::write_group(
            self.forwarding,
            self.pipeline,
            Type::Modify,
            changed,
        )?)
    }

    pub fn members(&self, name: &str) -> Result<Vec<Member>, Refusal> {
        let index = self.forwarding.index.clone();
        let store = self.profile_store(profile(&index, name)?);
        let members = store.members.iter();
        Ok(members.map(|(id, member)| member_row(&index, id - 1, member)).collect())
    }

    pub fn member(&self, name: &str, handle: u32) -> Result<Member, Refusal> {
        let index = self.forwarding.index.clone();
        let profile = profile(&index, name)?;
        let id = self.member_id(profile, handle)?;
        Ok(member_row(&index, handle, &self.profile_store(profile).members[&id]))
    }

    /// All groups, with the handles of their members.
    pub fn groups(&self, name: &str) -> Result<Vec<(u32, Vec<u32>)>, Refusal> {
        let index = self.forwarding.index.clone();
        let store = self.profile_store(profile(&index, name)?);
        let groups = store.groups.iter();
        Ok(groups.map(|(id, group)| (id - 1, member_handles(group))).collect())
    }

    /// The handles of a group's members.
    pub fn group_members(&self, name: &str, handle: u32) -> Result<Vec<u32>, Refusal> {
        let index = self.forwarding.index.clone();
        Ok(member_handles(self.group(profile(&index, name)?, handle)?))
    }
}

/// The refusal for a failed removal; `used` is the code for an object that is still in use.
fn in_use(fault: Fault, used: TableCode) -> Refusal {
    match fault.code {
        Code::FailedPrecondition => used.because(fault.message),
        _ => fault.into(),
    }
}
