//! The flows of a run: source, destination, bytes, start.

use std::collections::HashMap;

use p4sched_schedulers::{Nanos, Rank};
use p4sched_world::topology::Topology;
use rand::Rng;
use serde::Deserialize;

use crate::flow_sizes::{Distribution, FlowSizes, poisson_starts};
use crate::workload::seeded;

/// Largest scale of a user or flow: the programs have 16 bits for it.
const MAX_SCALE: f64 = 65_535.0;
/// Scale of the weight 1.
const UNIT_SCALE: f64 = 256.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    pub start_ns: Nanos,
    /// Number of the sending host.
    pub source: u32,
    /// Number of the receiving host.
    pub destination: u32,
    /// Bytes of payload.
    pub bytes: u64,
    /// Rank of its packets, if ranks come from flows.
    pub rank: Rank,
    /// User to whom its packets are charged.
    pub user: u32,
    /// 256 / weight.
    pub scale: u32,
    /// Index of its transport in the list of the run.
    pub transport: usize,
}

/// An error in a list of flows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("flows, {place}: {problem}")]
pub struct FlowError {
    place: String,
    problem: String,
}

/// Makes an error at this place of a list.
pub(super) fn wrong(place: impl Into<String>, problem: impl Into<String>) -> FlowError {
    FlowError {
        place: place.into(),
        problem: problem.into(),
    }
}

/// A host as a list names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HostName {
    /// Number of the flow, from 0.
    Number(u32),
    Name(String),
}

/// Hosts by number and name.
#[derive(Debug)]
pub struct Hosts<'a> {
    names: HashMap<&'a str, u32>,
    count: u32,
}

impl Hosts<'_> {
    pub fn new(topology: &Topology) -> Hosts<'_> {
        let names = topology.hosts.iter().map(|host| host.name.as_str());
        Hosts {
            names: names.zip(0..).collect(),
            count: topology.hosts.len() as u32,
        }
    }

    /// Numbers of the listed hosts; of all hosts if there is no list.
    fn all(&self, listed: Option<&[HostName]>) -> Result<Vec<u32>, FlowError> {
        match listed {
            None => Ok((0..self.count).collect()),
            Some(listed) => {
                let found = listed.iter().map(|host| self.find(host));
                found
                    .map(|host| host.map_err(|problem| wrong("poisson", problem)))
                    .collect()
            }
        }
    }

    /// Finds the number of a host.
    pub(super) fn find(&self, host: &HostName) -> Result<u32, String> {
        let last = self.count - 1;
        match host {
            HostName::Number(number) if *number <= last => Ok(*number),
            HostName::Number(number) => Err(format!("there is no host number {number}: hosts are 0 to {last}")),
            HostName::Name(name) => match self.names.get(name.as_str()) {
                Some(&number) => Ok(number),
                None => Err(format!("there is no host {name}")),
            },
        }
    }
}

/// A flow as a scenario lists it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    #[serde(default)]
    start_ns: Nanos,
    source: HostName,
    destination: HostName,
    bytes: u64,
    #[serde(default)]
    rank: Rank,
    user: Option<u32>,
    weight: Option<f64>,
    /// Name of its transport; by default the first one of the scenario.
    transport: Option<String>,
}

/// Flows from a list.
///
/// # Errors
/// If a host or transport is unknown, a flow is not valid, or the list is not in order of time.
pub fn from_list(listed: &[FlowSpec], hosts: &Hosts<'_>, transports: &[String]) -> Result<Vec<Flow>, FlowError> {
    let mut flows = Vec::with_capacity(listed.len());
    for (index, flow) in listed.iter().enumerate() {
        let place = || format!("flow {index}");
        let host = |name| hosts.find(name).map_err(|problem| wrong(place(), problem));
        let source = host(&flow.source)?;
        let transport = match &flow.transport {
            None => 0,
            Some(name) => transports.iter().position(|known| known == name).ok_or_else(|| {
                wrong(
                    place(),
                    format!("there is no transport {name}: {}", transports.join(", ")),
                )
            })?,
        };
        let scale = (UNIT_SCALE / flow.weight.unwrap_or(1.0)).round();
        if !(1.0..=MAX_SCALE).contains(&scale) {
            return Err(wrong(place(), "weight: it is 0.004 to 256"));
        }
        flows.push(Flow {
            start_ns: flow.start_ns,
            source,
            destination: host(&flow.destination)?,
            bytes: flow.bytes,
            rank: flow.rank,
            user: flow.user.unwrap_or(source + 1),
            scale: scale as u32,
            transport,
        });
    }
    check(&flows, |index| format!("flow {index}"))?;
    Ok(flows)
}

