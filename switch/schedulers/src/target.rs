//! The architectures that the programs are written for.

/// Longest window that the P4 programs have registers for, in ranks.
pub const MAX_P4_WINDOW: usize = 32;

/// The architecture that a program is written for. Some hardware cannot compute a rule as its paper states it; the
/// model then follows the hardware's rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Software switches: `p4/`.
    #[default]
    V1model,
    /// Tofino 1: `tofino-port/`.
    Tna,
    /// Tofino 2: `tofino-port/t2na/`.
    T2na,
}

impl Target {
    pub const ALL: &[Target] = &[Target::V1model, Target::Tna, Target::T2na];

    /// The name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Target::V1model => "v1model",
            Target::Tna => "tna",
            Target::T2na => "t2na",
        }
    }

    /// The folder of its programs, relative to the project's folder.
    pub fn directory(self) -> &'static str {
        match self {
            Target::V1model => "p4",
            Target::Tna => "tofino-port",
            Target::T2na => "tofino-port/t2na",
        }
    }

    /// Longest window that its programs have registers for, in ranks.
    pub fn max_window(self) -> usize {
        match self {
            Target::V1model => MAX_P4_WINDOW,
            Target::Tna | Target::T2na => 16,
        }
    }

    /// The prefix that the control plane adds to the names of a program.
    pub fn prefix(self) -> &'static str {
        match self {
            Target::V1model => "",
            Target::Tna | Target::T2na => "pipe.",
        }
    }
}
