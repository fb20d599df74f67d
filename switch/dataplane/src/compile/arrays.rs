//! Places in memory of the arrays of a program, for compiled code.

use crate::run::ops::Word;
use crate::run::state::State;

/// Cells of an array in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub start: *mut u64,
    pub count: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RegisterCells {
    pub cells: Cells,
    pub width: u32,
    /// Place of the flag that protects the register.
    pub protected: *const bool,
}

/// Places of the arrays of a program, and the keys of its tables.
#[derive(Debug)]
pub(super) struct Arrays {
    pub registers: Vec<RegisterCells>,
    pub counters: Vec<Cells>,
    /// Key of each table that has a key of one word: the word, and a mask of the bits that count.
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
