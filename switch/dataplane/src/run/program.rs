//! A loaded program: its code, and the other parts that every architecture uses.

use super::code::Code;
use super::layout::FieldOrValidity;
use super::ops::{Address, Word};
use super::states::Parser;

/// The immutable part of a pipeline.
#[derive(Debug)]
pub(crate) struct Program {
    pub code: Code,
    /// Identifies the program of a packet.
    pub identity: u64,
    pub digests: Vec<Digest>,
    /// PHV of a new packet.
    pub blank: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Digest {
    pub name: String,
    pub id: u64,
    pub fields: Vec<FieldOrValidity>,
}

/// A field that the switch itself reads or writes: its word, and a mask of its bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataWord {
    pub word: Word,
    pub keep: u64,
}

/// A field with a checksum that the program verifies or updates.
#[derive(Debug)]
pub(crate) struct Checksum {
    pub calculation: u32,
    pub field: u32,
    /// Code that computes a condition into a word.
    pub condition: Option<(Address, Word)>,
}

/// The parts of a program to compile.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    /// Addresses of code that is run.
    pub entries: Vec<Address>,
    /// Parsers by number.
    pub parsers: Vec<&'a Parser>,
    /// Headers that are emitted for a packet, by its parser.
    pub emitted: Vec<&'a [u32]>,
    /// Checksums verified directly after the parser.
    pub verified: Option<&'a [Checksum]>,
    /// Checksums updated directly before the deparser.
    pub updated: Option<&'a [Checksum]>,
}
