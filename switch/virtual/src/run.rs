//! A run of a traffic program in a host, after its request was checked.

use std::net::Ipv4Addr;

use p4sched_dataplane::Nanos;
use p4sched_proto::p4sched::v1 as api;
use p4sched_traffic_generator::flow::{TcpFlow, UdpFlow, distinct};

const SECOND: Nanos = 1_000_000_000;
/// Latest time in ns. A day after it still fits into 64 bits.
pub const LAST_INSTANT: Nanos = Nanos::MAX / 2;
/// Longest duration of a run: a day, as in the traffic generator.
const LONGEST: Nanos = 86_400 * SECOND;
/// Largest number of connections in one transfer, as in iperf3.
const MOST_CONNECTIONS: u32 = 128;
/// Name of the congestion control that both ends must use (RFC 8257 Section 3.2).
pub const DCTCP: &str = "dctcp";
/// Highest rate of a probe, in packets per second.
const FASTEST_PROBE: f64 = 1e6;

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Name, unique in the network.
    pub name: String,
    pub start: Nanos,
    pub program: Program,
}

/// The program of a run. The messages of the protocol with the same names explain the fields.
#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// iperf3 --client.
    BulkSend(BulkSend),
    /// iperf3 --server.
    BulkReceive { port: u16 },
    /// p4sched-traffic udp-send.
    UdpSend {
        flows: Vec<UdpFlow>,
        /// Seed of ranks and arrivals.
        seed: u64,
        /// Whether each datagram is logged.
        log: bool,
    },
    /// p4sched-traffic udp-receive.
    UdpReceive {
        address: Ipv4Addr,
        ports: Vec<u16>,
        duration: Nanos,
        /// Length of a sample, in ns.
        interval: Nanos,
        /// Whether each datagram is logged.
        log: bool,
    },
    /// p4sched-traffic tcp-send.
    TcpSend {
        flows: Vec<TcpFlow>,
        congestion_control: String,
        /// Flows that are not finished at this time are given up.
        deadline: Nanos,
        /// Whether connections are opened before the first flow starts.
        open_ahead: bool,
    },
    /// p4sched-traffic tcp-serve.
    TcpServe {
        address: Ipv4Addr,
        port: u16,
        /// Longest duration, in ns.
        duration: Nanos,
        /// Number of flows after which the program ends.
        flows: Option<usize>,
    },
    /// p4sched-traffic observe.
    Observe {
        duration: Nanos,
        /// Whether each segment is logged.
        log: bool,
    },
    /// p4sched.lab.probe send.
    ProbeSend {
        source: Ipv4Addr,
        destination: Ipv4Addr,
        port: u16,
        packets_per_s: f64,
    },
    /// p4sched.lab.probe receive.
    ProbeReceive { port: u16 },
    /// A program of the guest.
    Command {
        /// Command line.
        words: Vec<String>,
    },
}

impl Program {
    /// Source and destination of connections whose congestion control both ends must know before they connect. `own` is
    /// the source of flows without a source.
    pub fn of_both_ends(&self, own: Ipv4Addr) -> Vec<(Ipv4Addr, Ipv4Addr)> {
        match self {
            Self::BulkSend(bulk) if bulk.congestion_control == DCTCP => vec![(bulk.source, bulk.destination)],
            Self::TcpSend {
                flows,
                congestion_control,
                ..
            } if congestion_control == DCTCP => flows.iter().map(|flow| (flow.src.unwrap_or(own), flow.dst)).collect(),
            _ => Vec::new(),
        }
    }
}

/// Endless TCP connections from one address to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkSend {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub port: u16,
    pub connections: u32,
    /// TOS byte of the segments.
    pub tos: u8,
    pub congestion_control: String,
    /// Time of sending after the warm-up, in ns.
    pub duration: Nanos,
    /// Warm-up in ns. The report does not include it.
    pub warm_up: Nanos,
}

impl Run {
    /// Checks the request for a run.
    ///
    /// # Errors
    /// Says in a sentence what is invalid.
    pub fn new(request: api::Run) -> Result<Run, String> {
        let name = request.name.clone();
        let named = |problem: String| format!("run '{name}': {problem}");
        if request.name.is_empty() {
            return Err("a run has no name".into());
        }
        if request.start_ns > LAST_INSTANT {
            let start = request.start_ns;
            return Err(named(format!(
                "start_ns is {start}: virtual time ends at {LAST_INSTANT} ns"
            )));
        }
        let program = request.program.ok_or_else(|| named("it has no program".into()))?;
        Ok(Run {
            start: request.start_ns,
            program: Program::new(program).map_err(named)?,
            name: request.name,
        })
    }
}

