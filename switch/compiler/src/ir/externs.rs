//! Externs other than tables: counters, meters, registers, profiles, hashes, checksums, digests, value sets.

use num_bigint::BigInt;

use super::{Expr, FieldRef, Primitive, Stmt, Ty};
use crate::{
    source::Span,
    typed::{tree::Annotations, types::Type},
};

/// Unit of a counter or meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Packets,
    Bytes,
    Both,
}

/// A counter or meter.
#[derive(Clone, Debug)]
pub struct Meter {
    pub name: String,
    pub unit: Unit,
    /// Number of cells; 0 if it is direct.
    pub size: u64,
    /// True if it has a cell for each entry of a table.
    pub direct: bool,
    /// Index of that table.
    pub table: Option<usize>,
    /// Field for the result of a direct meter.
    pub result: Option<FieldRef>,
    /// The numbers of green, yellow and red; `None` if they are BMv2's.
    pub colours: Option<[u64; 3]>,
    pub index: Type,
    pub annotations: Annotations,
    pub span: Span,
}

/// Use of the average of a filter's samples on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterUse {
    /// Returns it. Time constants in ns, while it rises and while it falls; the result is shifted right.
    LowPass { gain: u64, decay: u64, scale_down: u64 },
    /// Decides whether to drop: never up to `min`, always above `max`, in between up to `probability` percent. The time
    /// constant is in ns.
    Red {
        time: u64,
        min: u64,
        max: u64,
        probability: u64,
        drop: u64,
        no_drop: u64,
    },
}

/// A low-pass filter, or random early detection.
#[derive(Clone, Debug)]
pub struct Filter {
    pub name: String,
    pub of: FilterUse,
    /// Number of cells; of a direct one that of its table's entries.
    pub size: u64,
    /// True if it has a cell for each entry of a table.
    pub direct: bool,
    /// Type of its samples.
    pub sample: Ty,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Register {
    pub name: String,
    /// Number of cells.
    pub size: u64,
    /// Width of a cell in bits.
    pub width: u32,
    /// Type of a cell.
    pub ty: Type,
    /// Initial value of every cell.
    pub initial: BigInt,
    /// True if it has a cell for each entry of a table.
    pub direct: bool,
    pub annotations: Annotations,
    pub span: Span,
}

/// A program of a stateful ALU: what one access does to a cell. The primitive `execute_register_action` has the
/// arguments `Named("register_action", name)`, `Value(index)` and a `Target` for each result that is used.
#[derive(Clone, Debug)]
pub struct RegisterAction {
    pub name: String,
    /// The register, as index.
    pub register: usize,
    /// Code, on `value` and `results`.
    pub body: Vec<Stmt>,
    /// The fields of the cell, the one in the high bits first.
    pub value: Vec<FieldRef>,
    /// Results of the access.
    pub results: Vec<FieldRef>,
    /// Field for the cell's index.
    pub index: FieldRef,
    /// All of it for a switch without such an ALU: reads the cell, does what it does, and writes the cell.
    pub code: Vec<Primitive>,
    pub span: Span,
}

/// An action profile or selector.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    /// Number of members.
    pub size: u64,
    /// Algorithm and inputs of a selector.
    pub selector: Option<(String, Vec<FieldRef>)>,
    /// Largest group.
    pub max_group: u64,
    pub annotations: Annotations,
    pub span: Span,
    /// The tables that use it, as indexes.
    pub tables: Vec<usize>,
}

/// A hash or checksum over values.
#[derive(Clone, Debug)]
pub struct Calculation {
    pub name: String,
    pub algorithm: String,
    pub input: Vec<Expr>,
    /// True if the payload follows.
    pub payload: bool,
    /// Polynomial of a CRC that the program defines.
    pub parameters: Option<Polynomial>,
    pub span: Span,
}

/// A CRC: its polynomial and how it is applied.
#[derive(Clone, Debug)]
pub struct Polynomial {
    /// Width in bits.
    pub width: u32,
    pub coefficient: BigInt,
    pub reversed: bool,
    pub msb: bool,
    pub extended: bool,
    /// Bits of the result that are wanted.
    pub output_width: u32,
    pub init: BigInt,
    pub xor: BigInt,
}

/// A checksum that is verified or updated.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// The field that holds it.
    pub target: FieldRef,
    /// Index of its calculation.
    pub calculation: usize,
    /// Verified in the parser, otherwise updated by the deparser.
    pub verify: bool,
    /// Condition of its execution.
    pub condition: Expr,
    pub span: Span,
}

/// Fields kept by clone, resubmit, recirculate; or sent by a digest.
#[derive(Clone, Debug)]
pub struct FieldList {
    pub name: String,
    pub id: u32,
    pub fields: Vec<Expr>,
    /// For a digest, the type of the message, and its place.
    pub digest: Option<Type>,
    pub span: Span,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    pub name: String,
    /// Number of values.
    pub size: u64,
    /// Width of each part.
    pub widths: Vec<u32>,
    /// Type of an element.
    pub ty: Type,
    pub annotations: Annotations,
    pub span: Span,
}
