//! Cells that a statement reads and writes.

use std::collections::BTreeMap;

use crate::{
    ir::{Arg, EXECUTE_REGISTER_ACTION, Expr, ExprKind, FieldRef, HeaderRef, Ir, Primitive, RegisterAction, Stmt},
    syntax::ast::BinaryOp,
};

/// A field of a header, or the validity of a header: indexes of the header and of the field.
pub type Cell = (usize, Option<usize>);

/// Bits of a field, lowest first. The last one stands for all higher bits too.
pub type Bits = u128;

const ALL: Bits = !0;

/// A set of bits of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(BTreeMap<Cell, Bits>);

impl Cells {
    pub fn new() -> Cells {
        Cells::default()
    }

    /// True if the set has any bit of a cell.
    pub fn contains(&self, cell: &Cell) -> bool {
        self.0.contains_key(cell)
    }

    pub fn iter(&self) -> impl Iterator<Item = Cell> + '_ {
        self.0.keys().copied()
    }

    pub fn is_disjoint(&self, other: &Cells) -> bool {
        let meets = |(cell, bits): (&Cell, &Bits)| other.0.get(cell).is_some_and(|b| b & bits != 0);
        !self.0.iter().any(meets)
    }

    /// All bits of all fields in the set.
    pub fn whole(&self) -> Cells {
        self.iter().collect()
    }

    /// Bits in both sets.
    pub fn both(&self, other: &Cells) -> Cells {
        let rest = self.0.iter().map(|(c, bits)| (*c, bits & other.0.get(c).unwrap_or(&0)));
        rest.filter(|(_, bits)| *bits != 0).collect()
    }

    /// Bits that are not in the other set.
    pub fn without(&self, other: &Cells) -> Cells {
        let rest = self
            .0
            .iter()
            .map(|(c, bits)| (*c, bits & !other.0.get(c).unwrap_or(&0)));
        rest.filter(|(_, bits)| *bits != 0).collect()
    }
}

impl Extend<(Cell, Bits)> for Cells {
    fn extend<I: IntoIterator<Item = (Cell, Bits)>>(&mut self, iter: I) {
        for (cell, bits) in iter {
            *self.0.entry(cell).or_default() |= bits;
        }
    }
}

impl Extend<Cell> for Cells {
    fn extend<I: IntoIterator<Item = Cell>>(&mut self, iter: I) {
        self.extend(iter.into_iter().map(|c| (c, ALL)));
    }
}

impl<T> FromIterator<T> for Cells
where
    Cells: Extend<T>,
{
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Cells {
        let mut cells = Cells::new();
        cells.extend(iter);
        cells
    }
}

impl IntoIterator for Cells {
    type Item = (Cell, Bits);
    type IntoIter = std::collections::btree_map::IntoIter<Cell, Bits>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// `width` bits from bit `low` on.
fn bits(low: u32, width: u32) -> Bits {
    let ones = if width >= 128 { ALL } else { (1 << width) - 1 };
    if low + width > 128 { ALL } else { ones << low }
}

/// A resource, other than fields, that an operation uses.
#[derive(Clone, Debug, PartialEq)]
pub enum Use {
    /// A run of a register's stateful ALU: the register, the RegisterAction (none for `read` and `write`) and the cell.
    Register {
        register: usize,
        action: Option<usize>,
        index: Option<Expr>,
    },
    Counter(usize),
    /// A meter, or a filter (`Lpf`, `Wred`), which uses a meter: by name.
    Meter(String),
    Hash(u64),
    Random,
}

#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// Cells that must be on the crossbar before the stage begins.
    pub inputs: Cells,
    /// Cells that its ALUs read.
    pub reads: Cells,
    pub writes: Cells,
    pub uses: Vec<Use>,
}

impl Effect {
    pub fn add(&mut self, other: Effect) {
        self.inputs.extend(other.inputs);
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.uses.extend(other.uses);
    }
}