/// Flows from lines `start_ns,source,destination,bytes` below a header line with these words. Hosts are numbers or
/// names.
///
/// # Errors
/// Those of [`from_list`], or if a line has another form.
pub fn from_csv(text: &str, hosts: &Hosts<'_>) -> Result<Vec<Flow>, FlowError> {
    const HEAD: &str = "start_ns,source,destination,bytes";
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some(HEAD) {
        return Err(wrong("line 1", format!("it must be {HEAD}")));
    }
    let mut flows = Vec::new();
    for (index, line) in lines.enumerate() {
        let place = || format!("line {}", index + 2);
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[start, source, destination, bytes] = fields.as_slice() else {
            return Err(wrong(place(), format!("not {HEAD}")));
        };
        let number = |what: &str, text: &str| {
            let parsed = text.parse::<u64>();
            parsed.map_err(|_| wrong(place(), format!("{what} = {text} is not a number below 2^64")))
        };
        let host = |text: &str| {
            let name = match text.parse() {
                Ok(number) => HostName::Number(number),
                Err(_) => HostName::Name(text.to_owned()),
            };
            hosts.find(&name).map_err(|problem| wrong(place(), problem))
        };
        let source = host(source)?;
        flows.push(Flow {
            start_ns: number("start_ns", start)?,
            source,
            destination: host(destination)?,
            bytes: number("bytes", bytes)?,
            rank: 0,
            user: source + 1,
            scale: UNIT_SCALE as u32,
            transport: 0,
        });
    }
    check(&flows, |index| format!("line {}", index + 2))?;
    Ok(flows)
}

/// Sizes of flows: a distribution of the papers, or points of a distribution.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "sizes are web_search, data_mining, or a list of points [bytes, probability]"
)]
enum Sizes {
    Named(FlowSizes),
    Own(Vec<(f64, f64)>),
}

/// Random flows that offer a given load, between random hosts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Poisson {
    sizes: Sizes,
    /// Sizes are multiplied by this.
    #[serde(default = "unscaled")]
    scale: f64,
    /// Load that all flows together offer, as a share of `link_bps`, counted in frames.
    load: f64,
    link_bps: u64,
    /// The last flow starts before this time.
    duration_ns: Nanos,
    /// Sending hosts; by default all.
    sources: Option<Vec<HostName>>,
    /// Receiving hosts; by default all but the source.
    destinations: Option<Vec<HostName>>,
}

fn unscaled() -> f64 {
    1.0
}

/// Largest number of flows in a run.
const MAX_FLOWS: f64 = 1e7;
/// Number of the random stream that draws flows.
const FLOW_STREAM: u64 = 1;

