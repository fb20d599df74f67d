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
    /// True if it has one cell for each entry of a table.
    pub direct: bool,
    /// Table of a direct one, by index.
    pub table: Option<usize>,
    /// Field for the result of a direct meter.
    pub result: Option<FieldRef>,
    /// Numbers of green, yellow and red; `None` for those of BMv2.
    pub colours: Option<[u64; 3]>,
    pub index: Type,
    pub annotations: Annotations,
    pub span: Span,
}

/// Use of a filter's average on the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterUse {
    /// Returns the average. Time constants are in ns, while it rises and while it falls; the result is shifted right.
    LowPass { gain: u64, decay: u64, scale_down: u64 },
    /// Decides to drop or not: never up to `min`, always above `max`, in between with up to `probability` percent. The
    /// time constant is in ns.
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
    /// Number of cells; for a direct filter, the number of entries of its table.
    pub size: u64,
    /// True if it has one cell for each entry of a table.
    pub direct: bool,
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
    /// True if it has one cell for each entry of a table.
    pub direct: bool,
    pub annotations: Annotations,
    pub span: Span,
}

/// A program of a stateful ALU: the work of one access to a cell. The primitive `execute_register_action` has the
/// arguments `Named("register_action", name)`, `Value(index)`, and a `Target` for each used result.
#[derive(Clone, Debug)]
pub struct RegisterAction {
    pub name: String,
    /// Index of the register.
    pub register: usize,
    /// Statements on `value` and `results`.
    pub body: Vec<Stmt>,
    /// Fields of the cell; the first one has the high bits.
    pub value: Vec<FieldRef>,
    pub results: Vec<FieldRef>,
    /// Field for the index of the cell.
    pub index: FieldRef,
    /// The whole access in primitives, for a switch without such an ALU: read the cell, run the body, write the cell.
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
    /// Size of the largest group.
    pub max_group: u64,
    pub annotations: Annotations,
    pub span: Span,
    /// Tables that use it, by index.
    pub tables: Vec<usize>,
}

/// A hash or checksum over values.
#[derive(Clone, Debug)]
pub struct Calculation {
    pub name: String,
    pub algorithm: String,
    pub input: Vec<Expr>,
    /// True if the payload is also an input.
    pub payload: bool,
    /// Polynomial of a CRC, if the program defines it.
    pub parameters: Option<Polynomial>,
    pub span: Span,
}

/// A CRC: its polynomial and parameters.
#[derive(Clone, Debug)]
pub struct Polynomial {
    /// Width in bits.
    pub width: u32,
    pub coefficient: BigInt,
    pub reversed: bool,
    pub msb: bool,
    pub extended: bool,
    /// Number of bits of the result to use.
    pub output_width: u32,
    pub init: BigInt,
    pub xor: BigInt,
}

/// A checksum that is verified or updated.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// Field with the checksum.
    pub target: FieldRef,
    /// Index of its calculation.
    pub calculation: usize,
    /// True if the parser verifies it, false if the deparser updates it.
    pub verify: bool,
    pub condition: Expr,
    pub span: Span,
}

/// Fields preserved by clone, resubmit and recirculate, or sent in a digest.
#[derive(Clone, Debug)]
pub struct FieldList {
    pub name: String,
    pub id: u32,
    pub fields: Vec<Expr>,
    /// Type of the message, and its place, for a digest.
    pub digest: Option<Type>,
    pub span: Span,
}

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
