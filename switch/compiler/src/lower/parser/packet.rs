//! The methods of `packet_in`.

use crate::{
    ir::{Arg, Expr, ExprKind, HeaderRef, Stmt, Ty},
    lower::{
        Lowerer,
        arch::Block,
        assign::target,
        value::{Loc, Value},
    },
    source::Span,
    typed::{tree, types::Type},
};

impl Lowerer<'_> {
    pub(in crate::lower) fn packet_in(
        &mut self,
        method: &str,
        types: &[Type],
        args: &[Option<tree::Expr>],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if self.block != Block::Parser {
            self.error(span, "a packet can be read in parsers only");
            return Value::Nothing;
        }
        match method {
            "extract" => self.extract(types, args, span, out),
            "lookahead" => {
                let mut offset = 0;
                return self.lookahead(types.first().unwrap_or(&Type::Unknown), &mut offset, span, out);
            }
            "advance" => {
                let bits = match args.first().and_then(Option::as_ref) {
                    Some(e) => self.scalar_of(e, out),
                    None => return Value::Nothing,
                };
                Self::push(out, "advance", vec![Arg::Value(bits)], span);
            }
            _ => {
                let message = format!("'{method}' is not supported by BMv2; standard_metadata.packet_length is");
                self.error(span, message);
            }
        }
        Value::Nothing
    }

    fn extract(&mut self, types: &[Type], args: &[Option<tree::Expr>], span: Span, out: &mut Vec<Stmt>) {
        let Some(Some(arg)) = args.first() else {
            // `extract<H>(_)` skips a header.
            let width = types
                .first()
                .and_then(|t| self.program.types.width(t, false))
                .unwrap_or(0);
            Self::push(out, "advance", vec![Arg::Value(Expr::number(width, 32))], span);
            return;
        };
        let varbit = match &arg.ty {
            Type::Struct(id) => self
                .program
                .types
                .get(*id)
                .fields
                .iter()
                .any(|f| matches!(f.ty, Type::Varbit(_))),
            _ => false,
        };
        let size = args.get(1).and_then(Option::as_ref);
        if varbit != size.is_some() {
            let message = if varbit {
                "a header with a varbit field is extracted with the field's size: extract(hdr, bits)"
            } else {
                "extract takes a size only for headers with a varbit field"
            };
            self.error(span, message);
            return;
        }
        self.extracting = true;
        let place = self.place(arg, out);
        self.extracting = false;
        let mut list = match &place {
            Loc::Header(header @ (HeaderRef::Static(_) | HeaderRef::Next(_)), _) => vec![Arg::Header(header.clone())],
            Loc::NextUnionMember(stack, member) => {
                vec![Arg::UnionStack(*stack), Arg::Text(member.as_str().into())]
            }
            Loc::Nowhere => return,
            _ => {
                self.error(arg.span, "BMv2 extracts to a header, or to the next element of a stack");
                return;
            }
        };
        match size {
            Some(size) => {
                let size = self.scalar_of(size, out);
                list.push(Arg::Value(size));
                Self::push(out, "extract_VL", list, span);
            }
            None => Self::push(out, "extract", list, span),
        }
    }

    /// The next bits of the packet as a value.
    pub(in crate::lower) fn lookahead(
        &mut self,
        ty: &Type,
        offset: &mut u32,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        if let Some(scalar) = self.scalar_type(ty) {
            let width = scalar.width();
            let ahead = Expr::new(ExprKind::Lookahead(*offset, width), Ty::bit(width));
            *offset += width;
            // BMv2 takes a lookahead only as a whole value, not within an expression.
            let variable = self.temporary(scalar, span);
            if let Some(field) = target(&variable) {
                Self::push(out, "assign", vec![Arg::Target(field), Arg::Value(ahead)], span);
            }
            return variable.read();
        }
        match ty {
            Type::Struct(id) => {
                let def = self.program.types.get(*id);
                let (fields, kind) = (def.fields.clone(), def.kind);
                let values = fields
                    .iter()
                    .map(|f| self.lookahead(&f.ty, offset, span, out))
                    .collect();
                if kind == crate::syntax::ast::Composite::Header {
                    Value::Header(values)
                } else {
                    Value::List(values)
                }
            }
            Type::Tuple(types) => Value::List(types.iter().map(|t| self.lookahead(t, offset, span, out)).collect()),
            Type::Stack(element, n) => {
                Value::List((0..*n).map(|_| self.lookahead(element, offset, span, out)).collect())
            }
            Type::Unknown => Value::Nothing,
            other => {
                let shown = self.show(other);
                self.error(span, format!("lookahead needs a type of fixed size, not {shown}"));
                Value::Nothing
            }
        }
    }
}
