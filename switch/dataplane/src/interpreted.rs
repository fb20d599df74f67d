//! A target without machine code: programs stay interpreted.

use crate::run::pipeline::Pipeline;

impl Pipeline {
    /// Does nothing, and returns false: this target cannot run code that a program makes.
    pub fn compile(&mut self) -> bool {
        false
    }

    /// Does nothing: packets are interpreted anyway.
    pub fn interpret(&mut self) {}

    /// False: there is no machine code.
    pub fn is_compiled(&self) -> bool {
        false
    }
}
