//! The places of header fields: headers, stacks and unions in words of the packet header vector (PHV).
//!
//! A header is a block of words: its validity, then its fields in order. A field of up to 64 bits has one word. A wider
//! field has as many as it needs, least significant first. A variable-length field begins with its current length in
//! bits. A stack has one extra word, the number of extracted or pushed elements.

use std::collections::HashMap;
use std::ops::Range;

use crate::bits::words;

/// Registers of the switch for each packet; the first words of every PHV.
pub(crate) mod register {
    /// Session of the last clone or mirror call, with `REQUESTED` set.
    pub const CLONE: u32 = 0;
    /// The field list of that call.
    pub const CLONE_FIELDS: u32 = 1;
    /// The field list of the last resubmit call; for a Tofino with `REQUESTED` set.
    pub const RESUBMIT: u32 = 2;
    /// v1model: the field list of the last recirculate call.
    pub const RECIRCULATE: u32 = 3;
    /// Tofino: `egress_rid`, and `REPLICA_FIRST` for the first copy of a group.
    pub const REPLICA: u32 = 3;
    pub const DIGEST: u32 = 4;
    /// Length on arrival, updated for every added or removed header.
    pub const LENGTH: u32 = 5;
    /// Length on arrival; counters and meters use it.
    pub const ARRIVED: u32 = 6;
    /// Number of bytes of the deparsed frame to keep.
    pub const TRUNCATE: u32 = 7;
    pub const EXIT: u32 = 8;
    pub const COUNT: u32 = 9;
    pub const REQUESTED: u64 = 1 << 16;
    pub const REPLICA_FIRST: u64 = 1 << 16;
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub name: String,
    pub header: u32,
    /// First word of the value.
    pub slot: u32,
    /// Width in bits; the maximum for a variable-length field.
    pub width: u32,
    pub signed: bool,
    pub saturating: bool,
    /// Word with the current length in bits, if the length varies.
    pub length: Option<u32>,
}

impl Field {
    pub fn words(&self) -> usize {
        words(self.width)
    }

    pub fn span(&self) -> Range<usize> {
        let slot = self.slot as usize;
        slot..slot + self.words()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub name: String,
    /// Index of its header type.
    pub kind: u32,
    pub metadata: bool,
    /// Validity word; the fields follow it.
    pub valid: u32,
    /// Number of words of the block, with the validity.
    pub len: u32,
    /// Index of its first field in `Layout::fields`.
    pub first_field: u32,
    pub field_count: u32,
    /// Bytes without the variable-length field.
    pub fixed_bytes: u32,
    /// Bits of all fixed-length fields.
    pub fixed_bits: u32,
    /// The variable-length field.
    pub varbit: Option<u32>,
    /// Validity words of the other members of its union.
    pub rivals: Vec<u32>,
}

impl Header {
    pub fn block(&self) -> Range<usize> {
        let start = self.valid as usize;
        start..start + self.len as usize
    }

    pub fn fields(&self) -> Range<usize> {
        let first = self.first_field as usize;
        first..first + self.field_count as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct HeaderType {
    pub name: String,
    pub fields: Vec<FieldType>,
    /// Maximum bytes of a header with a variable-length field; 0 if the program gives none.
    pub max_bytes: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct FieldType {
    pub name: String,
    pub width: u32,
    pub varbit: bool,
    pub signed: bool,
    pub saturating: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub kind: u32,
    pub headers: Vec<u32>,
    /// Word with the number of its elements.
    pub next: u32,
}

/// A header union: its headers in order.
#[derive(Clone, Debug)]
pub(crate) struct Union {
    pub kind: String,
    pub headers: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct UnionStack {
    pub kind: String,
    pub unions: Vec<u32>,
    pub next: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub types: Vec<HeaderType>,
    pub fields: Vec<Field>,
    pub headers: Vec<Header>,
    pub stacks: Vec<Stack>,
    pub unions: Vec<Union>,
    pub union_stacks: Vec<UnionStack>,
    /// Names of the members of each union type.
    pub union_members: HashMap<String, Vec<(String, u32)>>,
    /// Number of words in a PHV.
    pub words: usize,
    pub header_names: HashMap<String, u32>,
    pub stack_names: HashMap<String, u32>,
    pub union_names: HashMap<String, u32>,
    pub union_stack_names: HashMap<String, u32>,
    pub field_names: HashMap<(u32, String), u32>,
    pub aliases: HashMap<String, u32>,
}

impl Layout {
    /// Finds a field by `header.field`; aliases come first.
    pub fn find(&self, name: &str) -> Option<u32> {
        if let Some(&field) = self.aliases.get(name) {
            return Some(field);
        }
        // Header names and field names may contain dots (`scalars`, `userMetadata.user`).
        name.match_indices('.').find_map(|(dot, _)| {
            let header = *self.header_names.get(&name[..dot])?;
            self.field_names.get(&(header, name[dot + 1..].to_string())).copied()
        })
    }

    /// Name of a field with its header. Fields in `scalars` (metadata, variables) have a full name of their own; user
    /// metadata has the prefix `meta`, as in table keys.
    pub fn field_name(&self, field: u32) -> String {
        let field = &self.fields[field as usize];
        match self.headers[field.header as usize].name.as_str() {
            "scalars" => match field.name.strip_prefix("userMetadata.") {
                Some(name) => format!("meta.{name}"),
                None => field.name.clone(),
            },
            header => format!("{header}.{}", field.name),
        }
    }

    /// Finds a field by any name that programmers use for it.
    pub fn find_p4(&self, name: &str) -> Option<u32> {
        let name = name.strip_prefix("hdr.").unwrap_or(name);
        self.find(name).or_else(|| self.find_user(name.strip_prefix("meta.")?))
    }

    /// Finds user metadata: the field `<struct>.a.b` of the header `scalars`, or `<struct>._a_b7` if p4c has flattened
    /// nested structs. The compiler chooses the name of the struct (`userMetadata`, or the P4 type).
    fn find_user(&self, name: &str) -> Option<u32> {
        let flat = format!("_{}", name.replace('.', "_"));
        let scalars = self.headers.iter().find(|header| header.name == "scalars")?;
        let found = scalars.fields().find(|&index| {
            let Some((_, field)) = self.fields[index].name.split_once('.') else {
                return false;
            };
            let number = field.strip_prefix(&flat);
            let flattened = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            field == name || flattened
        });
        found.map(|index| index as u32)
    }
}

/// The place that a field reference names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldOrValidity {
    Field(u32),
    Valid(u32),
}
