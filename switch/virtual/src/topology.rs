//! What is connected to what: the JSON description of a network, and what can be wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::Path;

use p4sched_dataplane::Port;
use serde::Deserialize;
use thiserror::Error;

/// Ports of a switch that a link can have: 510 paces recirculation, 511 means drop.
const MOST_PORTS: Port = 510;
/// Uplink of a host unless told otherwise, in bit/s: never a bottleneck.
const UPLINK_BPS: u64 = 100_000_000_000;

/// A description that is no network; the message says where and why.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct TopologyError(String);

/// Six bytes of an Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Mac, String> {
        let wrong = || format!("'{text}' is no MAC address, for example 02:00:00:00:01:01");
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_some() {
            Err(wrong())
        } else {
            Ok(Mac(bytes))
        }
    }
}

/// One switch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Its identifier for P4Runtime.
    pub device_id: u64,
    /// The port of the controller, if it has one.
    pub cpu_port: Option<Port>,
}

/// One host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPlace {
    /// Its name.
    pub name: String,
    /// Of its interface.
    pub mac: Mac,
    /// Its own address.
    pub address: Ipv4Addr,
    /// Further addresses, one for each of its users.
    #[serde(default)]
    pub users: Vec<Ipv4Addr>,
    /// Address of the gateway.
    pub gateway: Ipv4Addr,
    /// Where it sends all frames to.
    pub gateway_mac: Mac,
    /// The switch that it is attached to.
    pub switch: String,
    /// The port there.
    pub port: Port,
    /// Rate at which it sends, in bit/s.
    #[serde(default = "uplink_bps")]
    pub uplink_bps: u64,
}

fn uplink_bps() -> u64 {
    UPLINK_BPS
}

/// One end of a link between switches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The switch.
    pub switch: String,
    /// Its port.
    pub port: Port,
}

/// A link between switches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Both ends.
    pub ends: [End; 2],
}

/// A network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// All switches.
    pub switches: Vec<Switch>,
    /// All hosts.
    pub hosts: Vec<HostPlace>,
    /// Links between switches.
    #[serde(default)]
    pub links: Vec<Link>,
}

/// What is at the other end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A host, by its place in the list.
    Host(usize),
    /// A port of a switch, by its place in the list.
    Switch(usize, Port),
}

impl Topology {
    /// Reads a description from a file.
    ///
    /// # Errors
    /// If it cannot be read, is no description, or describes no network.
    pub fn read(path: &Path) -> Result<Topology, TopologyError> {
        let at = |problem: &dyn std::fmt::Display| TopologyError(format!("{}: {problem}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| at(&error))?;
        Topology::parse(&text).map_err(|error| at(&error))
    }

    /// Reads a description.
    ///
    /// # Errors
    /// If it is no description, or describes no network.
    pub fn parse(text: &str) -> Result<Topology, TopologyError> {
        let reader = &mut serde_json::Deserializer::from_str(text);
        let topology: Topology =
            serde_path_to_error::deserialize(reader).map_err(|error| TopologyError(error.to_string()))?;
        topology.wiring()?;
        Ok(topology)
    }

    /// Who is at the other end of each port, for each switch.
    ///
    /// # Errors
    /// A name, address or identifier that two have; a port with two links or out of range; a link to nowhere or from a switch
    /// to itself; a switch that no host reaches.
    pub fn wiring(&self) -> Result<Vec<BTreeMap<Port, Peer>>, TopologyError> {
        let wrong = |problem: String| Err(TopologyError(problem));
        if self.switches.is_empty() {
            return wrong("there is no switch".into());
        }
        let names = self.switches.iter().map(|switch| &switch.name);
        once("name", names.chain(self.hosts.iter().map(|host| &host.name)))?;
        once("device_id", self.switches.iter().map(|switch| switch.device_id))?;
        once("mac", self.hosts.iter().map(|host| format!("{:02x?}", host.mac.0)))?;
        once("address", self.hosts.iter().flat_map(HostPlace::addresses))?;
        if let Some(host) = self.hosts.iter().find(|host| host.uplink_bps == 0) {
            return wrong(format!("host {}: uplink_bps is 0: it could never send", host.name));
        }
        let mut wiring = vec![BTreeMap::new(); self.switches.len()];
        for (place, host) in self.hosts.iter().enumerate() {
            let (switch, port) = self.end(&host.switch, host.port)?;
            connect(&mut wiring[switch], &host.switch, port, Peer::Host(place))?;
        }
        for Link { ends: [one, other] } in &self.links {
            let (near, far) = (self.end(&one.switch, one.port)?, self.end(&other.switch, other.port)?);
            if near.0 == far.0 {
                return wrong(format!(
                    "switch {}: the link of port {} leads to port {} of the same switch: what it sends there comes back for ever",
                    one.switch, near.1, far.1
                ));
            }
            connect(&mut wiring[near.0], &one.switch, near.1, Peer::Switch(far.0, far.1))?;
            connect(&mut wiring[far.0], &other.switch, far.1, Peer::Switch(near.0, near.1))?;
        }
        self.all_reached(&wiring)?;
        Ok(wiring)
    }

    fn end(&self, name: &str, port: Port) -> Result<(usize, Port), TopologyError> {
        let Some(place) = self.switches.iter().position(|switch| switch.name == name) else {
            return Err(TopologyError(format!("there is no switch '{name}'")));
        };
        if port >= MOST_PORTS || self.switches[place].cpu_port == Some(port) {
            return Err(TopologyError(format!(
                "switch {name}: port {port} can have no link: ports are 0 to {}, without the CPU port",
                MOST_PORTS - 1
            )));
        }
        Ok((place, port))
    }

    /// From the first host, or without any from the first switch, every switch can be reached.
    fn all_reached(&self, wiring: &[BTreeMap<Port, Peer>]) -> Result<(), TopologyError> {
        let first = self
            .hosts
            .first()
            .and_then(|host| self.end(&host.switch, host.port).ok());
        let mut waiting = vec![first.map_or(0, |end| end.0)];
        let mut reached = BTreeSet::new();
        while let Some(place) = waiting.pop() {
            if reached.insert(place) {
                waiting.extend(wiring[place].values().filter_map(|peer| match peer {
                    Peer::Switch(far, _) => Some(*far),
                    Peer::Host(_) => None,
                }));
            }
        }
        match (0..self.switches.len()).find(|place| !reached.contains(place)) {
            None => Ok(()),
            Some(place) => Err(TopologyError(format!(
                "switch {} has no way to switch {}: the network is in two parts",
                self.switches[place].name,
                self.switches[first.map_or(0, |end| end.0)].name
            ))),
        }
    }
}

impl HostPlace {
    /// All of its addresses, its own first.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        std::iter::once(self.address).chain(self.users.iter().copied())
    }
}

fn once<T: Ord + std::fmt::Display>(what: &str, values: impl Iterator<Item = T>) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for value in values {
        if seen.contains(&value) {
            return Err(TopologyError(format!("two have the {what} {value}")));
        }
        seen.insert(value);
    }
    Ok(())
}