impl Poisson {
    /// Draws the flows. `frame_share`: bytes of a full frame divided by the bytes of its payload.
    ///
    /// # Errors
    /// If a number or a distribution is not valid, there would be too many flows, or a host is unknown or has no destination.
    pub fn flows(&self, hosts: &Hosts<'_>, frame_share: f64, seed: u64) -> Result<Vec<Flow>, FlowError> {
        let refuse = |problem: &str| Err(wrong("poisson", problem));
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !positive(self.load) {
            return refuse("load: it is above 0");
        }
        let sizes = match &self.sizes {
            Sizes::Named(sizes) => sizes.distribution(),
            Sizes::Own(points) => {
                Distribution::new(points).map_err(|problem| wrong("poisson", format!("sizes: {problem}")))?
            }
        };
        if !(positive(self.scale) && self.link_bps > 0 && self.duration_ns > 0) {
            return refuse("scale, link_bps and duration_ns are above 0");
        }
        let duration_s = self.duration_ns as f64 / 1e9;
        let starts_per_s = self.load * self.link_bps as f64 / 8.0 / (sizes.mean() * self.scale * frame_share);
        if starts_per_s * duration_s > MAX_FLOWS {
            return Err(wrong(
                "poisson",
                format!("{:.3e} flows are too many", starts_per_s * duration_s),
            ));
        }
        let sources = hosts.all(self.sources.as_deref())?;
        let destinations = hosts.all(self.destinations.as_deref())?;
        if let (&[source], &[destination]) = (&*sources, &*destinations)
            && source == destination
        {
            return refuse("the only source is also the only destination");
        }
        if sources.is_empty() || destinations.is_empty() {
            return refuse("there is no source or no destination");
        }
        let mut random = seeded(seed);
        random.set_stream(FLOW_STREAM);
        let starts_s = poisson_starts(starts_per_s, duration_s, &mut random);
        let sizes = sizes.sample(starts_s.len(), self.scale, &mut random);
        let flows = starts_s.iter().zip(sizes).map(|(start_s, bytes)| {
            let (source, destination) = loop {
                let source = sources[random.random_range(0..sources.len())];
                let destination = destinations[random.random_range(0..destinations.len())];
                if source != destination {
                    break (source, destination);
                }
            };
            Flow {
                start_ns: (start_s * 1e9) as Nanos,
                source,
                destination,
                bytes,
                rank: 0,
                user: source + 1,
                scale: UNIT_SCALE as u32,
                transport: 0,
            }
        });
        Ok(flows.collect())
    }
}

/// Largest size and latest start of a flow.
const LARGEST: u64 = 1 << 62;

