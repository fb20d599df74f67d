//! Declarations, except the bodies of parsers, controls and tables.

use super::{NameKind, Parsed, Parser};
use crate::syntax::{
    ast::{
        Annotation, Composite, Decl, DeclKind, Direction, Field, Ident, Method, Param, Signature, TypeExpr, TypeKind,
    },
    token::Tok,
};

impl Parser<'_> {
    pub(super) fn declaration(&mut self) -> Parsed<Decl> {
        let start = self.span();
        let annotations = self.annotations()?;
        let mut decl = self.declaration_after(annotations)?;
        decl.span = start.to(self.previous_span());
        Ok(decl)
    }

    fn declaration_after(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        let Tok::Word(word) = self.peek().clone() else {
            return self.expected("a declaration");
        };
        match &*word {
            "const" => self.constant(annotations),
            "typedef" | "type" => self.typedef(annotations),
            "header" => self.composite(annotations, Composite::Header),
            "struct" => self.composite(annotations, Composite::Struct),
            "header_union" => self.composite(annotations, Composite::Union),
            "enum" => self.enumeration(annotations),
            "error" if self.peek_at(1) == &Tok::Punct("{") => self.member_list(annotations, DeclKind::Errors),
            "match_kind" if self.peek_at(1) == &Tok::Punct("{") => self.member_list(annotations, DeclKind::MatchKinds),
            "extern" => self.extern_decl(annotations),
            "action" => self.action(annotations),
            "parser" => self.block_decl(annotations, "the name of a parser", Self::parser_body, DeclKind::Parser),
            "control" => self.block_decl(
                annotations,
                "the name of a control",
                Self::control_body,
                DeclKind::Control,
            ),
            "package" => self.package(annotations),
            _ if self.at_base_type() || matches!(self.peek_at(1), Tok::Word(_) | Tok::Punct("(" | "<" | "[" | ".")) => {
                self.function_or_instance(annotations)
            }
            _ => self.no_declaration(&word, self.span()),
        }
    }

    /// Reports a word that starts no declaration.
    fn no_declaration<T>(&mut self, word: &str, span: crate::source::Span) -> Parsed<T> {
        let known = [
            "header", "struct", "control", "parser", "action", "const", "typedef", "enum", "extern",
        ];
        let hint = crate::diagnostics::suggestion(word, known, "");
        self.error_at(span, format!("a declaration expected, not '{word}'{hint}"))
    }

    pub(super) fn constant(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        let start = self.span();
        self.expect_word("const")?;
        let ty = self.type_expr()?;
        let name = self.ident("the name of a constant")?;
        self.expect("=")?;
        let value = self.expr()?;
        self.expect(";")?;
        self.declare(&name.name, NameKind::Value);
        let span = start.to(self.previous_span());
        Ok(Decl {
            annotations,
            name,
            kind: DeclKind::Const(ty, value),
            span,
        })
    }

    fn typedef(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        let is_new = self.is_word("type");
        self.advance();
        // A typedef may name a type that it declares itself.
        if matches!(self.peek(), Tok::Word(w) if matches!(&**w, "header" | "struct" | "header_union" | "enum")) {
            return self.error_at(self.span(), "declare the type first, then give it another name");
        }
        let ty = self.type_expr()?;
        let name = self.ident("the name of a type")?;
        self.expect(";")?;
        self.declare(&name.name, NameKind::Type);
        Ok(Decl::new(annotations, name, DeclKind::Typedef(ty, is_new)))
    }

    fn composite(&mut self, annotations: Vec<Annotation>, which: Composite) -> Parsed<Decl> {
        self.advance();
        let name = self.ident("the name of a type")?;
        self.declare(&name.name, NameKind::Type);
        let kind = self.scoped(|p| {
            let params = p.type_params()?;
            let fields = p.braced(|p| {
                let annotations = p.annotations()?;
                let ty = p.type_expr()?;
                let name = p.any_word("the name of a field")?;
                p.expect(";")?;
                Ok(Field { annotations, ty, name })
            })?;
            Ok(DeclKind::Composite(which, params, fields))
        })?;
        Ok(Decl::new(annotations, name, kind))
    }

    fn enumeration(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let underlying = if self.at_base_type() || matches!(self.peek_at(1), Tok::Word(_)) {
            Some(self.type_expr()?)
        } else {
            None
        };
        let name = self.ident("the name of an enum")?;
        self.declare(&name.name, NameKind::Type);
        self.expect("{")?;
        let members = self.separated("}", |p| {
            let _ = p.annotations()?;
            let name = p.any_word("the name of a member")?;
            let value = if p.eat("=") { Some(p.expr()?) } else { None };
            Ok((name, value))
        })?;
        Ok(Decl::new(annotations, name, DeclKind::Enum(underlying, members)))
    }

    fn member_list(&mut self, annotations: Vec<Annotation>, kind: fn(Vec<Ident>) -> DeclKind) -> Parsed<Decl> {
        let name = self.any_word("a keyword")?;
        self.expect("{")?;
        let members = self.separated("}", |p| {
            let _ = p.annotations()?;
            p.any_word("the name of a member")
        })?;
        Ok(Decl::new(annotations, name, kind(members)))
    }

    fn extern_decl(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let is_object = matches!(self.peek(), Tok::Word(_))
            && matches!(self.peek_at(1), Tok::Punct("{" | "<"))
            && !self.at_base_type()
            && self.object_follows();
        if !is_object {
            let method = self.scoped(|p| p.method(None))?;
            self.expect(";")?;
            let name = method.name.clone();
            self.declare(&name.name, NameKind::Value);
            return Ok(Decl::new(annotations, name, DeclKind::ExternFunction(method)));
        }
        let name = self.ident("the name of an extern")?;
        self.declare(&name.name, NameKind::Type);
        let kind = self.scoped(|p| {
            let params = p.type_params()?;
            let methods = p.braced(|p| {
                let method = p.scoped(|p| p.method(Some(&name)))?;
                p.expect(";")?;
                Ok(method)
            })?;
            Ok(DeclKind::Extern(params, methods))
        })?;
        Ok(Decl::new(annotations, name, kind))
    }

    /// True if an object follows `extern`: it has `{` after its name and type parameters. A function has a name and
    /// `(`.
    fn object_follows(&self) -> bool {
        let mut ahead = 1;
        if self.peek_at(1) == &Tok::Punct("<") {
            let mut depth = 0i32;
            loop {
                match self.peek_at(ahead) {
                    Tok::Punct("<") => depth += 1,
                    Tok::Punct(">") => depth -= 1,
                    Tok::End => return false,
                    _ => {}
                }
                ahead += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        self.peek_at(ahead) == &Tok::Punct("{")
    }

    /// Reads the head of a function. In the extern `owner`, a function with the extern's name is a constructor.
    fn method(&mut self, owner: Option<&Ident>) -> Parsed<Method> {
        let mut annotations = self.annotations()?;
        let is_abstract = owner.is_some() && self.is_word("abstract") && self.peek_at(1) != &Tok::Punct("(");
        if is_abstract {
            self.advance();
            annotations.extend(self.annotations()?);
        }
        let is_constructor = owner.is_some_and(|o| self.is_word(&o.name)) && self.peek_at(1) == &Tok::Punct("(");
        if is_constructor {
            let name = self.ident("a name")?;
            let params = self.params()?;
            return Ok(Method {
                annotations,
                name,
                type_params: Vec::new(),
                result: None,
                params,
                is_abstract: false,
            });
        }
        let (result, name, type_params) = self.function_head()?;
        let params = self.params()?;
        Ok(Method {
            annotations,
            name,
            type_params,
            result: Some(result),
            params,
            is_abstract,
        })
    }

    /// Reads `T name<U>`: the result type may use a type parameter that is declared after it.
    fn function_head(&mut self) -> Parsed<(TypeExpr, Ident, Vec<Ident>)> {
        let result = self.type_expr()?;
        let name = self.ident("the name of a function")?;
        let type_params = self.type_params()?;
        Ok((result, name, type_params))
    }

    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        self.expect("(")?;
        self.separated(")", |p| {
            let annotations = p.annotations()?;
            let direction = match p.peek() {
                Tok::Word(w) if &**w == "in" => Direction::In,
                Tok::Word(w) if &**w == "out" => Direction::Out,
                Tok::Word(w) if &**w == "inout" => Direction::InOut,
                _ => Direction::None,
            };
            if direction != Direction::None {
                p.advance();
            }
            let ty = p.type_expr()?;
            let name = p.any_word("the name of a parameter")?;
            let default = if p.eat("=") { Some(p.expr()?) } else { None };
            // The types of `parser<H>` parameters are types of objects, but their names are values.
            p.declare(&name.name, NameKind::Value);
            Ok(Param {
                annotations,
                direction,
                ty,
                name,
                default,
            })
        })
    }

    pub(super) fn action(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let name = self.ident("the name of an action")?;
        self.declare(&name.name, NameKind::Value);
        let kind = self.scoped(|p| Ok(DeclKind::Action(p.params()?, p.block()?)))?;
        Ok(Decl::new(annotations, name, kind))
    }

    fn package(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.advance();
        let name = self.ident("the name of a package")?;
        self.declare(&name.name, NameKind::Type);
        let kind = self.scoped(|p| Ok(DeclKind::Package(p.type_params()?, p.params()?)))?;
        self.expect(";")?;
        Ok(Decl::new(annotations, name, kind))
    }

    fn signature(&mut self) -> Parsed<Signature> {
        let type_params = self.type_params()?;
        let params = self.params()?;
        let constructor = if self.is("(") { self.params()? } else { Vec::new() };
        Ok(Signature {
            type_params,
            params,
            constructor,
        })
    }

    /// Reads a parser or control. `make` gets its signature, and the result of `body` unless `;` follows the signature.
    fn block_decl<B>(
        &mut self,
        annotations: Vec<Annotation>,
        what: &str,
        body: fn(&mut Self) -> Parsed<B>,
        make: fn(Signature, Option<B>) -> DeclKind,
    ) -> Parsed<Decl> {
        self.advance();
        let name = self.ident(what)?;
        self.declare(&name.name, NameKind::Type);
        let kind = self.scoped(|p| {
            let signature = p.signature()?;
            let body = if p.eat(";") { None } else { Some(body(p)?) };
            Ok(make(signature, body))
        })?;
        Ok(Decl::new(annotations, name, kind))
    }

    pub(super) fn instance(&mut self, annotations: Vec<Annotation>, ty: TypeExpr) -> Parsed<Decl> {
        let args = self.arguments()?;
        let name = self.ident("the name of an instance")?;
        let methods = if self.eat("=") {
            self.braced(Self::method_body)?
        } else {
            Vec::new()
        };
        self.expect(";")?;
        self.declare(&name.name, NameKind::Value);
        let span = ty.span.to(name.span);
        Ok(Decl {
            annotations,
            name,
            kind: DeclKind::Instance(ty, args, methods),
            span,
        })
    }

    /// Reads the body of an abstract method in the declaration of an instance.
    fn method_body(&mut self) -> Parsed<Decl> {
        let annotations = self.annotations()?;
        let start = self.span();
        self.scoped(|p| match p.function_in_scope()? {
            Ok((method, body)) => {
                let name = method.name.clone();
                Ok(Decl::new(annotations, name, DeclKind::Function(method, body)))
            }
            Err(_) => p.error_at(start, "only the abstract methods of the extern stand here"),
        })
    }

    fn function_or_instance(&mut self, annotations: Vec<Annotation>) -> Parsed<Decl> {
        self.scopes.push(Default::default());
        let result = self.function_in_scope();
        self.scopes.pop();
        match result? {
            Ok((method, body)) => {
                self.declare(&method.name.name, NameKind::Value);
                let name = method.name.clone();
                Ok(Decl::new(annotations, name, DeclKind::Function(method, body)))
            }
            Err(ty) => self.instance(annotations, ty),
        }
    }

    /// Reads a whole function, or the type of an instance.
    fn function_in_scope(&mut self) -> Parsed<Result<(Method, crate::syntax::ast::Block), TypeExpr>> {
        let ty = self.type_expr()?;
        if self.is("(") {
            return Ok(Err(ty));
        }
        let name = self.ident("the name of a function or instance")?;
        if self.is("{")
            && let TypeKind::Named(word, _) = &ty.kind
        {
            return self.no_declaration(&word.name, ty.span);
        }
        if self.is(";") || self.is("=") {
            let what = if matches!(ty.kind, TypeKind::Named(..)) {
                ""
            } else {
                "; 'const' declares a constant"
            };
            let message = format!("variables cannot be declared at the top level{what}");
            return self.error_at(name.span, message);
        }
        let type_params = self.type_params()?;
        let params = self.params()?;
        let body = self.block()?;
        let method = Method {
            annotations: Vec::new(),
            name,
            type_params,
            result: Some(ty),
            params,
            is_abstract: false,
        };
        Ok(Ok((method, body)))
    }
}
