//! Updates after a link changes: group members with a watch port, and replicas with backups.

use p4sched_dataplane::Pipeline;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::table_action::Type as ActionKind;

use super::{one_shot, replication};
use crate::forwarding::Forwarding;
use crate::links::liveness::{of_choice, of_member, shares};

/// Updates groups and replicas with the state of the links.
pub fn follow(forwarding: &Forwarding, pipeline: &mut Pipeline) {
    let links = &forwarding.links;
    let watches = |group: &&p4rt::ActionProfileGroup| group.members.iter().any(|member| of_member(member).is_some());
    for (id, store) in &forwarding.profiles {
        let Some(profile) = forwarding.index.profiles.get(id) else {
            continue;
        };
        for group in store.groups.values().filter(watches) {
            let followed = pipeline.group_modify(profile.profile, group.group_id, &shares(links, group));
            debug_assert!(followed.is_ok(), "its members exist: {followed:?}");
        }
    }
    for table in forwarding.index.tables.values() {
        let profile = table.profile.and_then(|id| forwarding.index.profiles.get(&id));
        let (Some(profile), Some(store)) = (profile, forwarding.tables.get(&table.id)) else {
            continue;
        };
        for stored in store.iter() {
            let action = stored.entry.action.as_ref().and_then(|action| action.r#type.as_ref());
            let (Some(ActionKind::ActionProfileActionSet(set)), Some(made)) = (action, &stored.one_shot) else {
                continue;
            };
            if set
                .action_profile_actions
                .iter()
                .any(|choice| of_choice(choice).is_some())
            {
                let shares = one_shot::shares(links, set, &made.members);
                let followed = pipeline.group_modify(profile.profile, made.group, &shares);
                debug_assert!(followed.is_ok(), "its members exist: {followed:?}");
            }
        }
    }
    replication::follow(forwarding, pipeline);
}
