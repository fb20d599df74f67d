//! Functions and objects of the architectures as primitives. This file has the parts common to all architectures.

pub(super) mod tna;
pub(super) mod v1model;

use super::{
    Lowerer, Object,
    assign::target,
    value::{Loc, Value},
};
use crate::{
    arch::Arch,
    ir::{Arg, Calculation, Expr, ExprKind, FieldList, FieldRef, HeaderRef, Stmt, Ty},
    source::Span,
    typed::{
        tree::{self, Instance},
        types::{ExternFnId, InstanceId, Type},
    },
};

/// Arguments of a call; `None` for a missing argument.
type Args<'a> = &'a [Option<tree::Expr>];

impl Lowerer<'_> {
    /// Makes an instance of an extern with the full name `name`.
    pub(super) fn extern_instance(
        &mut self,
        id: InstanceId,
        kind: &str,
        types: &[Type],
        instance: &Instance,
        name: String,
    ) -> Object {
        match (kind, self.ir.arch) {
            ("packet_in", _) => Object::PacketIn,
            ("packet_out", _) => Object::PacketOut,
            (_, Arch::V1model) => self.v1model_object(kind, types, instance, name),
            (_, Arch::Tna | Arch::T2na) => self.tna_object(id, kind, types, instance, name),
        }
    }

    pub(super) fn call_extern(
        &mut self,
        id: ExternFnId,
        types: &[Type],
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let name = self.program.extern_functions[id.index()].name.clone();
        match self.ir.arch {
            Arch::V1model => self.v1model_function(&name, args, span, out),
            Arch::Tna | Arch::T2na => self.tna_function(&name, types, args, span, out),
        }
    }

    pub(super) fn call_method(
        &mut self,
        object: &tree::Expr,
        method: usize,
        types: &[Type],
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let Type::Extern(id, _) = &object.ty else {
            return Value::Nothing;
        };
        let name = self.program.externs[id.index()].methods[method].name.clone();
        let Value::Object(instance) = self.value(object, out) else {
            return Value::Nothing;
        };
        match (&instance, &*name, self.ir.arch) {
            (Object::PacketIn, _, _) => self.packet_in(&name, types, args, span, out),
            (Object::PacketOut, "emit", _) => {
                self.emit(args, span, out);
                Value::Nothing
            }
            (Object::Unsupported, _, _) => Value::Nothing,
            (_, _, Arch::V1model) => self.v1model_method(instance, &name, args, span, out),
            (_, _, Arch::Tna | Arch::T2na) => self.tna_method(instance, &name, args, span, out),
        }
    }

    fn count(&mut self, counter: usize, args: Args, span: Span, out: &mut Vec<Stmt>) {
        if self.ir.counters[counter].direct {
            // BMv2 counts every hit of the table itself.
            return;
        }
        let name = Arg::Named("counter_array", self.ir.counters[counter].name.clone());
        let index = self.number_arg(args, 0, out);
        Self::push(out, "count", vec![name, Arg::Value(index)], span);
    }

    /// Argument `i` as a number.
    fn number_arg(&mut self, args: Args, i: usize, out: &mut Vec<Stmt>) -> Expr {
        match self.value_arg(args, i, out) {
            Value::Nothing => Expr::number(0, 32),
            value => value.scalar(),
        }
    }

    /// Argument `i`, saved before later arguments are evaluated.
    fn value_arg(&mut self, args: Args, i: usize, out: &mut Vec<Stmt>) -> Value {
        let Some(Some(e)) = args.get(i) else {
            return Value::Nothing;
        };
        let value = self.value(e, out);
        if args[i + 1..].iter().flatten().any(tree::Expr::has_effects) {
            return self.saved(value, e.span, out);
        }
        value
    }

    fn place_arg(&mut self, args: Args, i: usize, out: &mut Vec<Stmt>) -> Loc {
        let arg = args.get(i).and_then(Option::as_ref);
        arg.map_or(Loc::Nowhere, |e| self.place(e, out))
    }

    /// A primitive that writes argument `i`: `make` gets the field to write. If the argument is not a whole field, it
    /// gets the result through a new variable.
    fn writing(
        &mut self,
        args: Args,
        i: usize,
        ty: Ty,
        span: Span,
        out: &mut Vec<Stmt>,
        make: impl FnOnce(FieldRef) -> (&'static str, Vec<Arg>),
    ) {
        let place = self.place_arg(args, i, out);
        if let Some(field) = target(&place).filter(|f| matches!(f.header, HeaderRef::Static(_))) {
            let (op, args) = make(field);
            Self::push(out, op, args, span);
            return;
        }
        let variable = self.temporary(ty, span);
        let Some(field) = target(&variable) else { return };
        let (op, args) = make(field);
        Self::push(out, op, args, span);
        self.assign(&place, variable.read(), span, out);
    }

    fn arg_type(&self, args: Args, i: usize, otherwise: Ty) -> Ty {
        let arg = args.get(i).and_then(Option::as_ref);
        arg.and_then(|e| self.scalar_type(&e.ty)).unwrap_or(otherwise)
    }

    /// Saves a value in a new variable.
    pub(in crate::lower) fn kept(&mut self, value: Expr, span: Span, out: &mut Vec<Stmt>) -> Expr {
        let variable = self.temporary(value.ty, span);
        self.assign(&variable, Value::Scalar(value), span, out);
        variable.read().scalar()
    }

    /// Inputs of a hash. Each is a field or a constant with a width; other values are saved in new variables.
    pub(super) fn inputs(&mut self, value: Value, span: Span, out: &mut Vec<Stmt>) -> Vec<Expr> {
        match value {
            Value::Scalar(e) => {
                let direct = match &e.kind {
                    ExprKind::Int(_) => true,
                    ExprKind::Field(f) => matches!(f.header, HeaderRef::Static(_)),
                    _ => false,
                };
                if direct {
                    return vec![e];
                }
                vec![self.kept(e, span, out)]
            }
            Value::List(parts) | Value::Header(parts) => {
                parts.into_iter().flat_map(|p| self.inputs(p, span, out)).collect()
            }
            Value::Place(Loc::Header(header, id)) => {
                let fields = self.header_fields(&header, id);
                fields.iter().flat_map(|f| self.inputs(f.read(), span, out)).collect()
            }
            Value::Place(loc @ Loc::Struct(_)) => self.inputs(loc.read(), span, out),
            Value::Place(loc) => {
                let mut list = Vec::new();
                for header in self.headers_in(&loc) {
                    let fields = self.ir.header_types[self.ir.headers[header].ty].fields.clone();
                    for (i, field) in fields.iter().enumerate() {
                        let place = FieldRef::new(HeaderRef::Static(header), i);
                        let ty = Ty::Bits {
                            signed: field.signed,
                            width: field.width,
                        };
                        list.push(Expr::new(ExprKind::Field(place), ty));
                    }
                }
                list
            }
            _ => Vec::new(),
        }
    }

    fn calculation(&mut self, algorithm: String, input: Vec<Expr>, payload: bool, span: Span) -> usize {
        let n = self.ir.calculations.len();
        let name = if n == 0 {
            "calc".to_owned()
        } else {
            format!("calc_{}", n - 1)
        };
        self.ir.calculations.push(Calculation {
            name,
            algorithm,
            input,
            payload,
            span,
            parameters: None,
        });
        n
    }

    fn add_field_list(&mut self, name: String, fields: Vec<Expr>, span: Span) -> u32 {
        let id = self.ir.field_lists.len() as u32 + 1;
        self.ir.field_lists.push(FieldList {
            name,
            id,
            fields,
            digest: None,
            span,
        });
        id
    }
}

/// The numbers in a value.
fn flatten(value: Value, out: &mut Vec<Expr>) {
    match value {
        Value::Scalar(e) => out.push(e),
        Value::List(parts) => parts.into_iter().for_each(|p| flatten(p, out)),
        _ => {}
    }
}
