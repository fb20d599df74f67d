//! The architectures that the programs are written for.

/// Longest window that the P4 programs have registers for, in ranks.
pub const MAX_P4_WINDOW: usize = 32;

/// The architecture that a program is written for. Hardware has no room for some rules as the papers state them; the model then
/// has the hardware's rule as well.
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
    /// All of them.
    pub const ALL: &[Target] = &[Target::V1model, Target::Tna, Target::T2na];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Target::V1model => "v1model",
            Target::Tna => "tna",
            Target::T2na => "t2na",
        }
    }

    /// Where its programs are, below the project's folder.
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

    /// What the control plane has in front of the names that a program gives.
    pub fn prefix(self) -> &'static str {
        match self {
            Target::V1model => "",
            Target::Tna | Target::T2na => "pipe.",
        }
    }
}
