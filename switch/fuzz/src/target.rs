//! The targets of inputs.

use clap::ValueEnum;
use p4sched_compiler::{EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::Pipeline;
use p4sched_device::Program;

use crate::script::{self, Bench, Sessions};

/// The frames that are sent to a program given as JSON.
const FRAMES: &str = "frame 1 0102030405060708090a0b0c0800450000140000000040060000 0a0000010a000002\n\
                      frame 2 ffffffffffff\nframe 3 00\n";

/// A target of inputs. Every target refuses input that is not a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// Frames for the programs of the laboratory, and the controller's writes before them
    Packets,
    /// A program as BMv2's JSON
    Json,
    /// P4Runtime requests, with frames between them
    P4runtime,
    /// P4 source
    P4,
}

impl Target {
    /// The name of the target's folder of inputs.
    pub fn name(self) -> &'static str {
        match self {
            Target::Packets => "packets",
            Target::Json => "json",
            Target::P4runtime => "p4runtime",
            Target::P4 => "p4",
        }
    }

    /// Runs an input and returns a short description of the outcome. Inputs with the same outcome are similar.
    ///
    /// # Panics
    /// If the input is a find.
    pub fn run(self, input: &[u8]) -> String {
        let Ok(text) = std::str::from_utf8(input) else {
            return "no text".to_owned();
        };
        match self {
            Target::Packets | Target::P4runtime => script::run(text),
            Target::Json => json(text),
            Target::P4 => p4(text),
        }
    }

    /// Same as [`Target::run`], but a script continues in the state that earlier scripts left. `before` gets an input
    /// that leads to the same state.
    ///
    /// # Panics
    /// If the input is a find.
    pub fn run_on(self, sessions: &mut Sessions, input: &[u8], before: impl FnOnce(&[u8])) -> String {
        match (self, std::str::from_utf8(input)) {
            (Target::Packets | Target::P4runtime, Ok(text)) => sessions.run(text, |played| before(played.as_bytes())),
            _ => {
                before(input);
                self.run(input)
            }
        }
    }
}

/// A message without its numbers: they only identify objects.
fn alike(message: &str) -> String {
    message.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()
}

fn json(text: &str) -> String {
    let program = || Program::without_p4info(text.as_bytes().to_vec());
    match (program(), program()) {
        (Ok(compiled), Ok(interpreted)) => match Bench::with(compiled, interpreted) {
            Some(mut bench) => script::play(&mut bench, FRAMES),
            None => "refused by the switch".to_owned(),
        },
        (Err(fault), _) | (_, Err(fault)) => alike(&fault.to_string()),
    }
}

fn p4(text: &str) -> String {
    let input = Input { name: "input.p4", text };
    match compile(&input, &EmbeddedIncludes, &Options::default()) {
        Ok(compiled) => {
            let loaded = Pipeline::from_json(compiled.json.as_bytes());
            assert!(loaded.is_ok(), "compiles, but does not load: {:?}", loaded.err());
            "compiled".to_owned()
        }
        Err(diagnostics) => {
            assert!(diagnostics.has_errors(), "refused without an error");
            alike(diagnostics.to_string().lines().next().unwrap_or_default())
        }
    }
}
