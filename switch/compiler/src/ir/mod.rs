//! The lowered program for one architecture. Storage is flat (header instances with fields), parsers and controls are
//! inlined, and tables and externs are instances with full names.

mod control;
pub mod expr;
mod externs;
mod parser;
mod storage;
mod table;

use std::{collections::HashSet, rc::Rc};

pub use control::{Arg, Condition, Gress, Label, Next, Node, Outcome, Pipeline, Primitive, Stmt};
pub use expr::{Expr, ExprKind, FieldRef, HeaderRef, Ty};
pub use externs::{
    Calculation, Checksum, FieldList, Filter, FilterUse, Meter, Polynomial, Profile, Register, RegisterAction, Unit,
    ValueSet,
};
pub use parser::{Case, Deparser, Parser, ParserOp, ParserState};
pub use storage::{Field, Header, HeaderType, Stack, Union, UnionStack};
pub use table::{Action, ActionCall, ActionParam, Entry, Key, Match, Table, VALIDITY};

use crate::{arch::Arch, typed::tree::Annotations};

/// Name of the primitive that executes a register action.
pub const EXECUTE_REGISTER_ACTION: &str = "execute_register_action";

#[derive(Default)]
pub struct Ir {
    /// Architecture of the program.
    pub arch: Arch,
    pub header_types: Vec<HeaderType>,
    pub headers: Vec<Header>,
    pub stacks: Vec<Stack>,
    pub unions: Vec<Union>,
    pub union_stacks: Vec<UnionStack>,
    pub actions: Vec<Action>,
    pub tables: Vec<Table>,
    pub counters: Vec<Meter>,
    pub meters: Vec<Meter>,
    pub registers: Vec<Register>,
    /// Low-pass filters and random early detection.
    pub filters: Vec<Filter>,
    pub register_actions: Vec<RegisterAction>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    pub calculations: Vec<Calculation>,
    pub checksums: Vec<Checksum>,
    pub field_lists: Vec<FieldList>,
    /// Digests.
    pub learn_lists: Vec<FieldList>,
    pub value_sets: Vec<ValueSet>,
    pub parsers: Vec<Parser>,
    pub deparsers: Vec<Deparser>,
    pub pipelines: Vec<Pipeline>,
    /// Statements of the pipelines before they become graphs; these are placed into stages.
    pub bodies: Vec<(Gress, Vec<Stmt>)>,
    /// Blocks of statements that are actions called directly by a control.
    pub calls: HashSet<Label>,
    /// Actions and tables visible to the control plane, in order of declaration.
    pub listed_actions: Vec<usize>,
    pub listed_tables: Vec<usize>,
    /// True if a control calls an extern function; p4c notes this in P4Info.
    pub calls_functions: bool,
    /// True if the program declares counters, meters, registers or action profiles; p4c notes this in P4Info.
    pub declares_externs: bool,
    /// Names of standard metadata fields in BMv2 (`@alias`) and in the program.
    pub standard_aliases: Vec<(String, String)>,
    /// Header types of packets to and from the controller.
    pub controller_headers: Vec<(String, crate::typed::types::StructId)>,
}

impl Ir {
    /// Name of the header's field.
    #[must_use]
    pub fn field(&self, r: &FieldRef) -> &Field {
        &self.header_types[self.header_type(&r.header)].fields[r.field]
    }

    /// Calls `visit` for every header and field that a pipeline reads.
    pub fn visit_reads(&self, visit: &mut impl FnMut(&HeaderRef, Option<usize>)) {
        let actions = self.actions.iter().map(|a| &a.code);
        let codes = actions.chain(self.register_actions.iter().map(|a| &a.code));
        for arg in codes.flatten().flat_map(|p| &p.args) {
            match arg {
                Arg::Value(e) => e.visit_fields(visit),
                Arg::Values(list) => list.iter().for_each(|e| e.visit_fields(visit)),
                _ => {}
            }
        }
        for condition in self.pipelines.iter().flat_map(|p| &p.conditions) {
            condition.expr.visit_fields(visit);
        }
        for key in self.tables.iter().flat_map(|t| &t.keys) {
            visit(&key.target.header, Some(key.target.field));
        }
    }

    /// Index of a header's type.
    #[must_use]
    pub fn header_type(&self, r: &HeaderRef) -> usize {
        match r {
            HeaderRef::Static(h) => self.headers[*h].ty,
            HeaderRef::Element(s, _) | HeaderRef::Next(s) | HeaderRef::Last(s) => self.stacks[*s].ty,
        }
    }
}

/// Annotations of an object made by the compiler.
#[must_use]
pub fn no_annotations() -> Annotations {
    Rc::new([])
}
