//! The program for one target, v1model on BMv2: storage is flat (header instances with fields), parsers and controls
//! are inlined, tables and externs are instances with their full names.

#![allow(
    dead_code,
    reason = "the tree keeps what the source says, whether or not a later stage asks for it"
)]

pub mod expr;

use std::rc::Rc;

use num_bigint::BigInt;

pub use expr::{Expr, ExprKind, FieldRef, HeaderRef, Ty};

use crate::{
    source::Span,
    syntax::token::Symbol,
    typed::{
        tree::Annotations,
        types::{ActionId as SourceAction, Type},
    },
};

/// A field of a header type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its width in bits; the largest one for a varbit.
    pub width: u32,
    /// Two's complement.
    pub signed: bool,
    /// Of variable width.
    pub is_varbit: bool,
}

/// A header type.
#[derive(Clone, Debug)]
pub struct HeaderType {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// An instance of a header, or of metadata.
#[derive(Clone, Debug)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its type, as index.
    pub ty: usize,
    /// Not part of a packet.
    pub metadata: bool,
}

/// A header stack.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name.
    pub name: String,
    /// The type of its elements, as index.
    pub ty: usize,
    /// Its elements, as indexes of headers.
    pub elements: Vec<usize>,
}

/// A header union.
#[derive(Clone, Debug)]
pub struct Union {
    /// Its name.
    pub name: String,
    /// Name of its type.
    pub type_name: String,
    /// Name, and header index, of each member.
    pub members: Vec<(String, usize)>,
}

/// A stack of header unions.
#[derive(Clone, Debug)]
pub struct UnionStack {
    /// Its name.
    pub name: String,
    /// Name of its elements' type.
    pub type_name: String,
    /// Its elements, as indexes of unions.
    pub elements: Vec<usize>,
}

/// An argument of a primitive.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A value.
    Value(Expr),
    /// A field that is written.
    Target(FieldRef),
    /// A header.
    Header(HeaderRef),
    /// A header stack.
    Stack(usize),
    /// A header union.
    Union(usize),
    /// A stack of unions.
    UnionStack(usize),
    /// Another named thing: kind (`register_array`, `calculation`, ...) and name.
    Named(&'static str, String),
    /// A number without a width, such as a jump's target.
    Number(BigInt),
    /// A text.
    Text(Symbol),
    /// Several values.
    Values(Vec<Expr>),
}

/// An operation of an action.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// Its name.
    pub op: &'static str,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// Its place.
    pub span: Span,
}

/// The end of a block of statements, or the start of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

/// A statement of a control.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// An operation.
    Primitive(Primitive),
    /// A decision.
    If(Expr, Vec<Stmt>, Vec<Stmt>, Span),
    /// Statements that `Break` of the label leaves.
    Block(Label, Vec<Stmt>),
    /// Statements repeated until a `Break` of an outer label.
    Loop(Vec<Stmt>, Span),
    /// Leaves the block with the label.
    Break(Label),
    /// The application of a table, and what follows from its outcome.
    Apply(usize, Outcome, Span),
    /// Ends the pipeline.
    Exit(Span),
}

/// What follows a table's application.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The same for all.
    Any,
    /// By hit and miss.
    HitMiss(Vec<Stmt>, Vec<Stmt>),
    /// By the action; the rest does the last one.
    Action(Vec<(Vec<SourceAction>, Vec<Stmt>)>, Vec<Stmt>),
}

/// A parameter of an action that comes with the entry.
#[derive(Clone, Debug)]
pub struct ActionParam {
    /// Its name.
    pub name: Symbol,
    /// Its type in the source.
    pub ty: Type,
    /// Its width in bits.
    pub width: u32,
    /// Its annotations.
    pub annotations: Annotations,
}

/// An action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its full name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<ActionParam>,
    /// What it does.
    pub code: Vec<Primitive>,
    /// Its annotations.
    pub annotations: Annotations,
    /// The action in the source; `None` for one made by the compiler.
    pub source: Option<SourceAction>,
    /// Its place.
    pub span: Span,
}

