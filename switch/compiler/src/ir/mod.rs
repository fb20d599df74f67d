//! The program for one architecture: storage is flat (header instances with fields), parsers and controls
//! are inlined, tables and externs are instances with their full names.

mod control;
pub mod expr;
mod externs;
mod parser;
mod storage;
mod table;

use std::rc::Rc;

pub use control::{Arg, Condition, Gress, Label, Next, Node, Outcome, Pipeline, Primitive, Stmt};
pub use expr::{Expr, ExprKind, FieldRef, HeaderRef, Ty};
pub use externs::{Calculation, Checksum, FieldList, Meter, Profile, Register, RegisterAction, Unit, ValueSet};
pub use parser::{Case, ParserOp, ParserState};
pub use storage::{Field, Header, HeaderType, Stack, Union, UnionStack};
pub use table::{Action, ActionCall, ActionParam, Entry, Key, Match, Table};

use crate::{arch::Arch, source::Span, typed::tree::Annotations};

#[derive(Default)]
pub struct Ir {
    /// What the program is written for.
    pub arch: Arch,
    pub header_types: Vec<HeaderType>,
    /// Header instances.
    pub headers: Vec<Header>,
    /// Header stacks.
    pub stacks: Vec<Stack>,
    /// Header unions.
    pub unions: Vec<Union>,
    pub union_stacks: Vec<UnionStack>,
    pub actions: Vec<Action>,
    pub tables: Vec<Table>,
    pub counters: Vec<Meter>,
    pub meters: Vec<Meter>,
    pub registers: Vec<Register>,
    pub register_actions: Vec<RegisterAction>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    pub calculations: Vec<Calculation>,
    pub checksums: Vec<Checksum>,
    pub field_lists: Vec<FieldList>,
    /// Digests.
    pub learn_lists: Vec<FieldList>,
    pub value_sets: Vec<ValueSet>,
    pub states: Vec<ParserState>,
    /// Index of the first state.
    pub start: usize,
    /// Order of headers in the deparser.
    pub deparser: Vec<usize>,
    /// Other operations of the deparser.
    pub deparser_ops: Vec<Primitive>,
    pub deparser_span: Span,
    /// Ingress and egress.
    pub pipelines: Vec<Pipeline>,
    /// The same statements before they become graphs: what is placed into the stages of the chip.
    pub bodies: Vec<(Gress, Vec<Stmt>)>,
    /// Actions and tables that the control plane may know, in the order of their declaration.
    pub listed_actions: Vec<usize>,
    /// See above.
    pub listed_tables: Vec<usize>,
    /// Whether a control calls an extern function, which p4c notes in P4Info.
    pub calls_functions: bool,
    /// Header types for packets to and from the controller.
    pub controller_headers: Vec<(String, crate::typed::types::StructId)>,
}

impl Ir {
    /// Name of the header's field.
    #[must_use]
    pub fn field(&self, r: &FieldRef) -> &Field {
        &self.header_types[self.header_type(&r.header)].fields[r.field]
    }

    /// Type of a header, as index.
    #[must_use]
    pub fn header_type(&self, r: &HeaderRef) -> usize {
        match r {
            HeaderRef::Static(h) => self.headers[*h].ty,
            HeaderRef::Element(s, _) | HeaderRef::Next(s) | HeaderRef::Last(s) => self.stacks[*s].ty,
        }
    }
}

/// Annotations of something made by the compiler.
#[must_use]
pub fn no_annotations() -> Annotations {
    Rc::new([])
}
