//! Where the arrays of a program are, for code that reads and writes them.

use crate::run::ops::Word;
use crate::run::state::State;

/// Cells of an array, for code that reads and writes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub start: *mut u64,
    pub count: usize,
}

/// A register array.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterCells {
    pub cells: Cells,
    pub width: u32,
    /// Where the interpreter keeps whether it is protected.
    pub protected: *const bool,
}

/// Where the arrays of a program and the keys of its tables are.
#[derive(Debug)]
pub(super) struct Arrays {
    pub registers: Vec<RegisterCells>,
    pub counters: Vec<Cells>,
    /// For each table the word that has its key, and the bits that count, if it is one word.
    pub keys: Vec<Option<(Word, u64)>>,
}

impl Arrays {
    pub fn of(state: &mut State) -> Arrays {
        let registers = state.registers.0.iter_mut().map(|array| RegisterCells {
            cells: Cells {
                start: array.cells.as_mut_ptr(),
                count: array.cells.len(),
            },
            width: array.width,
            protected: &raw const array.protected,
        });
        Arrays {
            registers: registers.collect(),
            counters: (state.counters.iter_mut())
                .map(|array| Cells {
                    start: array.start(),
                    count: array.len(),
                })
                .collect(),
            keys: state.tables.iter().map(|table| table.entries.word()).collect(),
        }
    }
}
