//! The checker: turns syntax trees into the typed tree, with names, types and compile-time values (specification
//! sections 7 to 18).

mod annotation;
mod argument;
mod block;
mod call;
mod constant;
mod construct;
mod convert;
mod decl;
mod expr;
mod member;
mod methods;
mod operator;
mod stmt;
mod table;
mod types;

use std::{collections::HashMap, rc::Rc};

use crate::{
    arch::Arch,
    diagnostics::{Reporter, suggestion},
    names::{Found, PLACEHOLDER},
    source::{SourceMap, Span},
    syntax::{
        ast::{Annotation, Block, Decl, Ident, Method, Param},
        token::Symbol,
    },
    typed::{
        tree::{Expr, ExprKind, ParamDef, Program, Var, VarKind},
        types::{ActionId, ExternFnId, FunctionId, InstanceId, StructId, TableId, Type, TypeVarId, ValueSetId, VarId},
    },
};

pub use constant::{binary as fold_binary, compare, fits, unary as fold_unary, wrap};

/// Checks a whole program.
pub(crate) fn check(decls: &[Decl], arch: Arch, map: &SourceMap, reporter: &mut Reporter) -> (Program, Found) {
    let mut checker = Checker {
        program: Program::default(),
        arch,
        reporter,
        map,
        scopes: vec![HashMap::new()],
        templates: Vec::new(),
        specialised: HashMap::new(),
        generics: Vec::new(),
        functions: HashMap::new(),
        place: Place::TopLevel,
        result: None,
        loops: 0,
        depth: 0,
        defaults: HashMap::new(),
        this: None,
        found: Found::default(),
    };
    for decl in decls {
        checker.top_level(decl);
    }
    (checker.program, checker.found)
}

/// A function that a name refers to.
#[derive(Clone, Copy, Debug)]
enum FunctionRef {
    Extern(ExternFnId),
    User(FunctionId),
    /// Index of a generic function.
    Generic(usize),
}

/// A function with type parameters. It is specialised for each list of type arguments.
#[derive(Debug)]
struct GenericFunction {
    method: Method,
    body: Block,
    type_params: Vec<TypeVarId>,
    params: Vec<ParamDef>,
    result: Type,
}

/// Meaning of a name.
#[derive(Clone, Debug)]
enum Def {
    Type(Type),
    /// Index of a generic struct or header in the templates.
    Template(usize),
    Var(VarId),
    Const(Rc<Expr>),
    Functions(Vec<FunctionRef>),
    Action(ActionId),
    Table(TableId),
    Instance(InstanceId),
    ValueSet(ValueSetId),
}

impl Def {
    fn kind(&self) -> &'static str {
        match self {
            Def::Type(_) | Def::Template(_) => "a type",
            Def::Var(_) => "a variable",
            Def::Const(_) => "a constant",
            Def::Functions(_) => "a function",
            Def::Action(_) => "an action",
            Def::Table(_) => "a table",
            Def::Instance(_) => "an instance",
            Def::ValueSet(_) => "a value set",
        }
    }
}

/// Place of statements; it decides which statements are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    TopLevel,
    Parser,
    Control,
    Action,
    Function,
}

struct Checker<'a> {
    program: Program,
    arch: Arch,
    reporter: &'a mut Reporter,
    map: &'a SourceMap,
    scopes: Vec<HashMap<Symbol, (Def, Span)>>,
    templates: Vec<Rc<Decl>>,
    /// Specialised structs, by template and type arguments.
    specialised: HashMap<(usize, Vec<Type>), StructId>,
    generics: Vec<Rc<GenericFunction>>,
    /// Specialised functions, by function and type arguments; `None` while one is being checked.
    functions: HashMap<(usize, Vec<Type>), Option<FunctionId>>,
    place: Place,
    /// Type of the value in `return`; `None` if there is no value.
    result: Option<Type>,
    loops: usize,
    depth: usize,
    /// Default values of parameters.
    defaults: HashMap<VarId, Expr>,
    /// Instance of the abstract method that is being checked.
    this: Option<InstanceId>,
    found: Found,
}

