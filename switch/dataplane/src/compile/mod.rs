//! Translates a loaded program to machine code with Cranelift.
//!
//! The source is the flat code that the interpreter runs: one lowering, two ways to execute it. If the translator does
//! not know an operation, the machine code calls the interpreter for this operation.

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
    /// Translates the program to machine code. Packets then run this code, with the same results in less time. Returns
    /// false if this machine cannot do it, or if packets are traced: then the program stays interpreted.
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

    /// Discards the machine code: packets are interpreted again.
    pub fn interpret(&mut self) {
        self.core.program.code.native = None;
    }

    /// True if the program was compiled.
    pub fn is_compiled(&self) -> bool {
        self.core.program.code.native.is_some()
    }
}
