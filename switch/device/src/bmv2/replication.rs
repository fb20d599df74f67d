//! Multicast: groups, nodes and LAGs, on top of P4Runtime's groups.

use std::collections::BTreeMap;

use p4sched_dataplane::Port;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::replica::PortKind;

use super::{Node, Refusal, ReplicationCode, Runtime};

/// The largest group number: v1model uses 16 bits. Group 0 means no copies.
const LAST_GROUP: i32 = 0xffff;

fn no_group(group: i32) -> Refusal {
    ReplicationCode::InvalidMgrpHandle.because(format!("no multicast group {group}"))
}

impl Runtime<'_> {
    /// Creates a group without nodes; an existing group stays unchanged.
    pub fn create_multicast_group(&mut self, group: i32) -> Result<(), Refusal> {
        let id = u32::try_from(group).ok().filter(|_| (1..=LAST_GROUP).contains(&group));
        let id = id.ok_or_else(|| {
            ReplicationCode::InvalidMgid.because(format!("multicast group {group}; groups are 1 to {LAST_GROUP}"))
        })?;
        if !self.forwarding.multicast.contains_key(&id) {
            self.refresh(id);
        }
        Ok(())
    }

    /// Removes a group; its nodes stay, without a group.
    pub fn destroy_multicast_group(&mut self, group: i32) -> Result<(), Refusal> {
        let id = self.known_group(group)?;
        for handle in self.forwarding.nodes.of_group(id).to_vec() {
            self.forwarding.nodes.associate(handle, None);
        }
        self.forwarding.multicast.remove(&id);
        self.pipeline.mcast_group_delete(id as u16);
        Ok(())
    }

    fn known_group(&self, group: i32) -> Result<u32, Refusal> {
        let id = u32::try_from(group).ok();
        let id = id.filter(|id| self.forwarding.multicast.contains_key(id));
        id.ok_or_else(|| no_group(group))
    }

    fn node(&mut self, handle: i32) -> Result<(u32, &mut Node), Refusal> {
        let id = u32::try_from(handle).unwrap_or(u32::MAX);
        let node = self.forwarding.nodes.nodes.get_mut(&id);
        let node = node.ok_or_else(|| ReplicationCode::InvalidL1Handle.because(format!("no node {handle}")))?;
        Ok((id, node))
    }

    /// Adds a node that belongs to no group, and returns its handle.
    pub fn create_node(&mut self, rid: i32, ports: Vec<Port>, lags: Vec<u16>) -> Result<u32, Refusal> {
        let rid = u16::try_from(rid);
        let rid = rid.map_err(|_| ReplicationCode::Error.because("an egress_rid has 16 bits"))?;
        Ok(self.forwarding.nodes.create(Node {
            rid,
            ports,
            lags,
            group: None,
        }))
    }

    /// Replaces the ports and LAGs of a node.
    pub fn update_node(&mut self, handle: i32, ports: Vec<Port>, lags: Vec<u16>) -> Result<(), Refusal> {
        let (_, node) = self.node(handle)?;
        (node.ports, node.lags) = (ports, lags);
        if let Some(group) = node.group {
            self.refresh(group);
        }
        Ok(())
    }

    /// Adds a node to a group.
    pub fn associate_node(&mut self, group: i32, handle: i32) -> Result<(), Refusal> {
        let (id, node) = self.node(handle)?;
        let belongs = node.group.is_some();
        let group = self.known_group(group)?;
        if belongs {
            return Err(ReplicationCode::Error.because(format!("node {handle} belongs to a group")));
        }
        self.forwarding.nodes.associate(id, Some(group));
        self.refresh(group);
        Ok(())
    }

    /// Removes a node from its group.
    pub fn dissociate_node(&mut self, group: i32, handle: i32) -> Result<(), Refusal> {
        let (id, node) = self.node(handle)?;
        let of = node.group;
        let group = self.known_group(group)?;
        if of != Some(group) {
            return Err(ReplicationCode::Error.because(format!("node {handle} is not one of group {group}")));
        }
        self.forwarding.nodes.associate(id, None);
        self.refresh(group);
        Ok(())
    }

    pub fn destroy_node(&mut self, handle: i32) -> Result<(), Refusal> {
        let (id, node) = self.node(handle)?;
        let group = node.group;
        self.forwarding.nodes.destroy(id);
        if let Some(group) = group {
            self.refresh(group);
        }
        Ok(())
    }

    pub fn set_lag(&mut self, lag: i16, ports: Vec<Port>) -> Result<(), Refusal> {
        let id = u16::try_from(lag).map_err(|_| ReplicationCode::Error.because(format!("LAG {lag}")))?;
        self.forwarding.nodes.lags.insert(id, ports);
        for group in self.forwarding.nodes.groups_of_lag(id) {
            self.refresh(group);
        }
        Ok(())
    }

    /// Updates a group from its nodes.
    fn refresh(&mut self, group: u32) {
        let copies = self.forwarding.nodes.replicas(group);
        let replicas = copies.iter().map(|&(port, rid)| p4rt::Replica {
            port_kind: Some(PortKind::Port(crate::bytestring::canonical(&port.to_be_bytes()))),
            instance: u32::from(rid),
            ..p4rt::Replica::default()
        });
        let entry = p4rt::MulticastGroupEntry {
            multicast_group_id: group,
            replicas: replicas.collect(),
            ..p4rt::MulticastGroupEntry::default()
        };
        self.forwarding.multicast.insert(group, entry);
        self.pipeline.mcast_group_set(group as u16, copies);
    }

    /// All groups, with the handles of their nodes.
    pub fn multicast_groups(&self) -> Vec<(u32, Vec<u32>)> {
        let groups = self.forwarding.multicast.keys();
        groups
            .map(|&group| (group, self.forwarding.nodes.of_group(group).to_vec()))
            .collect()
    }

    /// All nodes by handle.
    pub fn nodes(&self) -> &BTreeMap<u32, Node> {
        &self.forwarding.nodes.nodes
    }

    /// The ports of all LAGs.
    pub fn lags(&self) -> &BTreeMap<u16, Vec<Port>> {
        &self.forwarding.nodes.lags
    }
}
