//! Words whose values are in registers of the processor.

use std::collections::HashMap;
use std::ops::Range;

use cranelift_codegen::ir::Value;

use crate::run::ops::Word;

/// Values of words. Memory has the same values. Any other word must be read from memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Known(HashMap<Word, Value>);

impl Known {
    pub fn get(&self, word: Word) -> Option<Value> {
        self.0.get(&word).copied()
    }

    pub fn set(&mut self, word: Word, value: Value) {
        self.0.insert(word, value);
    }

    pub fn forget(&mut self, word: Word) {
        self.0.remove(&word);
    }

    pub fn forget_range(&mut self, words: Range<Word>) {
        self.0.retain(|word, _| !words.contains(word));
    }

    pub fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Keeps the values known on both paths. Such a value was computed before the paths split.
    pub fn join(&mut self, other: &Known) {
        self.0.retain(|word, value| other.0.get(word) == Some(value));
    }
}