/// Checks the rules of every list.
fn check(flows: &[Flow], place: impl Fn(usize) -> String) -> Result<(), FlowError> {
    let mut before = 0;
    for (index, flow) in flows.iter().enumerate() {
        let problem = if flow.start_ns < before {
            "it starts before the one above it: sort the flows by start_ns"
        } else if flow.source == flow.destination {
            "source and destination are the same host"
        } else if flow.bytes == 0 {
            "bytes = 0: there is nothing to send"
        } else if flow.bytes > LARGEST || flow.start_ns > LARGEST {
            "bytes and start_ns are at most 2^62"
        } else {
            before = flow.start_ns;
            continue;
        };
        return Err(wrong(place(index), problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4sched_world::shapes::Shape;

    fn topology() -> Topology {
        let shape = r#"{"incast": {"senders": 2, "access": {"rate_bps": 1}, "bottleneck": {"rate_bps": 1}}}"#;
        serde_json::from_str::<Shape>(shape)
            .unwrap()
            .topology(std::path::Path::new(""), |_| unreachable!("no file"))
            .unwrap()
    }

    fn refused(lines: &str) -> String {
        let text = format!("start_ns,source,destination,bytes\n{lines}");
        from_csv(&text, &Hosts::new(&topology())).unwrap_err().to_string()
    }

    #[test]
    fn hosts_have_numbers_and_names() {
        let text = "start_ns,source,destination,bytes\n5,h1,receiver,7\n5,1,2,8\n";
        let flows = from_csv(text, &Hosts::new(&topology())).unwrap();
        let ends: Vec<_> = flows
            .iter()
            .map(|flow| (flow.source, flow.destination, flow.bytes))
            .collect();
        assert_eq!(ends, [(0, 2, 7), (1, 2, 8)]);
    }

    fn poisson(text: &str) -> Result<Vec<Flow>, FlowError> {
        let poisson: Poisson = serde_json::from_str(text).unwrap();
        poisson.flows(&Hosts::new(&topology()), 1514.0 / 1448.0, 1)
    }

    #[test]
    fn a_generator_offers_the_load_and_repeats_itself() {
        let text = r#"{"sizes": "web_search", "load": 0.6, "link_bps": 1000000000, "duration_ns": 100000000000,
                       "destinations": ["receiver"]}"#;
        let flows = poisson(text).unwrap();
        assert_eq!(poisson(text).unwrap(), flows);
        let bits = flows
            .iter()
            .map(|flow| flow.bytes as f64 * 8.0 * 1514.0 / 1448.0)
            .sum::<f64>();
        // About 4400 flows: the standard error of a Poisson number is 1.5 % of it.
        assert!(
            (bits / 100e9 / 0.6 - 1.0).abs() < 0.06,
            "{} flows, {bits} bits",
            flows.len()
        );
        assert!(flows.iter().all(|flow| flow.destination == 2 && flow.source < 2));
        assert!(flows.is_sorted_by_key(|flow| flow.start_ns));
    }

    #[test]
    fn a_generator_without_sense_is_refused() {
        let refused = |load: &str, ends: &str| {
            let text = format!(
                r#"{{"sizes": "data_mining", "load": {load}, "link_bps": 1000, "duration_ns": 1000000000{ends}}}"#
            );
            poisson(&text).unwrap_err().to_string()
        };
        assert_eq!(refused("0", ""), "flows, poisson: load: it is above 0");
        assert_eq!(
            refused("0.5", r#", "sources": ["h7"]"#),
            "flows, poisson: there is no host h7"
        );
        assert_eq!(
            refused("0.5", r#", "sources": [1], "destinations": ["h2"]"#),
            "flows, poisson: the only source is also the only destination"
        );
    }

    #[test]
    fn a_load_above_1_and_own_sizes_are_offered_as_they_are() {
        let offered = |sizes: &str, load: f64| {
            let text =
                format!(r#"{{"sizes": {sizes}, "load": {load}, "link_bps": 1000000000, "duration_ns": 10000000000}}"#);
            poisson(&text)
        };
        let flows = offered("[[1000, 0.5], [2000, 0.5], [3000, 1.0]]", 1.5).unwrap();
        let bits = flows
            .iter()
            .map(|flow| flow.bytes as f64 * 8.0 * 1514.0 / 1448.0)
            .sum::<f64>();
        assert!((bits / 10e9 / 1.5 - 1.0).abs() < 0.01, "{bits} bits");
        let small = flows.iter().filter(|flow| flow.bytes == 1000).count() as f64 / flows.len() as f64;
        assert!((small - 0.5).abs() < 0.001, "{small}");
        assert!(
            flows
                .iter()
                .all(|flow| flow.bytes == 1000 || (2000..=3000).contains(&flow.bytes))
        );
        for (sizes, says) in [
            ("[]", "sizes: there are no points"),
            ("[[1000, 0.5]]", "sizes: the last probability is 0.5, not 1"),
            ("[[1000, 0.5], [900, 1]]", "sizes: point 1 is below the one before it"),
            ("[[0, 1]]", "sizes: a size is at least 1 byte, and a probability 0 to 1"),
        ] {
            assert_eq!(
                offered(sizes, 0.5).unwrap_err().to_string(),
                format!("flows, poisson: {says}")
            );
        }
        let unknown =
            serde_json::from_str::<Poisson>(r#"{"sizes": "hadoop", "load": 1, "link_bps": 1, "duration_ns": 1}"#);
        assert!(
            unknown
                .unwrap_err()
                .to_string()
                .contains("web_search, data_mining, or a list of points")
        );
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        assert_eq!(
            refused("1,0,3,9"),
            "flows, line 2: there is no host number 3: hosts are 0 to 2"
        );
        assert_eq!(refused("1,0,h9,9"), "flows, line 2: there is no host h9");
        assert_eq!(
            refused("9,0,1,9\n8,0,1,9"),
            "flows, line 3: it starts before the one above it: sort the flows by start_ns"
        );
        assert_eq!(
            refused("1,1,h2,9"),
            "flows, line 2: source and destination are the same host"
        );
        assert_eq!(refused("1,0,1,0"), "flows, line 2: bytes = 0: there is nothing to send");
        assert_eq!(
            refused("18446744073709551616,0,1,1"),
            "flows, line 2: start_ns = 18446744073709551616 is not a number below 2^64"
        );
        assert_eq!(
            refused("0,0,1,9223372036854775808"),
            "flows, line 2: bytes and start_ns are at most 2^62"
        );
        assert_eq!(refused("1,0,1"), "flows, line 2: not start_ns,source,destination,bytes");
        let error = from_csv("0,0,1,9\n", &Hosts::new(&topology())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "flows, line 1: it must be start_ns,source,destination,bytes"
        );
    }
}
