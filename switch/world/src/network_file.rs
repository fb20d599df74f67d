//! The JSON file of a network, as written by `mininet-topos/`, and its checks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::Ipv4Addr;

use p4sched_proto::constants::RECIRCULATION_PORT_V1MODEL;
use p4sched_traffic_manager::Port;
use serde::Deserialize;

use crate::topology::{Cable, Node, Topology, TopologyError};

/// Number of a switch's ports that can have a link. The next one paces recirculation, and 511 means drop.
const MOST_PORTS: Port = RECIRCULATION_PORT_V1MODEL;
/// Default uplink of a host, in bit/s. It is never a bottleneck.
const UPLINK_BPS: u64 = 100_000_000_000;

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Mac, String> {
        let wrong = || format!("'{text}' is not a MAC address, for example 02:00:00:00:01:01");
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

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchPlace {
    pub name: String,
    /// Device id in P4Runtime.
    pub device_id: u64,
    /// The port of the controller, if it has one.
    pub cpu_port: Option<Port>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPlace {
    pub name: String,
    /// The MAC address of its interface.
    pub mac: Mac,
    pub address: Ipv4Addr,
    /// Further addresses, one for each user of the host.
    #[serde(default)]
    pub users: Vec<Ipv4Addr>,
    /// Address of the gateway.
    pub gateway: Ipv4Addr,
    /// MAC address of the gateway, the destination of all frames from the host.
    pub gateway_mac: Mac,
    /// The switch that it is attached to.
    pub switch: String,
    pub port: Port,
    /// Rate at which the host sends, in bit/s.
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
    pub switch: String,
    pub port: Port,
}

/// A link between switches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub ends: [End; 2],
}

/// The network of a JSON file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    pub switches: Vec<SwitchPlace>,
    pub hosts: Vec<HostPlace>,
    /// Links between switches.
    #[serde(default)]
    pub links: Vec<Link>,
}

impl NetworkFile {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If the text is not a valid network file, or describes an invalid network.
    pub fn parse(text: &str) -> Result<NetworkFile, TopologyError> {
        let reader = &mut serde_json::Deserializer::from_str(text);
        let file: NetworkFile =
            serde_path_to_error::deserialize(&mut *reader).map_err(|error| TopologyError(error.to_string()))?;
        reader.end().map_err(|error| TopologyError(error.to_string()))?;
        file.topology()?;
        Ok(file)
    }

    /// The network. The links of the hosts come first, then those between switches, in the order of the file. A host's
    /// link has the rate of its uplink. The file has no rates for links between switches, so they have the default rate
    /// of uplinks.
    ///
    /// # Errors
    /// If a name, address or identifier is used twice, a port has two links or is out of range, a link goes to an
    /// unknown switch or from a switch to itself, or a switch cannot be reached.
    pub fn topology(&self) -> Result<Topology, TopologyError> {
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
            return wrong(format!("host {}: uplink_bps is 0; it must be above 0", host.name));
        }
        let mut topology = Topology::default();
        let mut ends = SwitchPorts::default();
        for switch in &self.switches {
            ends.switches
                .insert(&switch.name, (topology.switch(switch.name.clone()), switch.cpu_port));
        }
        for host in &self.hosts {
            // The addresses of the host's users begin with 1.
            let [a, b, c, _] = host.address.octets();
            let node = topology.host(host.name.clone(), [a, b, c, 1]);
            let end = ends.take(&host.switch, host.port)?;
            topology.link((node, 0), end, cable(host.uplink_bps));
        }
        for Link { ends: [one, other] } in &self.links {
            if one.switch == other.switch {
                return wrong(format!(
                    "switch {}: the link of port {} leads to port {} of the same switch: what it sends there comes back for ever",
                    one.switch, one.port, other.port
                ));
            }
            let (near, far) = (ends.take(&one.switch, one.port)?, ends.take(&other.switch, other.port)?);
            topology.link(near, far, cable(UPLINK_BPS));
        }
        all_reached(&topology)?;
        Ok(topology)
    }
}

/// A link without delay.
fn cable(rate_bps: u64) -> Cable {
    Cable { rate_bps, delay_ns: 0 }
}

/// Ports of switches. Each can have one link.
#[derive(Default)]
struct SwitchPorts<'a> {
    /// Indexed by name: the switch, and the port of its controller.
    switches: HashMap<&'a str, (Node, Option<Port>)>,
    taken: BTreeSet<(&'a str, Port)>,
}

impl<'a> SwitchPorts<'a> {
    fn take(&mut self, switch: &'a str, port: Port) -> Result<(Node, Port), TopologyError> {
        let wrong = |problem: String| Err(TopologyError(problem));
        let Some(&(node, cpu_port)) = self.switches.get(switch) else {
            return wrong(format!("there is no switch '{switch}'"));
        };
        if port >= MOST_PORTS || cpu_port == Some(port) {
            return wrong(format!(
                "switch {switch}: port {port} can have no link: ports are 0 to {}, without the CPU port",
                MOST_PORTS - 1
            ));
        }
        if !self.taken.insert((switch, port)) {
            return wrong(format!("switch {switch}: port {port} has two links"));
        }
        Ok((node, port))
    }
}

