//! Runs a network in virtual time.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use p4sched_simulator::network::world::World;
use p4sched_simulator::network::{results, scenario};

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
    let setup = scenario::load(&args.scenario)?;
    let seconds = setup.end_ns as f64 / 1e9;
    let mut world = World::new(setup)?;
    let started = Instant::now();
    world.run();
    let wall = started.elapsed().as_secs_f64();
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

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}