/// How a key field is matched.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name for the control plane.
    pub name: String,
    /// The field looked up.
    pub target: FieldRef,
    /// Its width in bits.
    pub width: u32,
    /// The match kind.
    pub kind: Symbol,
    /// The mask that is applied first.
    pub mask: Option<BigInt>,
    /// Its type in the source.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Annotations,
}

/// A reference to an action with its values.
#[derive(Clone, Debug)]
pub struct ActionCall {
    /// The action, as index.
    pub action: usize,
    /// The value of each parameter.
    pub values: Vec<BigInt>,
}

/// What an entry matches in one key field.
#[derive(Clone, Debug)]
pub enum Match {
    /// One value.
    Exact(BigInt),
    /// A value and a mask.
    Ternary(BigInt, BigInt),
    /// A value and the length of its prefix.
    Lpm(BigInt, u32),
    /// From, to.
    Range(BigInt, BigInt),
}

/// An entry given in the program.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it matches.
    pub matches: Vec<Match>,

    /// What it does.
    pub call: ActionCall,
    /// Its rank: 1 is looked at first.
    pub order: u32,

    /// Its place.
    pub span: Span,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its full name.
    pub name: String,
    /// Its key.
    pub keys: Vec<Key>,
    /// Its actions, as indexes, with the annotations of the list.
    pub actions: Vec<(usize, Annotations)>,
    /// What a miss does.
    pub default: ActionCall,
    /// Whether the control plane may not change it.
    pub const_default: bool,
    /// Entries given in the program.
    pub entries: Option<Vec<Entry>>,
    /// Whether they are `const`.
    pub const_entries: bool,
    /// Number of entries it holds.
    pub size: u64,
    /// Its direct counter, as index.
    pub counter: Option<usize>,
    /// Its direct meter, as index.
    pub meter: Option<usize>,
    /// Its action profile or selector, as index.
    pub profile: Option<usize>,
    /// Whether entries age.
    pub timeout: bool,
    /// Its annotations.
    pub annotations: Annotations,
    /// Made by the compiler, unknown to the control plane.
    pub hidden: bool,
    /// Its place.
    pub span: Span,
}

/// What a counter or meter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of CounterType and MeterType")]
pub enum Unit {
    Packets,
    Bytes,
    Both,
}

/// A counter or meter.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Its full name.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// Number of cells; 0 if it is direct.
    pub size: u64,
    /// Whether its cells are those of a table.
    pub direct: bool,
    /// That table, as index.
    pub table: Option<usize>,
    /// Where a direct meter writes its result.
    pub result: Option<FieldRef>,
    /// Type of the index.
    pub index: Type,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
}

/// A register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its full name.
    pub name: String,
    /// Number of cells.
    pub size: u64,
    /// Width of a cell in bits.
    pub width: u32,
    /// Type of a cell.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
}

/// An action profile or selector.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its full name.
    pub name: String,
    /// Number of members.
    pub size: u64,
    /// Algorithm and inputs of a selector.
    pub selector: Option<(String, Vec<FieldRef>)>,
    /// Largest group.
    pub max_group: u64,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
    /// The tables that use it, as indexes.
    pub tables: Vec<usize>,
}

/// A hash or checksum over values.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub algorithm: String,
    /// Its input.
    pub input: Vec<Expr>,
    /// Whether the payload follows.
    pub payload: bool,
    /// Its place.
    pub span: Span,
}

/// A checksum that is verified or updated.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// The field that holds it.
    pub target: FieldRef,
    /// Its calculation, as index.
    pub calculation: usize,
    /// Verified in the parser, otherwise updated by the deparser.
    pub verify: bool,
    /// When.
    pub condition: Expr,
    /// Its place.
    pub span: Span,
}

/// Fields kept by clone, resubmit, recirculate; or sent by a digest.
#[derive(Clone, Debug)]
pub struct FieldList {
    /// Its name.
    pub name: String,
    /// Its number.
    pub id: u32,
    /// Its fields.
    pub fields: Vec<Expr>,
    /// For a digest, the type of what is sent, and its place.
    pub digest: Option<Type>,
    /// Its place.
    pub span: Span,
}

