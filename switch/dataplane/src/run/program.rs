//! A loaded program: what simple_switch needs to know of it beside its code.

use std::collections::HashMap;

use super::code::Code;
use super::layout::Place;
use super::ops::{Address, Word};
use super::parser::Parser;

/// The immutable half of a pipeline.
#[derive(Debug)]
pub(crate) struct Program {
    pub code: Code,
    /// Tells packets of other programs apart.
    pub identity: u64,
    pub parser: Parser,
    pub ingress: Address,
    pub egress: Address,
    pub verify: Vec<Checksum>,
    pub update: Vec<Checksum>,
    /// Code that runs before the deparser.
    pub deparser_code: Option<Address>,
    /// Headers in the order the deparser emits them.
    pub emit: Vec<u32>,
    pub digests: Vec<Digest>,
    /// Fields preserved by clone, resubmit and recirculate, by the number of the field list.
    pub field_lists: HashMap<u64, Vec<u32>>,
    pub metadata: Intrinsic,
    /// The PHV of a packet that nothing has happened to.
    pub blank: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Checksum {
    pub calculation: u32,
    pub field: u32,
    /// Code that leaves a condition in a word.
    pub condition: Option<(Address, Word)>,
}

#[derive(Debug)]
pub(crate) struct Digest {
    pub name: String,
    pub id: u64,
    pub fields: Vec<Place>,
}

/// A field that simple_switch itself reads or writes: its word, and the bits it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataWord {
    pub word: Word,
    pub keep: u64,
}

#[derive(Debug)]
pub(crate) struct Intrinsic {
    pub ingress_port: MetadataWord,
    pub packet_length: MetadataWord,
    pub instance_type: MetadataWord,
    pub egress_spec: MetadataWord,
    pub egress_port: MetadataWord,
    pub parser_error: Option<MetadataWord>,
    pub checksum_error: Option<MetadataWord>,
    pub ingress_timestamp: Option<MetadataWord>,
    pub egress_timestamp: Option<MetadataWord>,
    pub mcast_grp: Option<MetadataWord>,
    pub egress_rid: Option<MetadataWord>,
    pub priority: Option<MetadataWord>,
    pub enq_timestamp: Option<MetadataWord>,
    pub enq_qdepth: Option<MetadataWord>,
    pub deq_timedelta: Option<MetadataWord>,
    pub deq_qdepth: Option<MetadataWord>,
    pub qid: Option<MetadataWord>,
}
