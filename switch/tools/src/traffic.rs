//! `p4sched-traffic`: ranked UDP flows, and TCP flows of given sizes, for the lab's experiments.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use serde::Serialize;

use p4sched_simulator::flow_sizes::FlowSizes;
use p4sched_traffic_generator::flow::{self, Scale};
use p4sched_traffic_generator::plan::Plan;
use p4sched_traffic_generator::tcp::{self, Opening};
use p4sched_traffic_generator::{TrafficError, file_error, observe, socket, udp, until};

use crate::exit_code::exit_code;

/// Ranked UDP flows and TCP flows of given sizes. Reports are JSON on standard output.
#[derive(Parser)]
#[command(name = "p4sched-traffic", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Send the UDP flows of a JSON list
    UdpSend {
        /// JSON list of flows
        flows: PathBuf,
        /// Seed of ranks and arrivals
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// File for a line on every datagram
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Write the sending times of the UDP flows of a JSON list as CSV; send nothing
    UdpSchedule {
        /// JSON list of flows
        flows: PathBuf,
        /// Seed of ranks and arrivals
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// File for a line on every datagram
        #[arg(long)]
        output: PathBuf,
    },
    /// Receive UDP flows and report loss, reordering and rate of each
    UdpReceive {
        /// Address to receive on
        #[arg(long, default_value = "127.0.0.1")]
        address: Ipv4Addr,
        /// UDP ports, separated by commas
        #[arg(long, value_delimiter = ',', required = true)]
        ports: Vec<u16>,
        /// Duration, in seconds
        #[arg(long, value_parser = seconds)]
        duration: Duration,
        /// Length of a sample, in seconds
        #[arg(long, value_parser = seconds, default_value = "1")]
        interval: Duration,
        /// File for a line on every datagram
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Record the TCP segments that arrive, in order: rank, flow and IP identification
    Observe {
        /// Duration, in seconds
        #[arg(long, value_parser = seconds)]
        duration: Duration,
        /// File for a line on every segment
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Send the TCP flows of a JSON list
    TcpSend {
        /// JSON list of flows
        flows: PathBuf,
        /// Congestion control
        #[arg(long, default_value = "cubic")]
        congestion: String,
        /// Time limit of the flows, in seconds from the start
        #[arg(long, value_parser = seconds)]
        deadline: Duration,
        /// Start on the system's monotonic clock in ns, so that senders on several hosts start together; at most 60 s
        /// ahead [default: now]
        #[arg(long)]
        epoch: Option<u64>,
        /// Open all connections first, so that completion times do not include the handshake
        #[arg(long)]
        open_ahead: bool,
    },
    /// Receive TCP flows and report their completion times
    TcpServe {
        /// Address to listen on
        #[arg(long, default_value = "127.0.0.1:5001")]
        address: SocketAddrV4,
        /// Longest duration, in seconds
        #[arg(long, value_parser = seconds)]
        duration: Duration,
        /// End when this many flows have arrived
        #[arg(long)]
        flows: Option<usize>,
    },
    /// Print a list of TCP flows with Poisson arrivals
    Plan {
        /// Distribution of sizes
        #[arg(long, value_enum, default_value = "web-search")]
        sizes: FlowSizes,
        /// Factor on the sizes
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
        /// Load of the bottleneck, above 0 and at most 1
        #[arg(long)]
        load: f64,
        /// Rate of the bottleneck in bit/s
        #[arg(long)]
        link_bps: f64,
        /// Time in which flows start, in seconds
        #[arg(long)]
        duration: f64,
        /// Source addresses, separated by commas
        #[arg(long, value_delimiter = ',', required = true)]
        sources: Vec<Ipv4Addr>,
        /// Destination addresses, separated by commas
        #[arg(long, value_delimiter = ',', required = true)]
        destinations: Vec<Ipv4Addr>,
        /// Destination port
        #[arg(long, default_value_t = 5001)]
        port: u16,
        /// Scale from remaining bytes to 64 ranks
        #[arg(long, value_enum, default_value_t)]
        rank_scale: Scale,
        /// Seed
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// A positive number of seconds, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(Duration::from_secs_f64(value)),
        _ => Err("a number of seconds above 0 and up to 86400 is needed".into()),
    }
}

fn print(report: &impl Serialize) -> Result<(), TrafficError> {
    let text = serde_json::to_string(report).expect("reports hold nothing that JSON cannot");
    writeln!(io::stdout(), "{text}").map_err(file_error(Path::new("standard output")))
}

fn run(command: Command) -> Result<(), TrafficError> {
    match command {
        Command::UdpSend { flows, seed, log } => print(&udp::send(&flow::read(&flows)?, seed, log.as_deref())?)?,
        Command::UdpSchedule { flows, seed, output } => {
            udp::schedule::write(&flow::read::<flow::UdpFlow>(&flows)?, seed, &output)?;
        }
        Command::UdpReceive {
            address,
            ports,
            duration,
            interval,
            log,
        } => {
            print(&udp::receive(address, &ports, duration, interval, log.as_deref())?)?;
        }
        Command::Observe { duration, log } => print(&observe::observe(duration, log.as_deref())?)?,
        Command::TcpSend {
            flows,
            congestion,
            deadline,
            epoch,
            open_ahead,
        } => {
            let flows = flow::read(&flows)?;
            let opening = if open_ahead { Opening::Ahead } else { Opening::AtStart };
            allow_many_connections();
            std::thread::sleep(until(epoch)?);
            let outcomes = runtime()?.block_on(tcp::send(&flows, &congestion, opening, deadline))?;
            print(&outcomes)?;
            tcp::all_connected(&outcomes)?;
        }
        Command::TcpServe {
            address,
            duration,
            flows,
        } => {
            allow_many_connections();
            print(&runtime()?.block_on(tcp::serve(address, duration, flows))?)?;
        }
        Command::Plan {
            sizes,
            scale,
            load,
            link_bps,
            duration,
            sources,
            destinations,
            port,
            rank_scale,
            seed,
        } => {
            let plan = Plan {
                sizes,
                scale,
                load,
                link_bps,
                duration_s: duration,
                sources,
                destinations,
                port,
                rank_scale,
                seed,
            };
            print(&plan.flows()?)?;
        }
    }
    Ok(())
}

/// Raises the limit of open files to the highest that this user may have: each connection needs one.
fn allow_many_connections() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If the kernel refuses, the limit stays. A run that needs more files then fails with a message.
    let _ = setrlimit(
        Resource::Nofile,
        rustix::process::Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        },
    );
}

fn runtime() -> Result<tokio::runtime::Runtime, TrafficError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(socket("cannot start"))
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-traffic", run(Arguments::parse_from(words).command))
}
