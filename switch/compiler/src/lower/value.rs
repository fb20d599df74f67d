//! Places and values of any type, and instances that hold them.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::{
    ir::{Expr, ExprKind, FieldRef, HeaderRef, Ir, Ty},
    syntax::token::Symbol,
    typed::types::{ControlId, InstanceId, ParserId, StructId, TableId, ValueSetId, VarId},
};

#[derive(Clone, Debug)]
pub(super) enum Object {
    Control(ControlId, FrameRef),
    Parser(ParserId, FrameRef),
    Counter(usize),
    Meter(usize),
    Register(usize),
    Profile(usize),
    /// An extern of TNA.
    Tna(usize),
    PacketIn,
    PacketOut,
    Unsupported,
}

/// Frame of a parser or control instance while its body is lowered.
#[derive(Debug)]
pub(super) struct Frame {
    /// Full name of the instance.
    pub path: String,
    pub vars: HashMap<VarId, Value>,
    pub objects: HashMap<InstanceId, Object>,
    pub tables: HashMap<TableId, usize>,
    pub value_sets: HashMap<ValueSetId, usize>,
}

pub(super) type FrameRef = Rc<RefCell<Frame>>;

impl Frame {
    pub fn new(path: String) -> FrameRef {
        Rc::new(RefCell::new(Frame {
            path,
            vars: HashMap::new(),
            objects: HashMap::new(),
            tables: HashMap::new(),
            value_sets: HashMap::new(),
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) enum Loc {
    Field(FieldRef, Ty),
    /// Some bits of a field: high and low.
    Slice(FieldRef, Ty, u32, u32),
    Header(HeaderRef, StructId),
    /// A struct or tuple.
    Struct(Vec<Loc>),
    /// A header stack, with the struct of its elements.
    Stack(usize, StructId),
    Union(usize, StructId),
    /// A stack of header unions.
    UnionStack(usize, StructId),
    /// The next element of a stack of unions.
    NextUnion(usize, StructId),
    /// A member of the next element of a stack of unions.
    NextUnionMember(usize, String),
    /// No place: the result is not used.
    Nowhere,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number or bool.
    Scalar(Expr),
    /// The value of a place: a header, struct, stack or union.
    Place(Loc),
    /// A struct or tuple.
    List(Vec<Value>),
    /// A valid header with these fields.
    Header(Vec<Value>),
    Invalid,
    Text(Symbol),
    Object(Object),
    /// No value, or an error.
    Nothing,
}

impl Loc {
    /// Value in this place.
    pub fn read(&self) -> Value {
        match self {
            Loc::Field(f, ty) => Value::Scalar(Expr::new(ExprKind::Field(f.clone()), *ty)),
            Loc::Slice(f, ty, high, low) => {
                let whole = Expr::new(ExprKind::Field(f.clone()), *ty);
                Value::Scalar(whole.slice(*high, *low))
            }
            Loc::Struct(parts) => Value::List(parts.iter().map(Loc::read).collect()),
            Loc::Nowhere => Value::Nothing,
            other => Value::Place(other.clone()),
        }
    }

    /// True if the place depends on a run-time value or on the state of the parser.
    pub fn is_dynamic(&self) -> bool {
        let moving = |h: &HeaderRef| !matches!(h, HeaderRef::Static(_));
        match self {
            Loc::Field(f, _) | Loc::Slice(f, ..) => moving(&f.header),
            Loc::Header(h, _) => moving(h),
            Loc::Struct(parts) => parts.iter().any(Loc::is_dynamic),
            Loc::NextUnion(..) | Loc::NextUnionMember(..) => true,
            _ => false,
        }
    }

    /// Headers and fields in the place; `None` for a whole header.
    pub fn cells(&self, ir: &Ir) -> Vec<(usize, Option<usize>)> {
        let headers = |h: &HeaderRef| match h {
            HeaderRef::Static(h) => vec![*h],
            HeaderRef::Element(s, _) | HeaderRef::Next(s) | HeaderRef::Last(s) => ir.stacks[*s].elements.clone(),
        };
        let union = |u: usize| ir.unions[u].members.iter().map(|(_, h)| (*h, None)).collect::<Vec<_>>();
        match self {
            Loc::Field(f, _) | Loc::Slice(f, ..) => {
                headers(&f.header).into_iter().map(|h| (h, Some(f.field))).collect()
            }
            Loc::Header(h, _) => headers(h).into_iter().map(|h| (h, None)).collect(),
            Loc::Struct(parts) => parts.iter().flat_map(|p| p.cells(ir)).collect(),
            Loc::Stack(s, _) => ir.stacks[*s].elements.iter().map(|h| (*h, None)).collect(),
            Loc::Union(u, _) => union(*u),
            Loc::UnionStack(s, _) | Loc::NextUnion(s, _) | Loc::NextUnionMember(s, _) => {
                ir.union_stacks[*s].elements.iter().flat_map(|u| union(*u)).collect()
            }
            Loc::Nowhere => Vec::new(),
        }
    }
}

/// True if two sets of cells overlap.
pub(super) fn overlap(a: &[(usize, Option<usize>)], b: &[(usize, Option<usize>)]) -> bool {
    a.iter()
        .any(|(h, f)| b.iter().any(|(i, g)| h == i && (f.is_none() || g.is_none() || f == g)))
}

impl Value {
    /// Reads the value of a place; other values stay the same.
    pub fn read(self) -> Value {
        match self {
            Value::Place(loc) => loc.read(),
            value => value,
        }
    }

    /// The number or bool; zero after an error.
    pub fn scalar(self) -> Expr {
        match self {
            Value::Scalar(e) => e,
            _ => Expr::number(0, 1),
        }
    }

    /// Headers and fields that it reads.
    pub fn cells(&self, ir: &Ir) -> Vec<(usize, Option<usize>)> {
        match self {
            Value::Scalar(e) => {
                let mut list = Vec::new();
                e.visit_fields(&mut |h, field| {
                    let field = FieldRef::new(h.clone(), field.unwrap_or(0));
                    list.extend(Loc::Field(field, Ty::Bool).cells(ir));
                });
                list
            }
            Value::Place(loc) => loc.cells(ir),
            Value::List(parts) | Value::Header(parts) => parts.iter().flat_map(|p| p.cells(ir)).collect(),
            _ => Vec::new(),
        }
    }
}
