//! Runs a network in virtual time.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use p4sched_schedulers::Config;
use p4sched_simulator::network::device::DeviceError;
use p4sched_simulator::network::setup::{Installation, Setup};
use p4sched_simulator::network::warnings::warnings;
use p4sched_simulator::network::world::World;
use p4sched_simulator::network::{results, scenario};
use p4sched_simulator::options::DecisionSource;
use p4sched_simulator::program::Program;

use crate::exit_code::exit_code;

/// Runs a network in virtual time: hosts, links and switches of a scenario. The same scenario gives the same results,
/// byte for byte, on any machine.
#[derive(Debug, Parser)]
#[command(name = "p4sched-simulate", version)]
struct Args {
    /// Scenario (JSON).
    scenario: PathBuf,
    /// Folder for summary.json and flows.csv; made if it does not exist.
    #[arg(long, short)]
    output: PathBuf,
    /// Source of the decisions at the ports of switches: the reference models, or the compiled P4 programs.
    #[arg(long, value_enum, default_value = "model")]
    with: DecisionSource,
    /// Compare every decision and every departure of the P4 programs with the models.
    #[arg(long)]
    check: bool,
    /// End together with the process of this number, which must be the parent.
    #[arg(long, value_name = "PID")]
    parent: Option<i32>,
    /// Interpret the P4 programs instead of compiling them to machine code.
    #[arg(long)]
    no_jit: bool,
    /// Folder of the P4 programs [default: p4, tofino-port or tofino-port/t2na, according to the scenario's target].
    #[arg(long)]
    p4_dir: Option<PathBuf>,
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    exit_code("p4sched-simulate", run(&Args::parse_from(words)))
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.parent.map_or(Ok(()), end_with)?;
    let mut setup = scenario::load(&args.scenario)?;
    if args.with == DecisionSource::P4 {
        setup.program = Some(installation(args, &setup)?);
    } else if args.check {
        return Err("--check compares the P4 programs with the models: use it --with p4".into());
    } else if let Some(scheme) = setup
        .switch_ports
        .scheduler
        .scheme()
        .map(Config::scheme)
        .filter(|s| !s.has_model())
    {
        return Err(format!("{} has no model, only a program: use --with p4", scheme.name()).into());
    }
    for warning in warnings(&setup) {
        writeln!(io::stderr(), "warning: {warning}")?;
    }
    let seconds = setup.end_ns as f64 / 1e9;
    let mut world = World::new(setup)?;
    let started = Instant::now();
    world.run();
    let wall = started.elapsed().as_secs_f64();
    if let Some(difference) = world.difference() {
        return Err(format!("the program and its model differ {difference}").into());
    }
    if !world.account().balanced() {
        return Err(format!(
            "bug in the simulator: some bytes are unaccounted for: {:?}",
            world.account()
        )
        .into());
    }
    std::fs::create_dir_all(&args.output).map_err(|error| format!("cannot make {}: {error}", args.output.display()))?;
    let summary = results::summary(&world);
    write(&args.output.join("summary.json"), &format!("{summary:#}\n"))?;
    write(&args.output.join("flows.csv"), &results::flows_csv(&world))?;
    let flows = &summary["flows"];
    // The speed of the run is not a result: it differs between machines.
    writeln!(
        io::stderr(),
        "{} of {} flows completed; {seconds} s in {wall:.2} s, {:.1} million events a second",
        flows["completed"],
        flows["listed"],
        world.events() as f64 / wall / 1e6,
    )?;
    Ok(())
}

/// Makes the kernel end this process when its parent ends, so that no run stays behind.
#[cfg(not(target_family = "wasm"))]
fn end_with(parent: i32) -> Result<(), Box<dyn Error>> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have ended before this call.
    match getppid() {
        Some(pid) if pid.as_raw_pid() == parent => Ok(()),
        _ => Err(format!("--parent {parent}: it is not the parent of this process").into()),
    }
}

/// A browser has no processes.
#[cfg(target_family = "wasm")]
fn end_with(parent: i32) -> Result<(), Box<dyn Error>> {
    Err(format!("--parent {parent}: there are no processes here").into())
}

fn installation(args: &Args, setup: &Setup) -> Result<Installation, Box<dyn Error>> {
    let scheduler = setup.switch_ports.scheduler.programmed();
    let (scheme, target) = (scheduler.map_err(DeviceError::NoProgram)?.scheme(), setup.target);
    if !scheme.targets().contains(&target) {
        return Err(format!("{} has no program for {}", scheme.name(), target.name()).into());
    }
    let directory = args.p4_dir.clone();
    let directory = directory.unwrap_or_else(|| PathBuf::from(target.directory()));
    if args.check && !scheme.has_model() {
        return Err(format!("{} has no model: do without --check", scheme.name()).into());
    }
    let mut program = Program::of_scheme(scheme, &directory, target)?;
    if args.no_jit {
        program.interpret();
    }
    Ok(Installation {
        program,
        check: args.check,
    })
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
