//! Statements (specification section 12).

use super::{NameKind, Parsed, Parser};
use crate::syntax::{
    ast::{BinaryOp, Block, Decl, DeclKind, Expr, ExprKind, Stmt, StmtKind, SwitchCase},
    token::Tok,
};

impl Parser<'_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        let start = self.expect("{")?;
        self.scoped(|p| {
            let mut stmts = Vec::new();
            while !p.eat("}") {
                if p.peek() == &Tok::End {
                    return p.error_at(start, "'{' without '}'");
                }
                match p.statement() {
                    Ok(s) => stmts.push(s),
                    Err(failed) if p.quiet => return Err(failed),
                    Err(_) => p.skip_statement()?,
                }
            }
            Ok(Block { stmts })
        })
    }

    /// After an error, skips past the next `;` of this block, or to its `}`.
    fn skip_statement(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::End => return Err(super::Failed),
                Tok::Punct("{") => depth += 1,
                Tok::Punct("}") if depth == 0 => return Ok(()),
                Tok::Punct("}") => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return Ok(());
                    }
                }
                Tok::Punct(";") if depth == 0 => {
                    self.advance();
                    return Ok(());
                }
                _ => {}
            }
            self.advance();
        }
    }

    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        self.nested(Self::statement_here)
    }

    fn statement_here(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = match self.peek().clone() {
            Tok::Punct(";") => {
                self.advance();
                StmtKind::Empty
            }
            Tok::Punct("{") => StmtKind::Block(self.block()?),
            Tok::Punct("@") => return self.annotated_statement(),
            Tok::Word(word) => match &*word {
                "if" => self.if_statement()?,
                "switch" => self.switch()?,
                "for" if self.peek_at(1) == &Tok::Punct("(") => self.for_statement()?,
                "exit" | "break" | "continue" if self.peek_at(1) == &Tok::Punct(";") => {
                    self.advance();
                    self.advance();
                    match &*word {
                        "exit" => StmtKind::Exit,
                        "break" => StmtKind::Break,
                        _ => StmtKind::Continue,
                    }
                }
                "return" => {
                    self.advance();
                    let value = if self.is(";") { None } else { Some(self.expr()?) };
                    self.expect(";")?;
                    StmtKind::Return(value)
                }
                _ if self.at_local_declaration() => {
                    let decl = self.local_declaration()?;
                    StmtKind::Decl(Box::new(decl))
                }
                _ => self.assignment_or_call(true)?,
            },
            Tok::Punct(".") => self.assignment_or_call(true)?,
            _ => return self.expected("a statement"),
        };
        Ok(Stmt {
            kind,
            span: start.to(self.previous_span()),
        })
    }

    fn annotated_statement(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let annotations = self.annotations()?;
        let mut stmt = self.statement()?;
        if let StmtKind::Decl(decl) = &mut stmt.kind {
            decl.annotations.splice(0..0, annotations);
        }
        stmt.span = start.to(stmt.span);
        Ok(stmt)
    }

    /// True if a declaration of a constant, variable or instance starts here.
    pub(super) fn at_local_declaration(&self) -> bool {
        if self.is_word("const") {
            return true;
        }
        if self.at_base_type() {
            return !matches!(self.peek_at(1), Tok::Punct("." | "="));
        }
        let Tok::Word(_) = self.peek() else { return false };
        match self.peek_at(1) {
            Tok::Word(_) => true,
            Tok::Punct("<" | "[" | "(") => self.at_type_name(),
            _ => false,
        }
    }

    pub(super) fn local_declaration(&mut self) -> Parsed<Decl> {
        let start = self.span();
        if self.is_word("const") {
            return self.constant(Vec::new());
        }
        // `Control.apply(...)` has been handled before; `Control(...) name;` is an instance.
        let ty = self.type_expr()?;
        if self.is("(") {
            return self.instance(Vec::new(), ty);
        }
        let name = self.ident("the name of a variable")?;
        let value = if self.eat("=") { Some(self.expr()?) } else { None };
        self.expect(";")?;
        self.declare(&name.name, NameKind::Value);
        let span = start.to(self.previous_span());
        Ok(Decl {
            annotations: Vec::new(),
            name,
            kind: DeclKind::Variable(ty, value),
            span,
        })
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        let condition = self.expr()?;
        self.expect(")")?;
        let yes = self.statement()?;
        let no = if self.eat_word("else") {
            Some(Box::new(self.statement()?))
        } else {
            None
        };
        Ok(StmtKind::If(condition, Box::new(yes), no))
    }

    fn switch(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        let selector = self.expr()?;
        self.expect(")")?;
        self.expect("{")?;
        let mut cases = Vec::new();
        while !self.eat("}") {
            let span = self.span();
            let label = if self.eat_word("default") {
                None
            } else {
                Some(self.switch_label()?)
            };
            self.expect(":")?;
            let block = if self.is("{") { Some(self.block()?) } else { None };
            cases.push(SwitchCase { label, span, block });
        }
        Ok(StmtKind::Switch(selector, cases))
    }

    /// Reads the label of a case. A conditional expression needs parentheses, because it would consume the `:`.
    fn switch_label(&mut self) -> Parsed<Expr> {
        self.nested(Self::type_width_expr)
    }

    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.advance();
        self.expect("(")?;
        self.scoped(|p| {
            let range = p.attempt(|p| {
                let _ = p.annotations()?;
                let ty = p.type_expr()?;
                let name = p.ident("a name")?;
                p.expect_word("in")?;
                Ok((ty, name))
            });
            if let Some((ty, name)) = range {
                p.declare(&name.name, NameKind::Value);
                let set = p.for_set()?;
                p.expect(")")?;
                let body = p.statement()?;
                return Ok(StmtKind::ForIn(ty, name, set, Box::new(body)));
            }
            let mut init = Vec::new();
            while !p.eat(";") {
                init.push(p.for_part(true)?);
                let _ = p.eat(",");
            }
            let condition = p.expr()?;
            p.expect(";")?;
            let mut update = Vec::new();
            while !p.eat(")") {
                update.push(p.for_part(false)?);
                let _ = p.eat(",");
            }
            let body = p.statement()?;
            Ok(StmtKind::For(init, condition, update, Box::new(body)))
        })
    }

    fn for_set(&mut self) -> Parsed<Expr> {
        let low = self.expr()?;
        if !self.eat("..") {
            return Ok(low);
        }
        let high = self.expr()?;
        let span = low.span.to(high.span);
        Ok(Expr::new(ExprKind::Range(Box::new(low), Box::new(high)), span))
    }

    /// Reads a statement in the head of `for`, which has no `;` of its own.
    fn for_part(&mut self, declarations: bool) -> Parsed<Stmt> {
        let start = self.span();
        let kind = if declarations && self.at_local_declaration() {
            let ty = self.type_expr()?;
            let name = self.ident("the name of a variable")?;
            let value = if self.eat("=") { Some(self.expr()?) } else { None };
            self.declare(&name.name, NameKind::Value);
            let span = start.to(self.previous_span());
            let kind = DeclKind::Variable(ty, value);
            StmtKind::Decl(Box::new(Decl {
                annotations: Vec::new(),
                name,
                kind,
                span,
            }))
        } else {
            self.assignment_or_call(false)?
        };
        Ok(Stmt {
            kind,
            span: start.to(self.previous_span()),
        })
    }

    /// Reads `a = b;`, `a += b;` or a call.
    fn assignment_or_call(&mut self, semicolon: bool) -> Parsed<StmtKind> {
        let start = self.span();
        let target = self.lvalue()?;
        let shift_right = self.is(">")
            && self.peek_at(1) == &Tok::Punct(">=")
            && self.tokens.get(self.at + 1).is_some_and(|t| t.joined);
        let kind = if let Some(op) = self.assignment_operator(shift_right) {
            self.advance();
            if shift_right {
                self.advance();
            }
            let value = self.expr()?;
            StmtKind::Assign(target, op, value)
        } else if matches!(target.kind, ExprKind::Call(..)) {
            StmtKind::Call(target)
        } else if self.is(";") {
            return self.error_at(start, "a value alone does nothing; an assignment or a call is expected");
        } else {
            return self.expected("'=' or '('");
        };
        if semicolon {
            self.expect(";")?;
        }
        Ok(kind)
    }

    /// Reads the left side of `=`, or a call. It is not a whole expression, in which `<` could be an operator.
    fn lvalue(&mut self) -> Parsed<Expr> {
        self.whole_expr(Self::postfix_expr)
    }

    fn assignment_operator(&self, shift_right: bool) -> Option<Option<BinaryOp>> {
        use BinaryOp as B;
        if shift_right {
            return Some(Some(B::Shr));
        }
        let Tok::Punct(text) = self.peek() else { return None };
        Some(match *text {
            "=" => None,
            "+=" => Some(B::Add),
            "-=" => Some(B::Sub),
            "|+|=" => Some(B::SatAdd),
            "|-|=" => Some(B::SatSub),
            "*=" => Some(B::Mul),
            "/=" => Some(B::Div),
            "%=" => Some(B::Mod),
            "<<=" => Some(B::Shl),
            "&=" => Some(B::BitAnd),
            "|=" => Some(B::BitOr),
            "^=" => Some(B::BitXor),
            _ => return None,
        })
    }
}