/// Checks that every switch can be reached from the switch of the first host; without hosts, from the first switch.
fn all_reached(topology: &Topology) -> Result<(), TopologyError> {
    let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut first = None;
    for wire in &topology.wires {
        match (wire.from, wire.to) {
            (Node::Switch(from), Node::Switch(to)) => next.entry(from).or_default().push(to),
            (Node::Host(_), Node::Switch(to)) => first = first.or(Some(to)),
            _ => {}
        }
    }
    let first = first.unwrap_or(0);
    let mut waiting = vec![first];
    let mut reached = BTreeSet::new();
    while let Some(switch) = waiting.pop() {
        if reached.insert(switch) {
            waiting.extend(next.get(&switch).into_iter().flatten());
        }
    }
    match (0..topology.switches.len() as u32).find(|switch| !reached.contains(switch)) {
        None => Ok(()),
        Some(cut_off) => Err(TopologyError(format!(
            "switch {} has no way to switch {}: the network is in two parts",
            topology.switches[cut_off as usize], topology.switches[first as usize]
        ))),
    }
}

impl HostPlace {
    /// All addresses of the host, its own first.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        std::iter::once(self.address).chain(self.users.iter().copied())
    }
}

fn once<T: Ord + std::fmt::Display>(what: &str, values: impl Iterator<Item = T>) -> Result<(), TopologyError> {
    let mut seen = BTreeSet::new();
    for value in values {
        if seen.contains(&value) {
            return Err(TopologyError(format!("two nodes have the {what} {value}")));
        }
        seen.insert(value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = r#"{"name": "u1", "mac": "02:00:00:00:01:01", "address": "10.1.1.250", "users": ["10.1.1.1"],
        "gateway": "10.1.1.254", "gateway_mac": "02:00:00:00:00:fe", "switch": "s1", "port": 1}"#;

    fn problem(switches: &str, hosts: &str, links: &str) -> String {
        let text = format!(r#"{{"switches": [{switches}], "hosts": [{hosts}], "links": [{links}]}}"#);
        NetworkFile::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_dumbbell_of_two_switches_is_wired_both_ways() {
        let text = format!(
            r#"{{"switches": [{{"name": "s1", "device_id": 1, "cpu_port": 509}}, {{"name": "s2", "device_id": 2}}],
                "hosts": [{HOST}],
                "links": [{{"ends": [{{"switch": "s1", "port": 3}}, {{"switch": "s2", "port": 1}}]}}]}}"#
        );
        let file = NetworkFile::parse(&text).unwrap();
        assert_eq!(file.hosts[0].mac, Mac([2, 0, 0, 0, 1, 1]));
        let topology = file.topology().unwrap();
        assert_eq!(topology.wires[0].cable.rate_bps, 100_000_000_000);
        let wires = topology.wires.iter();
        let ends: Vec<_> = wires
            .map(|wire| (wire.from, wire.from_port, wire.to, wire.to_port))
            .collect();
        let (u1, s1, s2) = (Node::Host(0), Node::Switch(0), Node::Switch(1));
        assert_eq!(ends, [(u1, 0, s1, 1), (s1, 1, u1, 0), (s1, 3, s2, 1), (s2, 1, s1, 3)]);
    }

    #[test]
    fn what_is_no_network_is_refused_in_a_sentence() {
        let s1 = r#"{"name": "s1", "device_id": 1}"#;
        let s2 = r#"{"name": "s2", "device_id": 2}"#;
        let link = |one: &str, other: &str| format!(r#"{{"ends": [{one}, {other}]}}"#);
        let end = |switch: &str, port: u16| format!(r#"{{"switch": "{switch}", "port": {port}}}"#);
        assert_eq!(problem("", "", ""), "there is no switch");
        assert_eq!(problem(&format!("{s1}, {s1}"), "", ""), "two nodes have the name s1");
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
            "two nodes have the address 10.1.1.250"
        );
        let unknown = HOST.replace("gateway_mac", "router");
        assert!(problem(s1, &unknown, "").starts_with("hosts[0].router: unknown field `router`"));
        let more = NetworkFile::parse(r#"{"switches": [], "hosts": []} {}"#).unwrap_err();
        assert!(more.to_string().starts_with("trailing characters"), "{more}");
        assert!(problem(s1, &HOST.replace("02:00", "2:00"), "").contains("is not a MAC address"));
        let silent = HOST.replace("\"port\": 1", "\"port\": 1, \"uplink_bps\": 0");
        assert!(problem(s1, &silent, "").starts_with("host u1: uplink_bps is 0"));
        assert!(problem(s1, &HOST.replace("\"port\": 1", "\"port\": 511"), "").contains("port 511 can have no link"));
    }
}
