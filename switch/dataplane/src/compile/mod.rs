//! Translates a loaded program to code for the processor, with Cranelift.
//!
//! The source is the flat code that the interpreter runs: one lowering, two ways to execute it. What the translator does not know
//! becomes a call of the interpreter's own function for this one operation.

mod arrays;
mod checksum;
mod function;
mod headers;
mod known;
mod operation;
mod parser;
mod stretch;
mod unit;

pub(crate) use unit::compile as translate;

use crate::run::pipeline::Pipeline;

impl Pipeline {
    /// Translates the program to code for the processor. From now on packets run that; they get the same treatment, in less time.
    /// False if that is not possible on this machine, or packets are traced: then the program is interpreted as before.
    pub fn compile(&mut self) -> bool {
        if self.is_traced() {
            return false;
        }
        let (core, parts) = self.parts();
        match translate(&core.program.code, &mut core.state, &parts) {
            Ok(native) => {
                core.program.code.native = Some(native);
                true
            }
            Err(_) => false,
        }
    }

    /// Gives the translation up: packets are interpreted again.
    pub fn interpret(&mut self) {
        self.core.program.code.native = None;
    }

    /// True if the program was compiled.
    pub fn is_compiled(&self) -> bool {
        self.core.program.code.native.is_some()
    }
}
