//! Runs a network in virtual time.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use p4sched_simulator::network::device::DeviceError;
use p4sched_simulator::network::world::{Installation, Setup, World};
use p4sched_simulator::network::{results, scenario};
use p4sched_simulator::options::With;
use p4sched_simulator::program::Program;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// A network in virtual time: hosts, links and switches of a scenario. The same scenario gives the same results, byte for
/// byte, on any machine.
#[derive(Debug, Parser)]
#[command(name = "p4sched-simulate", version)]
struct Args {
    /// What to run: a JSON file.
    scenario: PathBuf,
    /// Folder for summary.json and flows.csv; made if there is none.
    #[arg(long, short)]
    output: PathBuf,
    /// What decides at the ports of switches: the reference models or the compiled P4 programs.
    #[arg(long, value_enum, default_value = "model")]
    with: With,
    /// Compares every decision and every departure of the P4 programs with the models.
    #[arg(long)]
    check: bool,
    /// Ends when the process of this number does, which must be its parent.
    #[arg(long, value_name = "PID")]
    parent: Option<i32>,
    /// Interprets the P4 programs in place of translating them to machine code.
    #[arg(long)]
    no_jit: bool,
    /// Where the P4 programs are [default: p4, tofino-port or tofino-port/t2na, after the scenario's target].
    #[arg(long)]
    p4_dir: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when that fails too.
            let _ = writeln!(io::stderr(), "p4sched-simulate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.parent.map_or(Ok(()), end_with)?;
    let mut setup = scenario::load(&args.scenario)?;
    if args.with == With::P4 {
        setup.program = Some(installation(args, &setup)?);
    } else if args.check {
        return Err("--check compares the P4 programs with the models: use it --with p4".into());
    }
    let seconds = setup.end_ns as f64 / 1e9;
    let mut world = World::new(setup)?;
    let started = Instant::now();
    world.run();
    let wall = started.elapsed().as_secs_f64();
    if let Some(difference) = world.difference() {
        return Err(format!("the program and its model differ {difference}").into());
    }
    if !world.balance().balanced() {
        return Err(format!("a fault of the simulator: bytes are missing, {:?}", world.balance()).into());
    }
    std::fs::create_dir_all(&args.output).map_err(|error| format!("cannot make {}: {error}", args.output.display()))?;
    let summary = results::summary(&world);
    write(&args.output.join("summary.json"), &format!("{summary:#}\n"))?;
    write(&args.output.join("flows.csv"), &results::flows_csv(&world))?;
    let flows = &summary["flows"];
    // How fast it was is no result of the run: it differs from machine to machine.
    writeln!(
        io::stderr(),
        "{} of {} flows completed; {seconds} s in {wall:.2} s, {:.1} million events a second",
        flows["completed"],
        flows["listed"],
        world.events() as f64 / wall / 1e6,
    )?;
    Ok(())
}

/// Lets the kernel end this process when its parent has ended, so that no run is left behind.
fn end_with(parent: i32) -> Result<(), Box<dyn Error>> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before.
    match getppid() {
        Some(pid) if pid.as_raw_pid() == parent => Ok(()),
        _ => Err(format!("--parent {parent}: it is not the parent of this process").into()),
    }
}

fn installation(args: &Args, setup: &Setup) -> Result<Installation, Box<dyn Error>> {
    let scheduler = setup.switch_ports.scheduler.scheme();
    let (scheme, target) = (scheduler.ok_or(DeviceError::NoProgram)?.scheme(), setup.target);
    if !scheme.targets().contains(&target) {
        return Err(format!("there is no program of {} for {}", scheme.name(), target.name()).into());
    }
    let directory = args.p4_dir.clone();
    let directory = directory.unwrap_or_else(|| PathBuf::from(target.directory()));
    let mut program = Program::compile(&directory, scheme.p4().program, target)?;
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
