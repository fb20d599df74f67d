//! `p4sched-tools`: all programs except the switch and the compiler. Each program has its own name: the link
//! `p4sched-simulate` and the command `p4sched-tools simulate` run the same program.
//!
//! For a browser (WebAssembly) it holds the programs that need no socket, no thread and no kernel.

mod attack;
mod decisions;
mod exit_code;
#[cfg(not(target_family = "wasm"))]
mod fuzz;
#[cfg(not(target_family = "wasm"))]
mod lsp;
#[cfg(not(target_family = "wasm"))]
mod packet_trace;
mod simulate;
mod stepped;
mod stepped_port;
#[cfg(not(target_family = "wasm"))]
mod stf;
mod trace;
#[cfg(not(target_family = "wasm"))]
mod traffic;
#[cfg(not(target_family = "wasm"))]
mod virtual_network;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, Command, value_parser};
use p4sched_schedulers::described::Maker;
use p4sched_simulator::folders;

use crate::exit_code::exit_code;

/// The prefix of program names.
const PREFIX: &str = "p4sched-";
/// The command that creates the links.
const LINK: &str = "link";

struct Program {
    /// The name without the prefix.
    name: &'static str,
    about: &'static str,
    main: fn(Vec<OsString>) -> ExitCode,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "simulate",
        about: "A network of models, or of compiled programs, in virtual time",
        main: simulate::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "virtual",
        about: "A network of P4Runtime switches in virtual time",
        main: virtual_network::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "traffic",
        about: "Flows with ranks, and receivers that measure",
        main: traffic::main,
    },
    Program {
        name: "stepped",
        about: "The experiment of PACKS 6.1 in stepped time",
        main: stepped::main,
    },
    Program {
        name: "stepped-port",
        about: "One port of a compiled program in stepped time, with a controller",
        main: stepped_port::main,
    },
    Program {
        name: "attack",
        about: "The packets on which one scheme does worst against another",
        main: attack::main,
    },
    Program {
        name: "decisions",
        about: "Decisions of a program and its model on each packet",
        main: decisions::main,
    },
    Program {
        name: "trace",
        about: "Packets and a model's decisions, for a switch whose time cannot be stepped",
        main: trace::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "packet-trace",
        about: "The way of captured packets through a program",
        main: packet_trace::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "stf",
        about: "Simple Test Framework files against a program",
        main: stf::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "lsp",
        about: "P4 in editors, over the Language Server Protocol",
        main: lsp::main,
    },
    #[cfg(not(target_family = "wasm"))]
    Program {
        name: "fuzz",
        about: "Random, unusual inputs for compiler and switch",
        main: fuzz::main,
    },
];

/// Runs a program: the one whose name the first word is, or a subcommand. `maker`: see [`folders::load`].
pub fn main(words: Vec<OsString>, maker: impl FnMut(&str) -> Option<Maker>) -> ExitCode {
    if let Some(file) = env::var_os(folders::VARIABLE)
        && let Err(problem) = folders::load(Path::new(&file), maker)
    {
        return exit_code("p4sched-tools", Err::<(), _>(problem));
    }
    match words.first().and_then(|word| named(word)) {
        Some(program) => (program.main)(words),
        None => subcommand(words),
    }
}

/// The program for the name of a link.
fn named(word: &OsStr) -> Option<&'static Program> {
    let name = Path::new(word).file_name()?.to_str()?.strip_prefix(PREFIX)?;
    PROGRAMS.iter().find(|program| program.name == name)
}

fn subcommand(words: Vec<OsString>) -> ExitCode {
    let matches = command().get_matches_from(words);
    let Some((name, given)) = matches.subcommand() else {
        return ExitCode::FAILURE;
    };
    let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
        return linked();
    };
    let rest = given.get_many::<OsString>("arguments").unwrap_or_default().cloned();
    let words = std::iter::once(format!("{PREFIX}{name}").into()).chain(rest);
    (program.main)(words.collect())
}

fn command() -> Command {
    let link = Command::new(LINK).about("Link all these names to this program, in its own folder");
    Command::new("p4sched-tools")
        .version(env!("CARGO_PKG_VERSION"))
        .about("All programs of p4sched but the switch and the compiler. Each also has a name of its own, as p4sched-simulate")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands(PROGRAMS.iter().map(|program| {
            Command::new(program.name)
                .about(program.about)
                .disable_help_flag(true)
                .arg(
                    Arg::new("arguments")
                        .num_args(0..)
                        .trailing_var_arg(true)
                        .allow_hyphen_values(true)
                        .value_parser(value_parser!(OsString)),
                )
        }))
        .subcommand(link)
}

fn linked() -> ExitCode {
    exit_code("p4sched-tools: cannot link the names", links())
}

/// Nobody links names in a browser.
#[cfg(target_family = "wasm")]
fn links() -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Creates the links. They replace programs that an earlier build left under these names.
#[cfg(not(target_family = "wasm"))]
fn links() -> io::Result<()> {
    let own = env::current_exe()?;
    let target = own.file_name().unwrap_or(own.as_os_str());
    for program in PROGRAMS {
        let link = own.with_file_name(format!("{PREFIX}{}", program.name));
        if link.read_link().is_ok_and(|now| now == Path::new(target)) {
            continue;
        }
        match std::fs::remove_file(&link) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => std::os::unix::fs::symlink(target, &link)?,
        }
    }
    Ok(())
}
