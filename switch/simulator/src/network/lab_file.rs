//! The file that describes a network of the lab, as `p4sched-virtual` reads it. What the lab alone needs is not looked at.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::topology::{Cable, Topology, TopologyError};

/// Names a file, and what its links carry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabFile {
    /// Found from where the scenario is.
    path: PathBuf,
    /// Links of the hosts.
    access: Cable,
    /// Links of these hosts instead, by name.
    #[serde(default)]
    hosts: BTreeMap<String, Cable>,
    /// Links between switches.
    fabric: Option<Cable>,
}

#[derive(Deserialize)]
struct Network {
    switches: Vec<Switch>,
    hosts: Vec<Host>,
    #[serde(default)]
    links: Vec<Link>,
}

#[derive(Deserialize)]
struct Switch {
    name: String,
}

#[derive(Deserialize)]
struct Host {
    name: String,
    address: Ipv4Addr,
    switch: String,
    port: u16,
}

#[derive(Deserialize)]
struct Link {
    ends: [End; 2],
}

#[derive(Deserialize)]
struct End {
    switch: String,
    port: u16,
}

impl LabFile {
    /// The network. `folder`: where the scenario is. The links of a host come before those between switches, as the file has them.
    ///
    /// # Errors
    /// If the file cannot be read, or is no network.
    pub fn topology(&self, folder: &Path) -> Result<Topology, TopologyError> {
        let path = folder.join(&self.path);
        let problem = |problem: String| TopologyError::File {
            file: path.clone(),
            problem,
        };
        let text = std::fs::read_to_string(&path).map_err(|error| problem(error.to_string()))?;
        let reader = &mut serde_json::Deserializer::from_str(&text);
        let network: Network = serde_path_to_error::deserialize(reader).map_err(|error| problem(error.to_string()))?;
        self.built(&network).map_err(|error| match error {
            Built::Problem(text) => problem(text),
            Built::Topology(error) => error,
        })
    }

    fn built(&self, network: &Network) -> Result<Topology, Built> {
        let mut topology = Topology::default();
        let mut switches = HashMap::new();
        for switch in &network.switches {
            let node = topology.switch(switch.name.clone());
            if switches.insert(&*switch.name, node).is_some() {
                return Err(TopologyError::SameName(switch.name.clone()).into());
            }
        }
        let mut used = HashSet::new();
        let mut end = |switch: &str, port: u16| {
            let Some(&node) = switches.get(switch) else {
                return Err(Built::Problem(format!("there is no switch '{switch}'")));
            };
            if used.insert((node, port)) {
                Ok((node, port))
            } else {
                Err(Built::Problem(format!("switch {switch}: port {port} has two links")))
            }
        };
        for Host {
            name,
            address,
            switch,
            port,
        } in &network.hosts
        {
            // The addresses of its users begin with 1.
            let [a, b, c, _] = address.octets();
            let host = topology.host(name.clone(), [a, b, c, 1]);
            let cable = self.hosts.get(name).unwrap_or(&self.access);
            topology.link((host, 0), end(switch, *port)?, *cable);
        }
        if let Some(name) = self
            .hosts
            .keys()
            .find(|name| network.hosts.iter().all(|host| host.name != **name))
        {
            return Err(Built::Problem(format!(
                "there is no host '{name}' whose link could be another one"
            )));
        }
        for Link { ends: [one, other] } in &network.links {
            let fabric = self
                .fabric
                .ok_or_else(|| Built::Problem("it has links between switches, so there must be a `fabric`".into()))?;
            topology.link(end(&one.switch, one.port)?, end(&other.switch, other.port)?, fabric);
        }
        Ok(topology)
    }
}

enum Built {
    Problem(String),
    Topology(TopologyError),
}

impl From<TopologyError> for Built {
    fn from(error: TopologyError) -> Built {
        Built::Topology(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::Node;
    use super::*;

    fn read(text: &str, asked: &str) -> Result<Topology, TopologyError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("net.json"), text).unwrap();
        let file: LabFile = serde_json::from_str(asked).unwrap();
        let topology = file.topology(folder.path())?;
        topology.check()?;
        Ok(topology)
    }

    const ASKED: &str = r#"{"path": "net.json", "access": {"rate_bps": 10}, "hosts": {"b": {"rate_bps": 5}}, "fabric": {"rate_bps": 20}}"#;

    fn network(links: &str) -> String {
        let host = |name: &str, address: &str, switch: &str| {
            format!(
                r#"{{"name": "{name}", "mac": "ignored", "address": "{address}", "switch": "{switch}", "port": 1}}"#
            )
        };
        let hosts = [host("a", "10.1.1.250", "s1"), host("b", "10.2.0.1", "s2")].join(",");
        format!(
            r#"{{"switches": [{{"name": "s1", "device_id": 1}}, {{"name": "s2", "device_id": 2}}], "hosts": [{hosts}], "links": [{links}]}}"#
        )
    }

    const LINK: &str = r#"{"ends": [{"switch": "s1", "port": 4}, {"switch": "s2", "port": 3}]}"#;

    #[test]
    fn ports_are_those_of_the_file_and_rates_those_of_the_scenario() {
        let topology = read(&network(LINK), ASKED).unwrap();
        let wires: Vec<_> = topology
            .wires
            .iter()
            .map(|wire| (wire.from, wire.from_port, wire.cable.rate_bps))
            .collect();
        let (s1, s2) = (Node::Switch(0), Node::Switch(1));
        assert_eq!(&wires[1..4], [(s1, 1, 10), (Node::Host(1), 0, 5), (s2, 1, 5)]);
        assert_eq!(&wires[4..], [(s1, 4, 20), (s2, 3, 20)]);
        assert_eq!(topology.hosts[0].address, [10, 1, 1, 1]);
    }

    #[test]
    fn what_is_no_network_is_named() {
        let refused = |text: &str, asked: &str| read(text, asked).unwrap_err().to_string();
        let twice = LINK.replace('4', "1");
        assert!(refused(&network(&twice), ASKED).ends_with("net.json: switch s1: port 1 has two links"));
        let to_itself = LINK.replace("s2", "s1");
        assert_eq!(
            refused(&network(&to_itself), ASKED),
            "link 2 is a loop: both of its ends are s1"
        );
        let nowhere = LINK.replace("s2", "s9");
        assert!(refused(&network(&nowhere), ASKED).ends_with("there is no switch 's9'"));
        let without = r#"{"path": "net.json", "access": {"rate_bps": 10}}"#;
        assert!(refused(&network(LINK), without).ends_with("so there must be a `fabric`"));
        let unknown = ASKED.replace("\"b\"", "\"c\"");
        assert!(refused(&network(LINK), &unknown).ends_with("there is no host 'c' whose link could be another one"));
        let gone = ASKED.replace("net.json", "gone.json");
        assert!(refused(&network(LINK), &gone).ends_with("gone.json: No such file or directory (os error 2)"));
    }
}
