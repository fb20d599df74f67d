//! Architectures of programs.

/// The architecture of a program: the blocks of `main`, and the externs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arch {
    /// BMv2's `simple_switch`.
    #[default]
    V1model,
    /// Tofino 1.
    Tna,
    /// Tofino 2.
    T2na,
}

impl Arch {
    /// All architectures; the first is the default.
    pub const ALL: [Arch; 3] = [Arch::V1model, Arch::Tna, Arch::T2na];

    /// Name on the command line, in the JSON and in P4Info.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Arch::V1model => "v1model",
            Arch::Tna => "tna",
            Arch::T2na => "t2na",
        }
    }

    /// Name of the package of `main`.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Arch::V1model => "V1Switch",
            Arch::Tna | Arch::T2na => "Switch",
        }
    }

    /// Generation of the chip: the value of the macro `__TARGET_TOFINO__`.
    #[must_use]
    pub fn tofino(self) -> Option<u32> {
        match self {
            Arch::V1model => None,
            Arch::Tna => Some(1),
            Arch::T2na => Some(2),
        }
    }

    /// Finds an architecture by its name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Arch> {
        Arch::ALL.into_iter().find(|arch| arch.name() == name)
    }
}