impl Program {
    fn new(request: api::run::Program) -> Result<Program, String> {
        use api::run::Program as Request;
        Ok(match request {
            Request::BulkSend(bulk) => Program::BulkSend(BulkSend::new(bulk)?),
            Request::BulkReceive(bulk) => Program::BulkReceive { port: port(bulk.port)? },
            Request::UdpSend(udp) => {
                let flows: Vec<UdpFlow> = list(&udp.flows)?;
                flows.iter().try_for_each(UdpFlow::check).map_err(sentence)?;
                distinct(flows.iter().map(|flow| flow.flow)).map_err(sentence)?;
                Program::UdpSend {
                    flows,
                    seed: udp.seed,
                    log: udp.log,
                }
            }
            Request::UdpReceive(udp) => Program::UdpReceive {
                address: address(&udp.address)?,
                ports: udp.ports.into_iter().map(port).collect::<Result<_, _>>()?,
                duration: time("duration_ns", udp.duration_ns)?,
                interval: if udp.interval_ns == 0 { SECOND } else { udp.interval_ns },
                log: udp.log,
            },
            Request::TcpSend(tcp) => {
                let flows: Vec<TcpFlow> = list(&tcp.flows)?;
                flows.iter().try_for_each(TcpFlow::check).map_err(sentence)?;
                distinct(flows.iter().map(|flow| flow.flow)).map_err(sentence)?;
                Program::TcpSend {
                    flows,
                    congestion_control: tcp.congestion_control,
                    deadline: time("deadline_ns", tcp.deadline_ns)?,
                    open_ahead: tcp.open_ahead,
                }
            }
            Request::TcpServe(tcp) => Program::TcpServe {
                address: address(&tcp.address)?,
                port: port(tcp.port)?,
                duration: time("duration_ns", tcp.duration_ns)?,
                flows: tcp.flows.map(|flows| flows as usize),
            },
            Request::Observe(observe) => Program::Observe {
                duration: time("duration_ns", observe.duration_ns)?,
                log: observe.log,
            },
            Request::ProbeSend(probe) => Program::ProbeSend {
                source: address(&probe.source)?,
                destination: address(&probe.destination)?,
                port: port(probe.port)?,
                packets_per_s: if probe.packets_per_s > 0.0 && probe.packets_per_s <= FASTEST_PROBE {
                    probe.packets_per_s
                } else {
                    return Err(format!(
                        "packets_per_s is {:?}: a probe sends more than 0 and at most {FASTEST_PROBE:.0}",
                        probe.packets_per_s
                    ));
                },
            },
            Request::ProbeReceive(probe) => Program::ProbeReceive {
                port: port(probe.port)?,
            },
            Request::Command(command) if command.words.is_empty() => return Err("the command has no words".into()),
            Request::Command(command) => Program::Command { words: command.words },
        })
    }
}

impl BulkSend {
    fn new(request: api::BulkSend) -> Result<BulkSend, String> {
        if !(1..=MOST_CONNECTIONS).contains(&request.connections) {
            return Err(format!(
                "{} connections: there can be 1 to {MOST_CONNECTIONS}",
                request.connections
            ));
        }
        let tos = u8::try_from(request.tos).ok().filter(|tos| tos & 3 == 0);
        Ok(BulkSend {
            source: address(&request.source)?,
            destination: address(&request.destination)?,
            port: port(request.port)?,
            connections: request.connections,
            tos: tos.ok_or_else(|| {
                format!(
                    "tos is {}: it is a byte whose two lowest bits, which belong to ECN, are 0",
                    request.tos
                )
            })?,
            congestion_control: request.congestion_control,
            duration: time("duration_ns", request.duration_ns)?,
            warm_up: if request.warm_up_ns == 0 {
                0
            } else {
                time("warm_up_ns", request.warm_up_ns)?
            },
        })
    }
}

fn sentence(error: impl std::error::Error) -> String {
    error.to_string()
}

fn list<F: for<'de> serde::Deserialize<'de>>(text: &str) -> Result<Vec<F>, String> {
    serde_json::from_str(text).map_err(|error| format!("flows are not a JSON list of flows: {error}"))
}

fn address(text: &str) -> Result<Ipv4Addr, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not an IPv4 address, for example 10.2.0.1"))
}

fn port(number: u32) -> Result<u16, String> {
    u16::try_from(number)
        .ok()
        .filter(|&port| port > 0)
        .ok_or_else(|| format!("port {number}: ports are 1 to 65535"))
}

fn time(name: &str, value: Nanos) -> Result<Nanos, String> {
    if (1..=LONGEST).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{name} is {value}: it must be above 0 and at most a day"))
    }
}
