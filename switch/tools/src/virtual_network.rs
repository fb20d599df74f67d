//! `p4sched-virtual`: a network in virtual time, with a P4Runtime server for each of its switches.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
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
use p4sched_world::network_file::NetworkFile;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

use crate::exit_code::exit_code;

/// Number of threads that serve gRPC; the network has its own thread.
const SERVER_THREADS: usize = 2;
/// Time limit for the last answers.
const FAREWELL: Duration = Duration::from_millis(300);

/// Kind of the end hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hosts {
    /// State machines that speak TCP and UDP like Linux
    Model,
    /// Linux: guests of User-mode Linux, with iperf3 and p4sched-traffic
    Kernel,
}

/// Runs a network of P4Runtime switches and end hosts in virtual time. The first line on standard output is JSON with
/// the address of its service. It runs until SIGINT or SIGTERM.
#[derive(Parser)]
#[command(name = "p4sched-virtual", version)]
struct Arguments {
    /// The network as JSON: switches, hosts, links
    topology: PathBuf,
    /// Address of the simulation's service; port 0 means a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    address: SocketAddr,
    /// P4Runtime port of the first switch; the next ones follow [default: free ports]
    #[arg(long, value_name = "PORT")]
    grpc_port: Option<u16>,
    /// Kind of the end hosts
    #[arg(long, value_enum, default_value = "model")]
    hosts: Hosts,
    /// Seed of everything random in kernel hosts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the files of kernel hosts [default: a temporary one, which is kept until the next run if the network
    /// fails]
    #[arg(long, value_name = "DIR")]
    guests: Option<PathBuf>,
    /// Wall-clock seconds that a participant may be silent while time stands still for it, or that a kernel host may
    /// run at one instant
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    patience: Duration,
    /// Virtual seconds per second of the wall clock, for clients outside of the lock step [default: time advances only
    /// for participants, as fast as it can]
    #[arg(long, value_name = "FACTOR", value_parser = pace)]
    pace: Option<f64>,
    /// Interpret P4 programs instead of compiling them to machine code
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
    let at = |problem: &dyn Display| format!("{}: {problem}", arguments.topology.display());
    let text = fs::read_to_string(&arguments.topology).map_err(|error| at(&error))?;
    let file = NetworkFile::parse(&text).map_err(|error| at(&error))?;
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
            boot_all(&file, arguments.seed, arguments.patience, folder).map_err(|error| error.to_string())?
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
            &file,
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
        // If the network's thread has already ended, there is nothing to do.
        let _ = messages.send(Message::End);
    });
    for switch in &network.switches {
        eprintln!("p4sched-virtual: {} is at {}", switch.name, switch.address);
    }
    let first_line = serde_json::json!({ "simulation": network.address.to_string() });
    writeln!(io::stdout(), "{first_line}").map_err(|error| format!("standard output: {error}"))?;
    let result = network.run();
    if result.is_err() {
        let _ = temporary.map(TempDir::keep);
        // The participants must still receive the reason.
        std::thread::sleep(FAREWELL);
    }
    runtime.shutdown_background();
    result.map(|_| ())
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-virtual", run(&Arguments::parse_from(words)))
}
