//! Multicast nodes: an `egress_rid`, ports, and link aggregation groups (LAGs). Of each LAG, one port gets a copy.

use std::collections::BTreeMap;

use p4sched_dataplane::Port;

/// The hash with which BMv2 chooses the port of a LAG; it is the same for every packet.
const LAG_HASH: usize = 0xff;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The `egress_rid` of its copies.
    pub rid: u16,
    /// Each of these ports gets a copy.
    pub ports: Vec<Port>,
    /// Each of these LAGs gets one copy.
    pub lags: Vec<u16>,
    pub group: Option<u32>,
}

/// All nodes and all LAGs.
#[derive(Debug, Clone, Default)]
pub struct Nodes {
    /// Indexed by handle.
    pub nodes: BTreeMap<u32, Node>,
    pub lags: BTreeMap<u16, Vec<Port>>,
    /// Handles of the nodes of a group, in the order in which they were associated.
    order: BTreeMap<u32, Vec<u32>>,
}

impl Nodes {
    /// Adds a node and returns its handle, the smallest free one.
    pub fn create(&mut self, node: Node) -> u32 {
        let handle = (0..)
            .find(|handle| !self.nodes.contains_key(handle))
            .unwrap_or(u32::MAX);
        self.nodes.insert(handle, node);
        handle
    }

    /// The handles of a group's nodes.
    pub fn of_group(&self, group: u32) -> &[u32] {
        self.order.get(&group).map_or(&[], Vec::as_slice)
    }

    /// Moves a node into this group, or out of its group.
    pub fn associate(&mut self, handle: u32, group: Option<u32>) {
        let Some(node) = self.nodes.get_mut(&handle) else {
            return;
        };
        if let Some(handles) = node.group.and_then(|old| self.order.get_mut(&old)) {
            handles.retain(|&other| other != handle);
        }
        node.group = group;
        if let Some(group) = group {
            self.order.entry(group).or_default().push(handle);
        }
    }

    pub fn destroy(&mut self, handle: u32) {
        self.associate(handle, None);
        self.nodes.remove(&handle);
    }

    /// Replaces a group's nodes after a write over P4Runtime: one node for each instance.
    pub fn follow(&mut self, group: u32, replicas: &[(Port, u16)]) {
        for handle in self.order.remove(&group).unwrap_or_default() {
            self.nodes.remove(&handle);
        }
        let mut nodes: Vec<Node> = Vec::new();
        for &(port, rid) in replicas {
            match nodes.iter_mut().find(|node| node.rid == rid) {
                Some(node) => node.ports.push(port),
                None => nodes.push(Node {
                    rid,
                    ports: vec![port],
                    ..Node::default()
                }),
            }
        }
        for node in nodes {
            let handle = self.create(node);
            self.associate(handle, Some(group));
        }
    }

    /// The port and `egress_rid` of each copy of a group, in BMv2's order.
    pub fn replicas(&self, group: u32) -> Vec<(Port, u16)> {
        let nodes = self.of_group(group).iter().filter_map(|handle| self.nodes.get(handle));
        let copies = nodes.flat_map(|node| {
            let chosen = node.lags.iter().filter_map(|lag| {
                let ports = self.lags.get(lag).filter(|ports| !ports.is_empty())?;
                Some(ports[LAG_HASH % ports.len()])
            });
            node.ports.iter().copied().chain(chosen).map(|port| (port, node.rid))
        });
        copies.collect()
    }

    /// The groups with a node that has this LAG.
    pub fn groups_of_lag(&self, lag: u16) -> Vec<u32> {
        let nodes = self.nodes.values().filter(|node| node.lags.contains(&lag));
        let mut groups: Vec<u32> = nodes.filter_map(|node| node.group).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lag_gets_one_copy() {
        let mut nodes = Nodes::default();
        nodes.lags.insert(3, vec![4, 5]);
        let node = nodes.create(Node {
            rid: 7,
            ports: vec![1, 2],
            lags: vec![3, 9],
            group: None,
        });
        nodes.associate(node, Some(1));
        // The hash 255 is odd, so it chooses the second of two ports. LAG 9 has no ports.
        assert_eq!(nodes.replicas(1), [(1, 7), (2, 7), (5, 7)]);
        assert_eq!(nodes.groups_of_lag(3), [1]);
        nodes.destroy(node);
        assert!(nodes.replicas(1).is_empty());
    }

    #[test]
    fn replicas_become_a_node_for_each_instance() {
        let mut nodes = Nodes::default();
        nodes.follow(5, &[(1, 0), (2, 1), (3, 0)]);
        assert_eq!(nodes.of_group(5), [0, 1]);
        assert_eq!(nodes.nodes[&0].ports, [1, 3]);
        nodes.follow(5, &[(9, 4)]);
        assert_eq!(nodes.replicas(5), [(9, 4)]);
        assert_eq!(nodes.nodes.len(), 1);
    }
}
