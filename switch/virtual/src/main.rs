//! `p4sched-virtual`: a network in virtual time, with a P4Runtime server for each of its switches.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use p4sched_guest::temporary_folder;
use p4sched_virtual::kernel::boot_all;
use p4sched_virtual::lockstep::{Message, Settings};
use p4sched_virtual::model::ModelHost;
use p4sched_virtual::server::Network;
use p4sched_virtual::topology::Topology;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

/// Threads that serve gRPC; the network has one of its own.
const SERVER_THREADS: usize = 2;
/// How long the last answers may take on their way.
const FAREWELL: Duration = Duration::from_millis(300);

/// What the end hosts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hosts {
    /// State machines that speak TCP and UDP as Linux does
    Model,
    /// Linux: guests of User-mode Linux, with iperf3 and p4sched-traffic
    Kernel,
}

/// A network of P4Runtime switches and end hosts in virtual time. The first line on standard output is JSON and says where
/// its service is. It runs until SIGINT or SIGTERM.
#[derive(Parser)]
#[command(name = "p4sched-virtual", version)]
struct Arguments {
    /// The network as JSON: switches, hosts, links
    topology: PathBuf,
    /// Where the service of the simulation listens; port 0 is a free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    address: SocketAddr,
    /// P4Runtime port of the first switch, the next ones follow [default: free ones]
    #[arg(long, value_name = "PORT")]
    grpc_port: Option<u16>,
    /// What the end hosts are
    #[arg(long, value_enum, default_value = "model")]
    hosts: Hosts,
    /// What is random in kernel hosts follows from this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for what kernel hosts write [default: a temporary one, which stays if the network fails, until the next run]
    #[arg(long, value_name = "DIR")]
    guests: Option<PathBuf>,
    /// How long, in seconds of the wall clock, a participant may say nothing while time stands still for it, or a kernel host
    /// may run at one instant
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    patience: Duration,
    /// Virtual seconds in a second of the wall clock, for clients that take no part in the lock step [default: time goes on
    /// for participants only, as fast as it can]
    #[arg(long, value_name = "FACTOR", value_parser = pace)]
    pace: Option<f64>,
    /// Interpret P4 programs in place of translating them to machine code
    #[arg(long)]
    no_jit: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.trim_end_matches('s').parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(Duration::from_secs_f64(value)),
        _ => Err("a number of seconds above 0 and up to 86400 is needed".into()),
    }
}

fn pace(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        _ => Err("a factor above 0 and up to 1000000 is needed".into()),
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let topology = Topology::read(&arguments.topology).map_err(|error| error.to_string())?;
    let mut temporary = None;
    let mut guests = match arguments.hosts {
        Hosts::Model => HashMap::new(),
        Hosts::Kernel => {
            let folder = match &arguments.guests {
                Some(folder) => folder.as_path(),
                None => {
                    let made = temporary_folder("virtual").map_err(|error| format!("a folder for guests: {error}"))?;
                    temporary.insert(made).path()
                }
            };
            boot_all(&topology, arguments.seed, arguments.patience, folder).map_err(|error| error.to_string())?
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(SERVER_THREADS)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the gRPC servers: {error}"))?;
    let settings = Settings {
        patience: arguments.patience,
        pace: arguments.pace,
        interpret: arguments.no_jit,
    };
    let network = runtime
        .block_on(Network::start(
            &topology,
            arguments.address,
            arguments.grpc_port,
            settings,
            |place| match guests.remove(&place.name) {
                Some(guest) => Box::new(guest),
                None => Box::new(ModelHost::new(place)),
            },
        ))
        .map_err(|error| error.to_string())?;
    let messages = network.messages.clone();
    let inside = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    drop(inside);
    runtime.spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        // If the network's thread has ended, there is nothing to end.
        let _ = messages.send(Message::End);
    });
    for switch in &network.switches {
        eprintln!("p4sched-virtual: {} is at {}", switch.name, switch.address);
    }
    let first_line = serde_json::json!({ "simulation": network.address.to_string() });
    writeln!(io::stdout(), "{first_line}").map_err(|error| format!("standard output: {error}"))?;
    let ended = network.run();
    if ended.is_err() {
        let _ = temporary.map(TempDir::keep);
        // Those who take part are still to be told why.
        std::thread::sleep(FAREWELL);
    }
    runtime.shutdown_background();
    ended.map(|_| ())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("p4sched-virtual: {problem}");
            ExitCode::FAILURE
        }
    }
}
