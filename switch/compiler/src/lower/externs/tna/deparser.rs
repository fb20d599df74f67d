//! Additional output of a deparser: mirrored copies, resubmitted packets, digests.

use num_bigint::BigInt;

use crate::{
    ir::{Arg, Expr, ExprKind, FieldList, FieldRef, Primitive, Stmt, Ty},
    lower::{
        Lowerer,
        arch::Block,
        externs::Args,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::BinaryOp,
    typed::{tree::Instance, types::Type},
};

/// A digest: the number of its learn list, and the storage of its data.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Digest {
    list: u32,
    data: Loc,
    when: Option<Expr>,
}

impl Lowerer<'_> {
    fn in_deparser(&mut self, what: &str, span: Span) -> bool {
        let inside = self.block == Block::Deparser;
        if !inside {
            self.error(span, format!("'{what}' can be called in deparsers only"));
        }
        inside
    }

    /// Adds statements that run if a field of the metadata has the `wanted` value; always if there is none.
    fn when(&mut self, field: &str, wanted: Option<Expr>, stmts: Vec<Stmt>, span: Span, out: &mut Vec<Stmt>) {
        match (wanted, self.for_deparser(field)) {
            (Some(wanted), Some(field)) => {
                let wanted = wanted.cast(field.ty);
                let condition = Expr::binary(BinaryOp::Eq, field, wanted, Ty::Bool);
                out.push(Stmt::If(condition, stmts, Vec::new(), span));
            }
            _ => out.extend(stmts),
        }
    }

    /// List of fields in front of the packet. Values that are not fields are saved in new variables.
    fn front(&mut self, what: &str, args: Args, i: usize, span: Span, out: &mut Vec<Stmt>) -> BigInt {
        let Some(Some(arg)) = args.get(i) else {
            return BigInt::from(-1);
        };
        let flexible = matches!(arg.ty, Type::Struct(id) if self.is_flexible(id));
        let data = self.value_arg(args, i, out);
        let mut fields = Vec::new();
        for value in self.inputs(data, span, out) {
            let value = match value.kind {
                ExprKind::Field(_) => value,
                _ => self.kept(value, span, out),
            };
            fields.push(value);
        }
        let bits: u32 = fields.iter().map(|f| f.ty.width()).sum();
        let missing = bits.next_multiple_of(8) - bits;
        if missing != 0 && flexible {
            fields.push(Expr::number(0, missing));
        } else if missing != 0 {
            self.error(
                span,
                format!("{what} puts {bits} bits in front of the packet; these must be whole bytes"),
            );
        }
        let number = self.ir.field_lists.len();
        BigInt::from(self.add_field_list(format!("{what}_{number}"), fields, span))
    }

    /// `emit(session [, header])`
    pub(super) fn mirror(&mut self, when: Option<Expr>, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        if self.in_deparser("emit", span) {
            let mut inner = Vec::new();
            let session = self.number_arg(args, 0, &mut inner);
            let list = self.front("mirror", args, 1, span, &mut inner);
            Self::push(&mut inner, "mirror", vec![Arg::Value(session), Arg::Number(list)], span);
            self.when("mirror_type", when, inner, span, out);
        }
        Value::Nothing
    }

    /// `emit([header])`
    pub(super) fn resubmit(&mut self, when: Option<Expr>, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        if self.in_deparser("emit", span) {
            let mut inner = Vec::new();
            let list = self.front("resubmit", args, 0, span, &mut inner);
            Self::push(&mut inner, "resubmit", vec![Arg::Number(list)], span);
            self.when("resubmit_type", when, inner, span, out);
        }
        Value::Nothing
    }

    /// Mirrored and resubmitted data is read at the end of the deparser. If a later statement writes one of its fields,
    /// a new variable saves the value at the call. `later` has the fields written after `stmts`; those written in
    /// `stmts` are added.
    pub(in crate::lower) fn with_sent_values(&mut self, stmts: Vec<Stmt>, later: &mut Vec<FieldRef>) -> Vec<Stmt> {
        let mut backwards = Vec::with_capacity(stmts.len());
        for stmt in stmts.into_iter().rev() {
            match stmt {
                Stmt::If(condition, yes, no, span) => {
                    let mut otherwise = later.clone();
                    let no = self.with_sent_values(no, &mut otherwise);
                    let yes = self.with_sent_values(yes, later);
                    later.extend(otherwise);
                    backwards.push(Stmt::If(condition, yes, no, span));
                }
                Stmt::Primitive(primitive) => {
                    let copies = self.copies_of_sent(&primitive, later);
                    later.extend(primitive.args.iter().filter_map(|arg| match arg {
                        Arg::Target(field) => Some(field.clone()),
                        _ => None,
                    }));
                    backwards.push(Stmt::Primitive(primitive));
                    backwards.extend(copies.into_iter().rev());
                }
                other => backwards.push(other),
            }
        }
        backwards.reverse();
        backwards
    }

    fn copies_of_sent(&mut self, primitive: &Primitive, later: &[FieldRef]) -> Vec<Stmt> {
        let mut copies = Vec::new();
        let (true, Some(Arg::Number(list))) = (matches!(primitive.op, "mirror" | "resubmit"), primitive.args.last())
        else {
            return copies;
        };
        let Some(index) = self.ir.field_lists.iter().position(|l| BigInt::from(l.id) == *list) else {
            return copies;
        };
        for i in 0..self.ir.field_lists[index].fields.len() {
            let value = self.ir.field_lists[index].fields[i].clone();
            if matches!(&value.kind, ExprKind::Field(field) if later.contains(field)) {
                let kept = self.kept(value, primitive.span, &mut copies);
                self.ir.field_lists[index].fields[i] = kept;
            }
        }
        copies
    }

    pub(super) fn digest_object(
        &mut self,
        types: &[Type],
        when: Option<Expr>,
        instance: &Instance,
        name: String,
    ) -> Option<Digest> {
        let ty = types.first().cloned().unwrap_or(Type::Unknown);
        let data = self.storage(&format!("{name}.data"), &ty, instance.span);
        let fields = self.inputs(Value::Place(data.clone()), instance.span, &mut Vec::new());
        let list = self.ir.learn_lists.len() as u32 + 1;
        self.ir.learn_lists.push(FieldList {
            name,
            id: list,
            fields,
            digest: Some(ty),
            span: instance.span,
        });
        Some(Digest { list, data, when })
    }

    /// Copies the data, because the digest is sent at the end of the pipeline.
    pub(super) fn pack(&mut self, digest: &Digest, args: Args, span: Span, out: &mut Vec<Stmt>) -> Value {
        if self.in_deparser("pack", span) {
            let mut inner = Vec::new();
            let data = self.value_arg(args, 0, &mut inner).read();
            self.assign(&digest.data, data, span, &mut inner);
            let kind = digest.when.clone().unwrap_or(Expr::number(0, 8));
            let args = vec![Arg::Value(kind), Arg::Number(BigInt::from(digest.list))];
            Self::push(&mut inner, "generate_digest", args, span);
            self.when("digest_type", digest.when.clone(), inner, span, out);
        }
        Value::Nothing
    }
}
