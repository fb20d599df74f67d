//! Action profiles and selectors: actions shared by entries, and groups of actions chosen by a hash.

use std::collections::{HashMap, HashSet};

use super::entries::Call;
use crate::errors::TableError;

#[derive(Debug)]
pub(crate) struct Profile {
    pub name: String,
    pub size: usize,
    /// Indices of the actions that its tables may use.
    pub actions: Vec<u32>,
    /// Calculation that chooses a member of a group.
    pub selector: Option<u32>,
    pub members: HashMap<u32, Call>,
    pub groups: HashMap<u32, Vec<u32>>,
    /// Groups that choose a member at random instead of by the hash.
    pub at_random: HashSet<u32>,
    /// Tables that it implements.
    pub tables: Vec<u32>,
}

impl Profile {
    fn no(&self, kind: &'static str, id: u32) -> TableError {
        TableError::NoMember {
            profile: self.name.clone(),
            kind,
            id,
        }
    }

    pub fn insert(&mut self, member: u32, call: Call) -> Result<(), TableError> {
        if self.members.contains_key(&member) {
            return Err(TableError::Duplicate(self.name.clone()));
        }
        if self.size > 0 && self.members.len() >= self.size {
            return Err(TableError::Full {
                table: self.name.clone(),
                size: self.size,
            });
        }
        self.members.insert(member, call);
        Ok(())
    }

    pub fn modify(&mut self, member: u32, call: Call) -> Result<(), TableError> {
        match self.members.get_mut(&member) {
            Some(place) => {
                *place = call;
                Ok(())
            }
            None => Err(self.no("member", member)),
        }
    }

    /// Removes a member; `used`: a table entry refers to it.
    pub fn delete(&mut self, member: u32, used: bool) -> Result<(), TableError> {
        if !self.members.contains_key(&member) {
            return Err(self.no("member", member));
        }
        if used || self.groups.values().any(|members| members.contains(&member)) {
            return Err(TableError::InUse {
                profile: self.name.clone(),
                kind: "member",
                id: member,
            });
        }
        self.members.remove(&member);
        Ok(())
    }

    fn check(&self, members: &[u32]) -> Result<(), TableError> {
        if self.selector.is_none() {
            return Err(TableError::Without(self.name.clone(), "selector"));
        }
        match members.iter().find(|member| !self.members.contains_key(member)) {
            Some(&member) => Err(self.no("member", member)),
            None => Ok(()),
        }
    }

    pub fn insert_group(&mut self, group: u32, members: &[u32]) -> Result<(), TableError> {
        self.check(members)?;
        if self.groups.contains_key(&group) {
            return Err(TableError::Duplicate(self.name.clone()));
        }
        self.groups.insert(group, members.to_vec());
        Ok(())
    }

    pub fn modify_group(&mut self, group: u32, members: &[u32]) -> Result<(), TableError> {
        self.check(members)?;
        match self.groups.get_mut(&group) {
            Some(place) => {
                *place = members.to_vec();
                Ok(())
            }
            None => Err(self.no("group", group)),
        }
    }

    /// Makes a group choose its members at random, or by the hash.
    pub fn choose_at_random(&mut self, group: u32, at_random: bool) -> Result<(), TableError> {
        if !self.groups.contains_key(&group) {
            return Err(self.no("group", group));
        }
        if at_random {
            self.at_random.insert(group);
        } else {
            self.at_random.remove(&group);
        }
        Ok(())
    }

    /// Removes a group; `used`: a table entry refers to it.
    pub fn delete_group(&mut self, group: u32, used: bool) -> Result<(), TableError> {
        if !self.groups.contains_key(&group) {
            return Err(self.no("group", group));
        }
        if used {
            return Err(TableError::InUse {
                profile: self.name.clone(),
                kind: "group",
                id: group,
            });
        }
        self.groups.remove(&group);
        self.at_random.remove(&group);
        Ok(())
    }

    /// Call for an entry that refers to a member.
    pub fn member(&self, member: u32) -> Result<Call, TableError> {
        let known = self.members.contains_key(&member);
        known
            .then_some(Call::Member(member))
            .ok_or_else(|| self.no("member", member))
    }

    /// Call for an entry that refers to a group.
    pub fn group(&self, group: u32) -> Result<Call, TableError> {
        let known = self.groups.contains_key(&group);
        known
            .then_some(Call::Group(group))
            .ok_or_else(|| self.no("group", group))
    }
}
