//! A loaded program: its code, and what every architecture needs to know of it beside that.

use super::code::Code;
use super::layout::Place;
use super::ops::Word;

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