/// Headers that a reference may refer to.
pub fn headers(ir: &Ir, header: &HeaderRef) -> Vec<usize> {
    match header {
        HeaderRef::Static(h) => vec![*h],
        HeaderRef::Element(s, _) | HeaderRef::Next(s) | HeaderRef::Last(s) => ir.stacks[*s].elements.clone(),
    }
}

/// All fields of a header, and its validity.
fn whole(ir: &Ir, header: &HeaderRef) -> Cells {
    let each = headers(ir, header).into_iter().flat_map(|h| {
        let fields = 0..ir.header_types[ir.headers[h].ty].fields.len();
        fields.map(Some).chain([None]).map(move |f| (h, f))
    });
    each.collect()
}

fn union(ir: &Ir, union: usize) -> Cells {
    let members = ir.unions[union].members.iter();
    members.flat_map(|(_, h)| whole(ir, &HeaderRef::Static(*h))).collect()
}

/// Cells that an expression reads.
pub fn read_by(ir: &Ir, e: &Expr) -> Cells {
    let mut cells = Cells::new();
    read_bits(ir, e, &mut cells);
    cells
}

fn read_bits(ir: &Ir, e: &Expr, cells: &mut Cells) {
    // A slice reads only its bits.
    if let Some((of, low, width)) = slice_of(e)
        && let ExprKind::Field(FieldRef {
            header: HeaderRef::Static(h),
            field,
        }) = &of.kind
    {
        return cells.extend([((*h, Some(*field)), bits(low, width))]);
    }
    let mut own = false;
    match &e.kind {
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => read_bits(ir, a, cells),
        ExprKind::Binary(_, a, b) => {
            read_bits(ir, a, cells);
            read_bits(ir, b, cells);
        }
        ExprKind::Conditional(a, b, c) => {
            read_bits(ir, a, cells);
            read_bits(ir, b, cells);
            read_bits(ir, c, cells);
        }
        _ => own = true,
    }
    if !own {
        return;
    }
    visit(e, &mut |e| match &e.kind {
        ExprKind::Field(f) => cells.extend(headers(ir, &f.header).into_iter().map(|h| (h, Some(f.field)))),
        ExprKind::Valid(h) => cells.extend(headers(ir, h).into_iter().map(|h| (h, None))),
        ExprKind::ValidUnion(u) => cells.extend(ir.unions[*u].members.iter().map(|(_, h)| (*h, None))),
        _ => {}
    });
}

/// Operand, low bit and width, if the expression is a slice.
pub fn slice_of(e: &Expr) -> Option<(&Expr, u32, u32)> {
    let width = e.ty.width();
    let ExprKind::Cast(inner) = &e.kind else { return None };
    match &inner.kind {
        ExprKind::Binary(BinaryOp::Shr, of, by) => {
            let low = u32::try_from(by.as_int()?).ok()?;
            (low + width <= of.ty.width()).then_some((of, low, width))
        }
        _ => (width <= inner.ty.width()).then_some((&**inner, 0, width)),
    }
}

/// The value that an assignment stores in some bits of a field.
pub struct Deposit<'a> {
    pub value: &'a Expr,
    low: u32,
    width: u32,
}

/// The value of some bits of a field, if its other bits stay: `x[7:4] = value` (`lower/assign.rs`, `merge_slice`).
pub fn deposited<'a>(to: &FieldRef, e: &'a Expr) -> Option<Deposit<'a>> {
    let whole = e.ty.width();
    let ExprKind::Binary(BinaryOp::BitOr, kept, moved) = &strip(e).kind else {
        return None;
    };
    let ExprKind::Binary(BinaryOp::BitAnd, old, mask) = &strip(kept).kind else {
        return None;
    };
    let is_old = matches!(&strip(old).kind, ExprKind::Field(f) if f == to);
    let mask = mask.as_int().filter(|_| is_old)?;
    let holes: Vec<u32> = (0..whole).filter(|bit| !mask.bit(u64::from(*bit))).collect();
    let (low, width) = (*holes.first()?, holes.len() as u32);
    let value = match &strip(moved).kind {
        ExprKind::Binary(BinaryOp::Shl, value, by) if by.is_known() => strip(value),
        _ => strip(moved),
    };
    Some(Deposit { value, low, width })
}

