//! The topology of a scenario from a network file ([`NetworkFile`]), with its own rates and delays of links.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::network_file::NetworkFile;
use crate::topology::{Cable, Topology, TopologyError};

/// The path of a network file, and the rates and delays of its links.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabFile {
    /// Path relative to the folder of the scenario.
    path: PathBuf,
    /// Links of the hosts.
    access: Cable,
    /// Links of single hosts, by name, that replace `access`.
    #[serde(default)]
    hosts: BTreeMap<String, Cable>,
    /// Links between switches.
    fabric: Option<Cable>,
}

impl LabFile {
    /// The network. `folder` is the folder of the scenario; `read` reads the file. Links of hosts come before links
    /// between switches, as in the file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a network.
    pub fn topology(
        &self,
        folder: &Path,
        read: impl FnOnce(&Path) -> io::Result<String>,
    ) -> Result<Topology, TopologyError> {
        let path = folder.join(&self.path);
        let text = read(&path).map_err(|error| TopologyError(error.to_string()));
        text.and_then(|text| self.cabled(&NetworkFile::parse(&text)?))
            .map_err(|TopologyError(problem)| TopologyError(format!("{}: {problem}", path.display())))
    }

    fn cabled(&self, file: &NetworkFile) -> Result<Topology, TopologyError> {
        let wrong = |problem: String| Err(TopologyError(problem));
        let unknown = |name: &&String| file.hosts.iter().all(|host| host.name != **name);
        if let Some(name) = self.hosts.keys().find(unknown) {
            return wrong(format!("the network has no host '{name}' whose link could change"));
        }
        let access = (file.hosts.iter()).map(|host| *self.hosts.get(&host.name).unwrap_or(&self.access));
        let mut cables: Vec<Cable> = access.collect();
        match self.fabric {
            Some(fabric) => cables.extend(file.links.iter().map(|_| fabric)),
            None if file.links.is_empty() => {}
            None => return wrong("it has links between switches, so there must be a `fabric`".into()),
        }
        let mut topology = file.topology()?;
        for (link, cable) in topology.wires.chunks_mut(2).zip(cables) {
            link.iter_mut().for_each(|wire| wire.cable = cable);
        }
        Ok(topology)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Node;

    fn read(text: &str, asked: &str) -> Result<Topology, TopologyError> {
        let file: LabFile = serde_json::from_str(asked).unwrap();
        let topology = file.topology(Path::new("folder"), |path| {
            let known = path == Path::new("folder/net.json");
            known.then(|| text.to_owned()).ok_or(io::ErrorKind::NotFound.into())
        })?;
        topology.check()?;
        Ok(topology)
    }

    const ASKED: &str = r#"{"path": "net.json", "access": {"rate_bps": 10}, "hosts": {"b": {"rate_bps": 5}}, "fabric": {"rate_bps": 20}}"#;

    fn network(links: &str) -> String {
        let host = |name: &str, address: &str, number: u8| {
            format!(
                r#"{{"name": "{name}", "mac": "02:00:00:00:01:0{number}", "address": "{address}", "gateway": "10.0.0.254",
                    "gateway_mac": "02:00:00:00:00:fe", "switch": "s{number}", "port": 1}}"#
            )
        };
        let hosts = [host("a", "10.1.1.250", 1), host("b", "10.2.0.1", 2)].join(",");
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
        let nowhere = LINK.replace("s2", "s9");
        assert!(refused(&network(&nowhere), ASKED).ends_with("there is no switch 's9'"));
        let without = r#"{"path": "net.json", "access": {"rate_bps": 10}}"#;
        assert!(refused(&network(LINK), without).ends_with("so there must be a `fabric`"));
        let unknown = ASKED.replace("\"b\"", "\"c\"");
        assert!(refused(&network(LINK), &unknown).ends_with("the network has no host 'c' whose link could change"));
        assert!(refused(&network(""), ASKED).ends_with("the network is in two parts"));
        let gone = ASKED.replace("net.json", "gone.json");
        assert!(refused(&network(LINK), &gone).ends_with("gone.json: entity not found"));
    }
}