/// A parser value set.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its full name.
    pub name: String,
    /// Number of values.
    pub size: u64,
    /// Width of each part.
    pub widths: Vec<u32>,
    /// Type of an element.
    pub ty: Type,
    /// Its annotations.
    pub annotations: Annotations,
    /// Its place.
    pub span: Span,
}

/// An operation of a parser state.
#[derive(Clone, Debug)]
pub enum ParserOp {
    /// Extracts a header, and the bits of its varbit field.
    Extract(HeaderRef, Option<Expr>),
    /// Extracts a header of the next element of a stack of unions.
    ExtractUnion(usize, String),
    /// Sets a field.
    Set(FieldRef, Expr),
    /// Goes to reject with the error unless the condition holds.
    Verify(Expr, Expr),
    /// Moves on by a number of bits.
    Advance(Expr),
    /// Any other operation.
    Primitive(Primitive),
}

/// What a transition matches.
#[derive(Clone, Debug)]
pub enum Case {
    /// All keys, joined with each padded to bytes; and a mask.
    Value(BigInt, Option<BigInt>),
    /// A value set.
    ValueSet(usize),
    /// Anything.
    Default,
}

/// A parser state.
#[derive(Clone, Debug)]
pub struct ParserState {
    /// Its name.
    pub name: String,
    /// What it does.
    pub ops: Vec<ParserOp>,
    /// What decides where it goes.
    pub key: Vec<Expr>,
    /// Where it goes: `None` is accept.
    pub transitions: Vec<(Case, Option<usize>)>,
    /// Its place.
    pub span: Span,
}

/// A pipeline as a graph.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Name of its control's type, and place.
    pub control: String,
    /// Its place.
    pub span: Span,
    /// The first node.
    pub first: Option<Node>,
    /// Tables in it, as indexes, with what follows each.
    pub tables: Vec<(usize, Next)>,
    /// Its decisions.
    pub conditions: Vec<Condition>,
}

/// A node of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A table, by its index in the program.
    Table(usize),
    /// A decision, by its index in the pipeline.
    Condition(usize),
}

/// What follows a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The same for all.
    Any(Option<Node>),
    /// By hit and miss.
    HitMiss(Option<Node>, Option<Node>),
    /// By action, in the order of the table's actions.
    Action(Vec<Option<Node>>),
}

/// A decision in the graph.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What is asked.
    pub expr: Expr,
    /// Where it goes if so.
    pub yes: Option<Node>,
    /// Where it goes if not.
    pub no: Option<Node>,
    /// Its place.
    pub span: Span,
}

/// The whole program.
#[derive(Default)]
pub struct Ir {
    /// Header types.
    pub header_types: Vec<HeaderType>,
    /// Header instances.
    pub headers: Vec<Header>,
    /// Header stacks.
    pub stacks: Vec<Stack>,
    /// Header unions.
    pub unions: Vec<Union>,
    /// Stacks of unions.
    pub union_stacks: Vec<UnionStack>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Counters.
    pub counters: Vec<Meter>,
    /// Meters.
    pub meters: Vec<Meter>,
    /// Registers.
    pub registers: Vec<Register>,
    /// Action profiles and selectors.
    pub profiles: Vec<Profile>,
    /// Calculations.
    pub calculations: Vec<Calculation>,
    /// Checksums.
    pub checksums: Vec<Checksum>,
    /// Field lists.
    pub field_lists: Vec<FieldList>,
    /// Digests.
    pub learn_lists: Vec<FieldList>,
    /// Value sets.
    pub value_sets: Vec<ValueSet>,
    /// Parser states.
    pub states: Vec<ParserState>,
    /// Index of the first state.
    pub start: usize,
    /// Order of headers in the deparser.
    pub deparser: Vec<usize>,
    /// Other operations of the deparser.
    pub deparser_ops: Vec<Primitive>,
    /// Place of the deparser.
    pub deparser_span: Span,
    /// Ingress and egress.
    pub pipelines: Vec<Pipeline>,
    /// Actions and tables that the control plane may know, in the order of their declaration.
    pub listed_actions: Vec<usize>,
    /// See above.
    pub listed_tables: Vec<usize>,
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