/// An expression without the casts around it.
pub fn strip(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast(inner) => strip(inner),
        _ => e,
    }
}

/// Calls `see` for an expression and all expressions in it.
pub fn visit(e: &Expr, see: &mut impl FnMut(&Expr)) {
    see(e);
    let index = |h: &HeaderRef, see: &mut _| {
        if let HeaderRef::Element(_, index) = h {
            visit(index, see);
        }
    };
    match &e.kind {
        ExprKind::Field(f) => index(&f.header, see),
        ExprKind::Valid(h) => index(h, see),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => visit(a, see),
        ExprKind::Binary(_, a, b) => {
            visit(a, see);
            visit(b, see);
        }
        ExprKind::Conditional(a, b, c) => {
            visit(a, see);
            visit(b, see);
            visit(c, see);
        }
        _ => {}
    }
}

/// Calls `see` for every statement, also for nested ones.
pub fn each_stmt<'a>(stmts: &'a [Stmt], see: &mut impl FnMut(&'a Stmt)) {
    use crate::ir::Outcome;
    for stmt in stmts {
        see(stmt);
        match stmt {
            Stmt::If(_, yes, no, _) | Stmt::Apply(_, Outcome::HitMiss(yes, no), _) => {
                each_stmt(yes, see);
                each_stmt(no, see);
            }
            Stmt::Block(_, inner) | Stmt::Loop(inner, _) => each_stmt(inner, see),
            Stmt::Apply(_, Outcome::Action(cases, rest), _) => {
                cases.iter().for_each(|(_, c)| each_stmt(c, see));
                each_stmt(rest, see);
            }
            _ => {}
        }
    }
}

/// Cells that a RegisterAction reads from outside: not the cell, its results or its own variables.
pub fn outside(ir: &Ir, action: &RegisterAction) -> Cells {
    let (mut read, mut own) = (Cells::new(), Cells::new());
    each_stmt(&action.body, &mut |stmt| match stmt {
        Stmt::If(condition, ..) => read.extend(read_by(ir, condition)),
        Stmt::Primitive(p) => {
            let e = effect(ir, p);
            read.extend(e.reads);
            read.extend(e.inputs);
            own.extend(e.writes);
        }
        _ => {}
    });
    for field in action.value.iter().chain(&action.results) {
        own.extend(headers(ir, &field.header).into_iter().map(|h| (h, Some(field.field))));
    }
    read.without(&own)
}

/// Name in an operation's argument of this kind.
pub fn named<'a>(p: &'a Primitive, wanted: &str) -> Option<&'a str> {
    p.args.iter().find_map(|a| match a {
        Arg::Named(kind, name) if *kind == wanted => Some(name.as_str()),
        _ => None,
    })
}

fn value(p: &Primitive) -> Option<&Expr> {
    p.args.iter().find_map(|a| match a {
        Arg::Value(e) => Some(e),
        _ => None,
    })
}

/// An index without the mask of the register's size: the chip wraps addresses itself.
pub fn address(index: &Expr) -> Expr {
    match &index.kind {
        ExprKind::Binary(BinaryOp::BitAnd, a, mask) if mask.is_known() => address(a),
        ExprKind::Cast(inner) if inner.ty.width() <= index.ty.width() => address(inner),
        _ => index.clone(),
    }
}