impl Checker<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.reporter.error(span, message);
    }

    fn show(&self, ty: &Type) -> String {
        self.program.types.show(ty)
    }

    fn define(&mut self, name: &Ident, def: Def) {
        let Some(scope) = self.scopes.last_mut() else { return };
        if let Some((first, span)) = scope.get(&name.name) {
            let (kind, first_span) = (first.kind(), *span);
            let place = self
                .map
                .position(first_span)
                .map_or(String::new(), |p| format!(" at {p}"));
            let message = format!("'{}' is declared twice; it is {kind}{place}", name.name);
            self.error(name.span, message);
            return;
        }
        self.found.declare(name.span, def.kind());
        scope.insert(name.name.clone(), (def, name.span));
    }

    /// Meaning of `name`.
    fn lookup(&mut self, name: &Ident) -> Option<Def> {
        self.lookup_name(name, false)
    }

    /// Meaning of `name`, or of `.name` if `global`.
    fn lookup_name(&mut self, name: &Ident, global: bool) -> Option<Def> {
        let scopes = if global { &self.scopes[..1] } else { &self.scopes[..] };
        let (def, declared) = scopes.iter().rev().find_map(|s| s.get(&name.name))?;
        self.found.refer(name.span, *declared);
        Some(def.clone())
    }

    /// Reports an unknown name, with a similar one as a suggestion. `wanted` selects the definitions that would fit.
    fn unknown_name(&mut self, name: &Ident, what: &str, wanted: impl Fn(&Def) -> bool) {
        if &*name.name == PLACEHOLDER {
            self.all_names_fit();
        }
        let all = self.scopes.iter().flat_map(|s| s.iter());
        let mut names: Vec<Symbol> = all.filter(|(_, (d, _))| wanted(d)).map(|(n, _)| n.clone()).collect();
        names.sort();
        let hint = suggestion(&name.name, names.iter().map(|n| &**n), "");
        self.error(name.span, format!("no {what} '{}' is declared here{hint}", name.name));
    }

    /// Notes all names in scope as fitting.
    fn all_names_fit(&mut self) {
        for (name, (def, _)) in self.scopes.iter().rev().flat_map(|s| s.iter()) {
            let ty = match def {
                Def::Var(id) => Some(&self.program.vars[id.index()].ty),
                Def::Const(value) => Some(&value.ty),
                _ => None,
            };
            self.found
                .fits(name, def.kind(), ty.map(|ty| self.program.types.show(ty)));
        }
    }

    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        let result = rule(self);
        self.scopes.pop();
        result
    }

    fn new_var(&mut self, name: &Ident, ty: Type, kind: VarKind, annotations: &[Annotation]) -> VarId {
        let id = VarId(self.program.vars.len() as u32);
        let annotations = self.annotations(annotations);
        self.program.vars.push(Var {
            name: name.name.clone(),
            ty,
            kind,
            annotations,
            span: name.span,
        });
        self.define(name, Def::Var(id));
        id
    }

    /// Declares parameters as variables of the current scope.
    fn declare_params(&mut self, params: &[Param], constructor: bool) -> Vec<VarId> {
        let declare = |c: &mut Self, p: &Param| {
            let ty = c.resolve_type(&p.ty);
            let kind = if constructor {
                VarKind::Constructor
            } else {
                VarKind::Parameter(p.direction)
            };
            c.check_param(p, &ty, constructor);
            let default = p.default.as_ref().map(|d| c.expr_as(d, &ty, "the default value"));
            let id = c.new_var(&p.name, ty, kind, &p.annotations);
            c.defaults.extend(default.map(|d| (id, d)));
            id
        };
        params.iter().map(|p| declare(self, p)).collect()
    }

    fn check_param(&mut self, p: &Param, ty: &Type, constructor: bool) {
        use crate::syntax::ast::Direction;
        if constructor && p.direction != Direction::None {
            let message = "a constructor's parameter has no direction: it is known when compiling";
            self.error(p.name.span, message);
        }
        if matches!(ty, Type::Extern(..) | Type::Text | Type::Integer) && p.direction != Direction::None {
            let shown = self.show(ty);
            self.error(p.name.span, format!("a parameter of type {shown} has no direction"));
        }
    }

    fn param_defs(&mut self, params: &[Param]) -> Vec<ParamDef> {
        let mut names = std::collections::HashSet::new();
        let mut list = Vec::new();
        for p in params {
            if !names.insert(p.name.name.clone()) {
                self.error(p.name.span, format!("'{}' is declared twice", p.name.name));
            }
            let ty = self.resolve_type(&p.ty);
            let default = p.default.as_ref().map(|d| {
                let value = self.expr(d, Some(&ty));
                self.convert(value, &ty, "the default value")
            });
            list.push(ParamDef {
                name: p.name.name.clone(),
                direction: p.direction,
                ty,
                default,
                optional: p.annotations.iter().any(|a| &*a.name == "optional"),
            });
        }
        list
    }

    /// Reports an error `at` a place; the expression at `span` then has no value.
    fn refused(&mut self, at: Span, message: impl Into<String>, span: Span) -> Expr {
        self.error(at, message);
        Self::unknown(span)
    }

    fn unknown(span: Span) -> Expr {
        Expr::new(ExprKind::Unknown, Type::Unknown, span)
    }
}

#[cfg(test)]
mod tests;
