//! The deparser: the order in which headers are put in front of the payload.

use super::{Block, Lowerer, value::Value};
use crate::{
    ir::{Arg, HeaderRef, Stmt},
    source::Span,
    typed::tree,
};

impl Lowerer<'_> {
    pub(super) fn emit(&mut self, args: &[Option<tree::Expr>], span: Span, out: &mut Vec<Stmt>) {
        if self.block != Block::Deparser {
            self.error(span, "'emit' can be called in the deparser only");
            return;
        }
        let Some(Some(arg)) = args.first() else { return };
        let mut headers = Vec::new();
        match self.value(arg, out) {
            Value::Place(loc) => headers = self.headers_in(&loc),
            Value::List(parts) => {
                for part in parts {
                    if let Value::Place(loc) = part {
                        headers.extend(self.headers_in(&loc));
                    }
                }
            }
            Value::Nothing => return,
            _ => self.error(arg.span, "emit takes headers, stacks, unions and structs of these"),
        }
        for header in headers {
            Self::push(out, "emit", vec![Arg::Header(HeaderRef::Static(header))], span);
        }
    }

    pub(super) fn deparser(&mut self, span: Span, stmts: Vec<Stmt>) {
        self.ir.deparser_span = span;
        for stmt in super::flow::flattened(stmts) {
            match stmt {
                Stmt::Primitive(p) if p.op == "emit" => {
                    if let Some(Arg::Header(HeaderRef::Static(header))) = p.args.first() {
                        self.ir.deparser.push(*header);
                    }
                }
                Stmt::Primitive(p) if self.ir.deparser.is_empty() => self.ir.deparser_ops.push(p),
                Stmt::Primitive(p) => {
                    self.error(p.span, "BMv2's deparser can do nothing else after the first emit");
                }
                Stmt::If(_, _, _, span) | Stmt::Apply(_, _, span) | Stmt::Loop(_, span) | Stmt::Exit(span) => {
                    let message = "BMv2's deparser takes no conditions: invalid headers are skipped anyway";
                    self.error(span, message);
                }
                Stmt::Block(..) | Stmt::Break(_) => {}
            }
        }
    }

    /// A header that is emitted twice appears twice on BMv2 too. That is a mistake of the program.
    pub(super) fn deparser_check(&mut self) {
        let mut seen = std::collections::HashSet::new();
        let twice = self.ir.deparser.iter().find(|h| !seen.insert(**h)).copied();
        if let Some(header) = twice {
            let message = format!(
                "the header '{}' is emitted more than once",
                self.ir.headers[header].name
            );
            self.reporter.warning("emit", self.ir.deparser_span, message);
        }
    }
}