/// Cells that an operation reads, writes and uses.
pub fn effect(ir: &Ir, p: &Primitive) -> Effect {
    let mut e = Effect::default();
    if let ("assign", [Arg::Target(to), Arg::Value(value)]) = (p.op, p.args.as_slice())
        && let Some(deposit) = deposited(to, value)
    {
        e.reads = read_by(ir, deposit.value);
        let at = bits(deposit.low, deposit.width);
        e.writes
            .extend(headers(ir, &to.header).into_iter().map(|h| ((h, Some(to.field)), at)));
        return e;
    }
    for arg in &p.args {
        match arg {
            Arg::Value(v) => e.reads.extend(read_by(ir, v)),
            Arg::Values(list) => list.iter().for_each(|v| e.reads.extend(read_by(ir, v))),
            Arg::Target(f) => e
                .writes
                .extend(headers(ir, &f.header).into_iter().map(|h| (h, Some(f.field)))),
            _ => {}
        }
    }
    let mut by_crossbar = true;
    match p.op {
        EXECUTE_REGISTER_ACTION => {
            let at = named(p, "register_action").and_then(|n| ir.register_actions.iter().position(|a| a.name == n));
            if let Some(at) = at {
                let action = &ir.register_actions[at];
                e.inputs.extend(outside(ir, action));
                e.uses.push(Use::Register {
                    register: action.register,
                    action: Some(at),
                    index: value(p).map(address),
                });
            }
        }
        "register_read" | "register_write" => {
            let at = named(p, "register_array").and_then(|n| ir.registers.iter().position(|r| r.name == n));
            e.uses.extend(at.map(|register| Use::Register {
                register,
                action: None,
                index: value(p).map(address),
            }));
        }
        "count" => {
            let at = named(p, "counter_array").and_then(|n| ir.counters.iter().position(|c| c.name == n));
            e.uses.extend(at.map(Use::Counter));
        }
        "execute_meter" | "execute_lpf" | "execute_wred" => {
            let name = p.args.iter().find_map(|a| match a {
                Arg::Named(_, name) => Some(name.clone()),
                _ => None,
            });
            e.uses.extend(name.map(Use::Meter));
        }
        "modify_field_with_hash_based_offset" => {
            let width = p.args.iter().find_map(|a| match a {
                Arg::Target(f) => Some(u64::from(ir.field(f).width)),
                _ => None,
            });
            let at = named(p, "calculation").and_then(|n| ir.calculations.iter().find(|c| c.name == n));
            for input in at.iter().flat_map(|c| &c.input) {
                e.inputs.extend(read_by(ir, input));
            }
            e.uses.push(Use::Hash(width.unwrap_or(0)));
        }
        "modify_field_rng_uniform" => e.uses.push(Use::Random),
        _ => {
            by_crossbar = false;
            of_headers(ir, p, &mut e);
        }
    }
    if by_crossbar {
        e.inputs.extend(std::mem::take(&mut e.reads));
    }
    e
}

/// Operations on whole headers.
fn of_headers(ir: &Ir, p: &Primitive, e: &mut Effect) {
    let all = |arg: &Arg| match arg {
        Arg::Header(h) => whole(ir, h),
        Arg::Stack(s) => whole(ir, &HeaderRef::Last(*s)),
        Arg::Union(u) => union(ir, *u),
        Arg::UnionStack(s) => ir.union_stacks[*s]
            .elements
            .iter()
            .flat_map(|u| union(ir, *u))
            .collect(),
        _ => Cells::new(),
    };
    let is_validity = |(c, _): &(Cell, Bits)| c.1.is_none();
    match (p.op, p.args.as_slice()) {
        ("add_header" | "remove_header", [header, ..]) => e.writes.extend(all(header).into_iter().filter(is_validity)),
        ("assign_header" | "assign_header_stack" | "assign_union" | "assign_union_stack", [to, from]) => {
            e.writes.extend(all(to));
            e.reads.extend(all(from));
        }
        _ => {
            for arg in &p.args {
                e.reads.extend(all(arg));
                e.writes.extend(all(arg));
            }
        }
    }
}

/// True for a temporary of the compiler.
pub fn is_temporary(ir: &Ir, (header, field): Cell) -> bool {
    let header = &ir.headers[header];
    let name = field.map(|f| &ir.header_types[header.ty].fields[f].name);
    header.metadata && name.is_some_and(|n| n.starts_with("tmp"))
}
