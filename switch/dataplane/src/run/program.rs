//! A loaded program: its code, and what every architecture needs to know of it beside that.

use super::code::Code;
use super::layout::Place;
use super::ops::{Address, Word};
use super::states::Parser;

/// The immutable half of a pipeline.
#[derive(Debug)]
pub(crate) struct Program {
    pub code: Code,
    /// Tells packets of other programs apart.
    pub identity: u64,
    pub digests: Vec<Digest>,
    /// The PHV of a packet that nothing has happened to.
    pub blank: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Digest {
    pub name: String,
    pub id: u64,
    pub fields: Vec<Place>,
}

/// A field that the switch itself reads or writes: its word, and the bits it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataWord {
    pub word: Word,
    pub keep: u64,
}

/// A checksum in a field, which the program verifies or updates.
#[derive(Debug)]
pub(crate) struct Checksum {
    pub calculation: u32,
    pub field: u32,
    /// Code that leaves a condition in a word.
    pub condition: Option<(Address, Word)>,
}

/// What of a program is compiled.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    /// Where code begins that is run.
    pub entries: Vec<Address>,
    /// In the order of their numbers.
    pub parsers: Vec<&'a Parser>,
    /// For each parser the headers that are emitted when its packet goes on.
    pub emitted: Vec<&'a [u32]>,
    /// What is verified directly after the parser.
    pub verified: Option<&'a [Checksum]>,
    /// What is updated directly before the deparser.
    pub updated: Option<&'a [Checksum]>,
}
