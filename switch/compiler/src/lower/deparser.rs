//! The deparser: the order in which headers are put in front of the payload.

use super::{Lowerer, arch::Block, value::Value};
use crate::{
    ir::{Arg, HeaderRef, Primitive, Stmt},
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

    /// The header that a primitive emits.
    pub(super) fn emitted(emit: &Primitive) -> Option<usize> {
        match emit.args.first() {
            Some(Arg::Header(HeaderRef::Static(header))) => Some(*header),
            _ => None,
        }
    }

    /// Warns if a header is emitted twice: the switch emits it twice too, so this is a mistake of the program.
    pub(super) fn check_emitted(&mut self) {
        for deparser in &self.ir.deparsers {
            let mut seen = std::collections::HashSet::new();
            if let Some(header) = deparser.order.iter().find(|h| !seen.insert(**h)) {
                let message = format!(
                    "the header '{}' is emitted more than once",
                    self.ir.headers[*header].name
                );
                self.reporter.warning("emit", deparser.span, message);
            }
        }
    }
}