fn connect(ports: &mut BTreeMap<Port, Peer>, switch: &str, port: Port, peer: Peer) -> Result<(), TopologyError> {
    match ports.insert(port, peer) {
        None => Ok(()),
        Some(_) => Err(TopologyError(format!("switch {switch}: port {port} has two links"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = r#"{"name": "u1", "mac": "02:00:00:00:01:01", "address": "10.1.1.250", "users": ["10.1.1.1"],
        "gateway": "10.1.1.254", "gateway_mac": "02:00:00:00:00:fe", "switch": "s1", "port": 1}"#;

    fn problem(switches: &str, hosts: &str, links: &str) -> String {
        let text = format!(r#"{{"switches": [{switches}], "hosts": [{hosts}], "links": [{links}]}}"#);
        Topology::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_dumbbell_of_two_switches_is_wired_both_ways() {
        let text = format!(
            r#"{{"switches": [{{"name": "s1", "device_id": 1, "cpu_port": 509}}, {{"name": "s2", "device_id": 2}}],
                "hosts": [{HOST}],
                "links": [{{"ends": [{{"switch": "s1", "port": 3}}, {{"switch": "s2", "port": 1}}]}}]}}"#
        );
        let topology = Topology::parse(&text).unwrap();
        assert_eq!(topology.hosts[0].mac, Mac([2, 0, 0, 0, 1, 1]));
        assert_eq!(topology.hosts[0].uplink_bps, 100_000_000_000);
        let wiring = topology.wiring().unwrap();
        assert_eq!(wiring[0][&1], Peer::Host(0));
        assert_eq!((wiring[0][&3], wiring[1][&1]), (Peer::Switch(1, 1), Peer::Switch(0, 3)));
    }

    #[test]
    fn what_is_no_network_is_refused_in_a_sentence() {
        let s1 = r#"{"name": "s1", "device_id": 1}"#;
        let s2 = r#"{"name": "s2", "device_id": 2}"#;
        let link = |one: &str, other: &str| format!(r#"{{"ends": [{one}, {other}]}}"#);
        let end = |switch: &str, port: u16| format!(r#"{{"switch": "{switch}", "port": {port}}}"#);
        assert_eq!(problem("", "", ""), "there is no switch");
        assert_eq!(problem(&format!("{s1}, {s1}"), "", ""), "two have the name s1");
        assert_eq!(
            problem(&format!("{s1}, {s2}"), HOST, ""),
            "switch s2 has no way to switch s1: the network is in two parts"
        );
        let to_itself = link(&end("s1", 2), &end("s1", 3));
        assert!(problem(s1, HOST, &to_itself).starts_with("switch s1: the link of port 2 leads to port 3 of the same"));
        let twice = link(&end("s1", 1), &end("s2", 1));
        assert_eq!(
            problem(&format!("{s1}, {s2}"), HOST, &twice),
            "switch s1: port 1 has two links"
        );
        assert_eq!(problem(s2, HOST, ""), "there is no switch 's1'");
        let crowded = HOST
            .replace("u1", "u2")
            .replace(":01\"", ":02\"")
            .replace("\"port\": 1", "\"port\": 2");
        assert_eq!(
            problem(s1, &format!("{HOST}, {crowded}"), ""),
            "two have the address 10.1.1.250"
        );
        let unknown = HOST.replace("gateway_mac", "router");
        assert!(problem(s1, &unknown, "").starts_with("hosts[0].router: unknown field `router`"));
        assert!(problem(s1, &HOST.replace("02:00", "2:00"), "").contains("is no MAC address"));
        let silent = HOST.replace("\"port\": 1", "\"port\": 1, \"uplink_bps\": 0");
        assert!(problem(s1, &silent, "").starts_with("host u1: uplink_bps is 0"));
        assert!(problem(s1, &HOST.replace("\"port\": 1", "\"port\": 511"), "").contains("port 511 can have no link"));
    }
}
