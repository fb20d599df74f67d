//! The printed report: a table with one row for each stage, totals in percent of the chip, and the content of each
//! stage.

use std::fmt::{self, Write as _};

use super::chip::{Chip, Resources, STAGE};

/// Tables of a program by stage.
#[derive(Clone, Debug)]
pub struct Report {
    /// File of the program.
    pub program: String,
    pub chip: Chip,
    /// Used resources of each stage.
    pub stages: Vec<Resources>,
    /// Number of stages of ingress, egress and ghost.
    pub of_gress: Vec<(&'static str, usize)>,
    /// Content of each stage: thread, name, note.
    pub contents: Vec<Vec<(&'static str, String, String)>>,
    /// The longest chain of dependencies.
    pub chain: Vec<String>,
    /// Bits of used containers, and bits carried outside of them.
    pub containers: (u64, u64),
}

impl Report {
    /// Sum over all stages.
    #[must_use]
    pub fn total(&self) -> Resources {
        self.stages.iter().fold(Resources::default(), |a, b| a.plus(*b))
    }
}

/// Columns of the table: title and width.
const COLUMNS: [(&str, usize); 10] = [
    ("tables", 0),
    ("gateways", 1),
    ("stateful", 2),
    ("counters", 3),
    ("SRAM", 4),
    ("map RAM", 5),
    ("TCAM", 6),
    ("exact B", 7),
    ("ternary B", 8),
    ("hash bits", 9),
];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (chip, used) = (&self.chip, self.stages.len());
        let each: Vec<String> = self.of_gress.iter().map(|(g, n)| format!("{g} {n}")).collect();
        writeln!(
            f,
            "{}: {used} of the {} stages of {} ({})\n",
            self.program,
            chip.stages,
            chip.name,
            each.join(", ")
        )?;
        let row = |name: String, values: &dyn Fn(usize) -> String| -> String {
            let mut line = format!("{name:<8}");
            for (title, column) in COLUMNS {
                let width = title.len().max(6);
                let _ = write!(line, "  {:>width$}", values(column));
            }
            line
        };
        writeln!(f, "{}", row("stage".to_owned(), &|c| COLUMNS[c].0.to_owned()))?;
        for (number, stage) in self.stages.iter().enumerate() {
            let amounts = stage.amounts();
            writeln!(f, "{}", row(number.to_string(), &|c| amounts[c].1.to_string()))?;
        }
        let (total, has) = (self.total().amounts(), STAGE.amounts());
        let of_chip = |c: usize| has[c].1 * chip.stages as u64;
        writeln!(f, "{}", row("total".to_owned(), &|c| total[c].1.to_string()))?;
        writeln!(f, "{}", row("of".to_owned(), &|c| of_chip(c).to_string()))?;
        let percent = |c: usize| format!("{:.1}%", total[c].1 as f64 * 100.0 / of_chip(c) as f64);
        writeln!(f, "{}", row("percent".to_owned(), &percent))?;
        let (kept, carried) = self.containers;
        writeln!(
            f,
            "\nheader fields and metadata in the stages: {kept} of {} bits",
            chip.containers
        )?;
        if chip.carried > 0 {
            writeln!(f, "header fields that are only carried: {carried} bits")?;
        }
        writeln!(f, "longest chain of dependencies: {}", self.chain.join(" -> "))?;
        for (number, contents) in self.contents.iter().enumerate() {
            writeln!(f, "\nstage {number}")?;
            for (gress, name, note) in contents {
                let line = format!("  {gress:<8}{name:<40}  {note}");
                writeln!(f, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}
