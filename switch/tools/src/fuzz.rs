//! `p4sched-fuzz`: runs each target with changed inputs of its corpus.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use clap::{Parser, ValueEnum};
use p4sched_fuzz::mutate::mutate;
use p4sched_fuzz::shorten::shorten;
use p4sched_fuzz::{Sessions, Target};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Time limit of one input. Inputs normally take milliseconds; one that takes this long would stop a switch.
const LONGEST_RUN: Duration = Duration::from_secs(20);
/// The most inputs that are kept for further changes because their outcome was new.
const MAX_KEPT: usize = 4096;
/// A folder in memory for the file that is written for each input.
const MEMORY: &str = "/dev/shm";
/// Time limit for shortening a find.
const SHORTENING: Duration = Duration::from_secs(60);

/// Tests the compiler and the switch with random, unusual inputs. An input that makes one of them panic, hang or
/// contradict itself is written into its target's folder of the corpus, and ends the run with status 1.
#[derive(Parser)]
#[command(name = "p4sched-fuzz")]
struct Options {
    /// Targets to test; default: all.
    #[arg(value_enum)]
    targets: Vec<Target>,
    /// Seconds for each target; at most a week.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    seconds: u64,
    /// Folder of the inputs, with a folder for each target.
    #[arg(long, default_value = p4sched_fuzz::CORPUS)]
    corpus: PathBuf,
    /// Seed that makes the run repeatable, as far as time allows; default: a new one.
    #[arg(long)]
    seed: Option<u64>,
    /// Run only this input.
    #[arg(long)]
    play: Option<PathBuf>,
    /// Run one target in this process, and write every input to this file before it runs.
    #[arg(long, hide = true)]
    input: Option<PathBuf>,
}

fn read_corpus(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| naming(folder, &error))?
        .map(|file| Ok(file?.path()))
        .collect::<io::Result<_>>()?;
    files.sort_unstable();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    fs::read(file).map_err(|error| naming(file, &error))
}

fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Runs changed inputs until the time is over. A find ends the process.
fn feed(target: Target, mut pool: Vec<Vec<u8>>, input: &Path, seed: u64, seconds: u64) -> io::Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut outcomes = HashSet::new();
    for text in &pool {
        fs::write(input, text)?;
        outcomes.insert(target.run(text));
    }
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut inputs = 0u64;
    let mut sessions = Sessions::default();
    while Instant::now() < until {
        let from = random.random_range(0..pool.len().max(1));
        let text = mutate(&mut random, pool.get(from).map_or(&b""[..], |text| text), &pool);
        let mut written = Ok(());
        let outcome = target.run_on(&mut sessions, &text, |played| written = fs::write(input, played));
        written?;
        inputs += 1;
        // An input with a new outcome is worth further changes.
        if pool.len() < MAX_KEPT && outcomes.insert(outcome) {
            pool.push(text);
        }
    }
    println!(
        "{}: {inputs} inputs, {} outcomes, no find",
        target.name(),
        outcomes.len()
    );
    Ok(())
}

/// A command that runs this program again.
fn itself() -> io::Result<Command> {
    let mut program = Command::new(env::current_exe()?);
    program.arg("fuzz");
    Ok(program)
}

/// Whether an input is a find; it runs in a separate process.
fn is_find(target: Target, input: &Path) -> io::Result<bool> {
    let mut player = itself()?;
    player.arg(target.name()).arg("--play").arg(input);
    let mut player = player.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let until = Instant::now() + LONGEST_RUN;
    while Instant::now() < until {
        if let Some(status) = player.try_wait()? {
            return Ok(!status.success());
        }
        thread::sleep(Duration::from_millis(5));
    }
    player.kill()?;
    player.wait()?;
    Ok(true)
}

/// Runs a target in a separate process. Returns true if the process ended without a find.
fn watch(target: Target, options: &Options, seed: u64) -> io::Result<bool> {
    let memory = Path::new(MEMORY);
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        env::temp_dir()
    };
    let input = folder.join(format!("p4sched-fuzz-{}-{}", std::process::id(), target.name()));
    let mut child = itself()?
        .arg(target.name())
        .args(["--seconds", &options.seconds.to_string(), "--seed", &seed.to_string()])
        .arg("--corpus")
        .arg(&options.corpus)
        .arg("--input")
        .arg(&input)
        .spawn()?;
    let (mut last, mut since) = (None, Instant::now());
    let problem = loop {
        match child.try_wait()? {
            Some(status) if status.success() => break None,
            Some(status) => break Some((status.to_string(), true)),
            None => {}
        }
        let written = fs::metadata(&input).and_then(|file| file.modified()).ok();
        if written != last {
            (last, since) = (written, Instant::now());
        } else if since.elapsed() > LONGEST_RUN {
            child.kill()?;
            child.wait()?;
            break Some((format!("an input took longer than {} s", LONGEST_RUN.as_secs()), false));
        }
        thread::sleep(Duration::from_millis(50));
    };
    if let Some((problem, ends)) = &problem {
        let find = options.corpus.join(target.name()).join(format!("find-{seed:016x}"));
        fs::copy(&input, &find)?;
        if *ends {
            let until = Instant::now() + SHORTENING;
            let shorter = shorten(&fs::read(&find)?, |text| {
                fs::write(&input, text)?;
                Ok::<_, io::Error>(Instant::now() < until && is_find(target, &input)?)
            })?;
            fs::write(&find, shorter)?;
        }
        println!("{}: {problem}; the input is {}", target.name(), find.display());
    }
    let _ = fs::remove_file(&input);
    Ok(problem.is_none())
}

fn run(options: &Options) -> io::Result<bool> {
    let targets = if options.targets.is_empty() {
        Target::value_variants()
    } else {
        &options.targets
    };
    let mut clean = true;
    for &target in targets {
        let seed = options.seed.unwrap_or_else(|| rand::rng().random());
        let folder = options.corpus.join(target.name());
        match (&options.play, &options.input) {
            (Some(input), _) => println!("{}: {}", target.name(), target.run(&read(input)?)),
            (None, Some(input)) => {
                let pool = read_corpus(&folder)?;
                feed(target, pool, input, seed, options.seconds)?;
            }
            (None, None) => {
                read_corpus(&folder)?;
                clean &= watch(target, options, seed)?;
            }
        }
    }
    Ok(clean)
}

pub fn main(words: Vec<OsString>) -> ExitCode {
    match run(&Options::parse_from(words)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("p4sched-fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}
