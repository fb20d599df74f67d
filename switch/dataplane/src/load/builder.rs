//! Code under construction.

use std::collections::HashMap;

use num_bigint::BigInt;

use crate::bits::words;
use crate::run::code::Mark;
use crate::run::exact::Int;
use crate::run::layout::Layout;
use crate::run::ops::{Address, Op, Word};

/// Shape of a register array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterShape {
    /// Bits of a cell.
    pub width: u32,
    pub beyond: OutOfRange,
}

/// Meaning of an index beyond the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfRange {
    /// A read leaves its destination unchanged (BMv2).
    Nothing,
    /// A read gives 0. The index has been cut to these bits. They number the cells of the array, rounded up to a power
    /// of two (Tofino).
    Wraps(u64),
    /// A read gives 0; the index is an entry of a table.
    Zero,
}

/// Operations, with their constants and intermediate results.
pub(crate) struct Builder<'a> {
    pub layout: &'a Layout,
    pub code: Vec<Op>,
    /// First word of the action parameters, after the PHV.
    pub param_base: u32,
    /// First word after the PHV and the action parameters.
    base: u32,
    /// Initial values of the words from `base` on.
    pub pool: Vec<u64>,
    constants: HashMap<u64, Word>,
    wide_constants: HashMap<Vec<u64>, Word>,
    temporaries: Vec<Word>,
    used_temporaries: usize,
    /// Lists of headers that are indexed at run time.
    pub lists: Vec<Vec<u32>>,
    list_index: HashMap<Vec<u32>, u32>,
    pub registers: &'a [RegisterShape],
    /// Marks of operations for the log of packets. Except for copies, they are in the order of their addresses.
    pub marks: Vec<(Address, Mark)>,
}

impl<'a> Builder<'a> {
    pub fn new(layout: &'a Layout, base: u32, registers: &'a [RegisterShape]) -> Self {
        Builder {
            layout,
            code: Vec::new(),
            param_base: layout.words as u32,
            base,
            pool: Vec::new(),
            constants: HashMap::new(),
            wide_constants: HashMap::new(),
            temporaries: Vec::new(),
            used_temporaries: 0,
            lists: Vec::new(),
            list_index: HashMap::new(),
            registers,
            marks: Vec::new(),
        }
    }

    /// Marks the operation at an address.
    pub fn mark(&mut self, at: Address, mark: Mark) {
        self.marks.push((at, mark));
    }

    pub fn address(&self) -> u32 {
        self.code.len() as u32
    }

    pub fn push(&mut self, op: Op) {
        self.code.push(op);
    }

    /// Ends a statement and frees its intermediate results.
    pub fn end_statement(&mut self) {
        self.used_temporaries = 0;
    }

    fn pool_word(&mut self, value: u64) -> Word {
        self.pool.push(value);
        self.base + self.pool.len() as u32 - 1
    }

    pub fn constant(&mut self, value: u64) -> Word {
        if let Some(&word) = self.constants.get(&value) {
            return word;
        }
        let word = self.pool_word(value);
        self.constants.insert(value, word);
        word
    }

    /// Words whose values never change.
    pub fn constants(&self) -> HashMap<Word, u64> {
        self.constants.iter().map(|(&value, &word)| (word, value)).collect()
    }

    pub fn wide_constant(&mut self, value: &BigInt, width: u32) -> Word {
        let mut parts = vec![0; words(width)];
        Int::from_big(value.clone()).store(width, &mut parts);
        if let Some(&word) = self.wide_constants.get(&parts) {
            return word;
        }
        let first = self.base + self.pool.len() as u32;
        self.pool.extend(&parts);
        self.wide_constants.insert(parts, first);
        first
    }

    /// A word that keeps its value until the next statement.
    pub fn temporary(&mut self) -> Word {
        if self.used_temporaries == self.temporaries.len() {
            let word = self.pool_word(0);
            self.temporaries.push(word);
        }
        self.used_temporaries += 1;
        self.temporaries[self.used_temporaries - 1]
    }

    /// A word that no other statement uses.
    pub fn own_word(&mut self) -> Word {
        self.pool_word(0)
    }

    pub fn list(&mut self, headers: &[u32]) -> u32 {
        if let Some(&list) = self.list_index.get(headers) {
            return list;
        }
        let list = self.lists.len() as u32;
        self.lists.push(headers.to_vec());
        self.list_index.insert(headers.to_vec(), list);
        list
    }

    pub fn all_ones(&mut self) -> Word {
        self.constant(u64::MAX)
    }

    /// The jump for a condition that does not hold. The code has just computed the condition into a word. If that was a
    /// comparison, the jump compares instead.
    pub fn fuse_jump(&mut self, condition: Word) -> Op {
        let temporary = self.temporaries.contains(&condition);
        let fused = match self.code.last() {
            Some(&Op::Equal { d, a, b }) if d == condition => Some(Op::JumpUnlessEqual { a, b, to: 0 }),
            Some(&Op::Less { d, a, b }) if d == condition => Some(Op::JumpUnlessLess { a, b, to: 0 }),
            Some(&Op::LessOrEqual { d, a, b }) if d == condition => Some(Op::JumpUnlessLessOrEqual { a, b, to: 0 }),
            Some(&Op::IsZero { d, a }) if d == condition && a != d => Some(Op::JumpIfNotZero { a, to: 0 }),
            _ => None,
        };
        match fused {
            Some(op) if temporary => {
                self.code.pop();
                op
            }
            _ => Op::JumpIfZero { a: condition, to: 0 },
        }
    }
}
