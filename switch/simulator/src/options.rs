//! Options of a command that choose a scheme and its port.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use p4sched_schedulers::{ConfigError, Headroom, Scheme, Sizes, Target};
use serde_json::json;

use crate::program::{Program, ProgramError};

/// Window of PACKS 6.1, in ranks.
const PAPER_WINDOW: usize = 1000;

/// Source of the decisions at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DecisionSource {
    /// Reference models.
    Model,
    /// Compiled P4 programs.
    P4,
}

impl DecisionSource {
    /// Name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            DecisionSource::Model => "model",
            DecisionSource::P4 => "p4",
        }
    }
}

/// Source of the decisions at a port, and the sizes that make schemes comparable.
#[derive(Clone, Debug, clap::Args)]
pub struct PortOptions {
    /// Source of the decisions: the reference models, or the compiled P4 programs.
    #[arg(long, value_enum, default_value = "model")]
    pub with: DecisionSource,
    /// Target of the programs, or of the rules in the models: v1model, tna or t2na.
    #[arg(long, default_value = "v1model")]
    pub target: Target,
    /// |W| of AIFO and PACKS, and T of RIFO, in packets [default: 1000 for the models, 32 for P4, 16 for a Tofino].
    #[arg(long)]
    pub window: Option<usize>,
    /// Number of queues of SP-PIFO and PACKS.
    #[arg(long, default_value_t = 8, value_parser = count::<1, 64>)]
    pub queues: usize,
    /// Packets that each queue holds; a single queue holds as many as all of them.
    #[arg(long, default_value_t = 10, value_parser = count::<1, 16_777_216>)]
    pub queue_size: usize,
    /// Headroom k, in 1/256.
    #[arg(long, default_value_t = 0)]
    pub headroom_256: u32,
    /// Offset on the ranks in PACKS's window when they are compared; only for models.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub window_shift: i64,
    /// Interpret the P4 programs instead of compiling them to machine code.
    #[arg(long)]
    pub no_jit: bool,
    /// Folder of the P4 programs [default: p4, tofino-port or tofino-port/t2na].
    #[arg(long)]
    pub p4_dir: Option<PathBuf>,
}

/// An error in the options of a port.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The options combine a shift and programs.
    #[error("--window-shift: the P4 programs cannot shift their windows; use --with model")]
    Shift,
    /// The window is too large for the programs on a Tofino.
    #[error("--window {0}: the programs for {1} hold at most {2} ranks")]
    Window(usize, &'static str, usize),
    /// No program has this scheme for this target.
    #[error("{0} has no program for {1}")]
    NoProgram(&'static str, &'static str),
    /// The scheme has no model.
    #[error("{0} has no model, only a program: use --with p4")]
    NoModel(&'static str),
    /// The program does not compile.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A number is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl PortOptions {
    /// Sizes of the schedulers.
    ///
    /// # Errors
    /// If a number is out of range, or the target cannot have it.
    pub fn sizes(&self) -> Result<Sizes, PortError> {
        if self.with == DecisionSource::P4 && self.window_shift != 0 {
            return Err(PortError::Shift);
        }
        let most = self.target.max_window();
        let window = self.window.unwrap_or(match (self.with, self.target) {
            (DecisionSource::Model, Target::V1model) => PAPER_WINDOW,
            _ => most,
        });
        if self.target != Target::V1model && window > most {
            return Err(PortError::Window(window, self.target.name(), most));
        }
        Ok(Sizes {
            queues: self.queues,
            queue_size: self.queue_size,
            window,
            headroom: Headroom::new(self.headroom_256, 8)?,
            window_shift: self.window_shift,
            target: self.target,
        })
    }

    /// The compiled program of a scheme, if programs decide.
    ///
    /// # Errors
    /// If there is no such program, or it does not compile.
    pub fn program(&self, scheme: Scheme) -> Result<Option<Program>, PortError> {
        // A model of a folder does not depend on the target.
        let free = self.with == DecisionSource::Model && matches!(scheme, Scheme::Folder(_));
        if !free && !scheme.targets().contains(&self.target) {
            return Err(PortError::NoProgram(scheme.name(), self.target.name()));
        }
        Ok(match self.with {
            DecisionSource::Model if !scheme.has_model() => return Err(PortError::NoModel(scheme.name())),
            DecisionSource::Model => None,
            DecisionSource::P4 => {
                let default = Path::new(self.target.directory());
                let directory = self.p4_dir.as_deref().unwrap_or(default);
                let mut program = Program::of_scheme(scheme, directory, self.target)?;
                if self.no_jit {
                    program.interpret();
                }
                Some(program)
            }
        })
    }
}

/// Reads a number within bounds.
///
/// # Errors
/// If the text is not a number, or is out of bounds.
pub fn count<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (LEAST..=MOST).contains(&value) => Ok(value),
        _ => Err(format!("use a number from {LEAST} to {MOST}")),
    }
}

/// Names of the schemes that a command knows.
pub fn names(known: fn(Scheme) -> bool) -> impl Iterator<Item = &'static str> {
    Scheme::all()
        .into_iter()
        .filter(move |&scheme| known(scheme))
        .map(Scheme::name)
}

/// Parser of the name of a scheme that a command knows.
pub fn scheme(known: fn(Scheme) -> bool) -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(names(known)).map(|name| Scheme::named(&name).expect("a possible value"))
}

/// Lists all schemes for the Python side: a line of JSON for each.
pub fn listing() -> String {
    let record = |&scheme: &Scheme| {
        let p4 = scheme.p4();
        let record = json!({
            "name": scheme.name(),
            "program": p4.program,
            "discipline": p4sched_traffic_manager::name(p4.discipline),
            "ideal": p4.rank_field.is_some(),
            "rank_field": p4.rank_field,
            "table": p4.table,
            "action": p4.action,
            "parameters": p4.parameters,
        });
        format!("{record}\n")
    };
    Scheme::ALL.iter().map(record).collect()
}

/// True if the program of a scheme knows ranks.
pub fn is_ranked(scheme: Scheme) -> bool {
    scheme.p4().ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listing_has_a_line_for_each_scheme_with_its_parameters_in_order() {
        let listing = listing();
        assert_eq!(listing.lines().count(), Scheme::ALL.len());
        let rifo = r#"{"name":"rifo","program":"rifo","discipline":"fifo","ideal":false,"rank_field":null,"table":"rifo_params","action":"set_rifo","parameters":["capacity_packets","headroom_256","tracking_packets"]}"#;
        assert!(listing.lines().any(|line| line == rifo), "{listing}");
        let pifo = r#"{"name":"pifo","program":"fifo","discipline":"pifo","ideal":true,"rank_field":"meta.rank","#;
        assert!(listing.lines().any(|line| line.starts_with(pifo)), "{listing}");
    }
}
