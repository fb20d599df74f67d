//! Loading a program into the switch.

use p4sched_dataplane::{Pipeline, RegisterId};
use thiserror::Error;

use crate::PortError;

/// Reason why a program cannot be loaded. The program loaded before stays.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LoadError {
    /// A register for queue lengths does not exist.
    #[error("@queue_depth register '{0}' is not in the program")]
    NoRegister(String),
    /// A register for queue lengths is too wide.
    #[error("@queue_depth register '{name}' has cells of {width} bits; at most 64 are supported, bit<32> is usual")]
    WideRegister {
        name: String,
        /// Width of its cells in bits.
        width: u32,
    },
    /// The field that a port orders its packets by is not in the program.
    #[error(transparent)]
    Port(#[from] PortError),
}

/// Finds the registers that hold queue lengths (annotated `@queue_depth`).
pub(crate) fn length_registers(program: &Pipeline, names: &[String]) -> Result<Vec<RegisterId>, LoadError> {
    names
        .iter()
        .map(|name| {
            let register = program
                .register(name)
                .ok_or_else(|| LoadError::NoRegister(name.clone()))?;
            match program.register_width(register) {
                0..=64 => Ok(register),
                width => Err(LoadError::WideRegister {
                    name: name.clone(),
                    width,
                }),
            }
        })
        .collect()
}
