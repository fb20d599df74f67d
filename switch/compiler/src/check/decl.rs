//! Declarations at the top level.

use std::rc::Rc;

use super::{Checker, Def, FunctionRef, GenericFunction, Place, types::MAX_SPECIALISED};
use crate::{
    source::Span,
    syntax::ast::{self, Arg, Decl, DeclKind, Direction, Ident, Method, TypeExpr},
    typed::{
        tree::{Action, BlockType, ExprKind, Extern, ExternMethod, Function, Maker, Package},
        types::{ActionId, BlockTypeId, ExternFnId, ExternId, FunctionId, InstanceId, PackageId, Type},
    },
};

impl Checker<'_> {
    pub(super) fn top_level(&mut self, decl: &Decl) {
        self.place = Place::TopLevel;
        match &decl.kind {
            DeclKind::Const(ty, value) => self.constant(decl, ty, value),
            DeclKind::Typedef(ty, is_new) => self.typedef(decl, ty, *is_new),
            DeclKind::Composite(which, params, fields) => self.composite(decl, *which, params, fields),
            DeclKind::Enum(underlying, members) => self.enumeration(decl, underlying.as_ref(), members),
            DeclKind::Errors(names) => self.members(names, true),
            DeclKind::MatchKinds(names) => self.members(names, false),
            DeclKind::Extern(params, methods) => self.extern_object(decl, params, methods),
            DeclKind::ExternFunction(method) => self.extern_function(decl, method),
            DeclKind::Function(method, body) => self.function(method, body),
            DeclKind::Action(params, body) => {
                self.action(decl, params, body, true);
            }
            DeclKind::Parser(signature, Some(body)) => self.parser(decl, signature, body),
            DeclKind::Control(signature, Some(body)) => self.control(decl, signature, body),
            DeclKind::Parser(signature, None) => self.block_type(decl, signature, true),
            DeclKind::Control(signature, None) => self.block_type(decl, signature, false),
            DeclKind::Package(params, args) => self.package(decl, params, args),
            DeclKind::Instance(ty, args, methods) => {
                if let Some(id) = self.instance(decl, ty, args, methods) {
                    self.program.top_level.push(id);
                    if let Maker::Parser(_) | Maker::Control(_) = self.program.instances[id.index()].maker {
                        let message =
                            "a parser or control is not declared at the top level; an argument of a package is";
                        self.error(decl.name.span, message);
                    }
                    if &*decl.name.name == "main" {
                        self.program.main = Some(id);
                    }
                }
            }
            DeclKind::Variable(..) | DeclKind::Table(_) | DeclKind::ValueSet(..) => {
                self.error(decl.span, "this cannot be declared at the top level");
            }
        }
    }

    pub(super) fn constant(&mut self, decl: &Decl, ty: &TypeExpr, value: &ast::Expr) {
        let ty = self.resolve_type(ty);
        let value = self.expr_as(value, &ty, "the constant's value");
        if !is_constant(&value) {
            self.error(
                value.span,
                format!(
                    "the value of the constant '{}' is not known when compiling",
                    decl.name.name
                ),
            );
        }
        self.define(&decl.name, Def::Const(Rc::new(value)));
    }

    pub(super) fn instance(
        &mut self,
        decl: &Decl,
        ty: &TypeExpr,
        args: &[Arg],
        methods: &[Decl],
    ) -> Option<InstanceId> {
        let ty = self.resolve_type(ty);
        let id = self.new_instance(decl.name.name.clone(), &ty, args, &decl.annotations, decl.name.span)?;
        self.methods(id, methods, decl.name.span);
        self.define(&decl.name, Def::Instance(id));
        Some(id)
    }

    fn members(&mut self, names: &[Ident], errors: bool) {
        for name in names {
            let list = if errors {
                &mut self.program.errors
            } else {
                &mut self.program.match_kinds
            };
            if list.contains(&name.name) {
                let what = if errors { "error" } else { "match_kind" };
                self.error(name.span, format!("{what} '{}' is declared twice", name.name));
            } else {
                list.push(name.name.clone());
            }
        }
    }

    fn extern_object(&mut self, decl: &Decl, params: &[Ident], methods: &[Method]) {
        let id = ExternId(self.program.externs.len() as u32);
        self.program.types.externs.push(decl.name.name.clone());
        self.define(&decl.name, Def::Type(Type::Extern(id, Rc::new([]))));
        let place = self.program.externs.len();
        self.program.externs.push(Extern {
            name: decl.name.name.clone(),
            type_params: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
        });
        let def = self.scoped(|c| {
            let type_params = c.type_params(params);
            c.program.externs[place].type_params.clone_from(&type_params);
            let mut constructors = Vec::new();
            let mut list = Vec::new();
            for method in methods {
                let checked = c.extern_method(method);
                if method.result.is_none() {
                    constructors.push(checked.params)
                } else {
                    list.push(checked)
                }
            }
            Extern {
                name: decl.name.name.clone(),
                type_params,
                constructors,
                methods: list,
            }
        });
        self.program.externs[place] = def;
    }

    fn extern_method(&mut self, method: &Method) -> ExternMethod {
        self.scoped(|c| {
            let type_params = c.type_params(&method.type_params);
            let result = method.result.as_ref().map_or(Type::Void, |r| c.resolve_type(r));
            let params = c.param_defs(&method.params);
            let annotations = c.annotations(&method.annotations);
            ExternMethod {
                name: method.name.name.clone(),
                type_params,
                params,
                result,
                annotations,
                is_abstract: method.is_abstract,
            }
        })
    }

    fn extern_function(&mut self, decl: &Decl, method: &Method) {
        let mut checked = self.extern_method(method);
        checked.annotations = self.annotations(&decl.annotations);
        let id = ExternFnId(self.program.extern_functions.len() as u32);
        self.program.extern_functions.push(checked);
        self.add_function(&decl.name, FunctionRef::Extern(id), method.params.len());
    }

    /// Functions may share a name if they take different numbers of parameters.
    fn add_function(&mut self, name: &Ident, function: FunctionRef, params: usize) {
        let count = |c: &Self, f: &FunctionRef| match f {
            FunctionRef::Extern(id) => c.program.extern_functions[id.index()].params.len(),
            FunctionRef::User(id) => c.program.functions[id.index()].params.len(),
            FunctionRef::Generic(index) => c.generics[*index].params.len(),
        };
        let existing = match self.scopes.last().and_then(|s| s.get(&name.name)) {
            Some((Def::Functions(list), _)) => Some(list.clone()),
            _ => None,
        };
        let Some(mut list) = existing else {
            self.define(name, Def::Functions(vec![function]));
            return;
        };
        if list.iter().any(|f| count(self, f) == params) {
            let message = format!("'{}' with {params} parameter(s) is declared twice", name.name);
            self.error(name.span, message);
        }
        list.push(function);
        self.found.declare(name.span, "a function");
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.name.clone(), (Def::Functions(list), name.span));
        }
    }

    fn function(&mut self, method: &Method, body: &ast::Block) {
        if !method.type_params.is_empty() {
            self.generic_function(method, body);
            return;
        }
        let id = self.checked_function(method, body);
        self.add_function(&method.name, FunctionRef::User(id), method.params.len());
    }

    fn generic_function(&mut self, method: &Method, body: &ast::Block) {
        let generic = self.scoped(|c| GenericFunction {
            type_params: c.type_params(&method.type_params),
            params: c.param_defs(&method.params),
            result: method.result.as_ref().map_or(Type::Void, |r| c.resolve_type(r)),
            method: method.clone(),
            body: body.clone(),
        });
        self.generics.push(Rc::new(generic));
        let index = self.generics.len() - 1;
        self.add_function(&method.name, FunctionRef::Generic(index), method.params.len());
    }

    /// Specialises a generic function. Returns `None` and reports an error if the function calls itself.
    pub(super) fn specialised_function(&mut self, index: usize, types: Vec<Type>, span: Span) -> Option<FunctionId> {
        let generic = self.generics[index].clone();
        let name = &generic.method.name.name;
        if let Some(&found) = self.functions.get(&(index, types.clone())) {
            if found.is_none() {
                self.error(span, format!("'{name}' calls itself"));
            }
            return found;
        }
        if self.functions.len() >= MAX_SPECIALISED || self.depth > 64 {
            self.error(span, format!("'{name}' is needed with too many types"));
            return None;
        }
        self.functions.insert((index, types.clone()), None);
        // The body sees only the top-level scope and the type parameters.
        let inner = self.scopes.split_off(1);
        let (place, result, loops) = (self.place, self.result.take(), std::mem::take(&mut self.loops));
        self.depth += 1;
        let id = self.scoped(|c| {
            for (param, ty) in generic.method.type_params.iter().zip(&types) {
                c.define(param, Def::Type(ty.clone()));
            }
            c.checked_function(&generic.method, &generic.body)
        });
        self.depth -= 1;
        (self.place, self.result, self.loops) = (place, result, loops);
        self.scopes.extend(inner);
        self.functions.insert((index, types), Some(id));
        Some(id)
    }

    fn checked_function(&mut self, method: &Method, body: &ast::Block) -> FunctionId {
        let result = method.result.as_ref().map_or(Type::Void, |r| self.resolve_type(r));
        self.place = Place::Function;
        let function = self.scoped(|c| {
            let params = c.declare_params(&method.params, false);
            c.result = Some(result.clone());
            let body = c.block(body);
            c.result = None;
            if result != Type::Void && !Self::always_returns(&body) {
                let message = format!("'{}' may end without returning a value", method.name.name);
                c.error(method.name.span, message);
            }
            Function {
                params,
                result,
                body: Rc::new(body),
            }
        });
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        id
    }

    pub(super) fn action(
        &mut self,
        decl: &Decl,
        params: &[ast::Param],
        body: &ast::Block,
        top_level: bool,
    ) -> ActionId {
        let given = params.iter().position(|p| p.direction == Direction::None);
        let late = params[given.unwrap_or(params.len())..]
            .iter()
            .find(|p| p.direction != Direction::None);
        if let Some(late) = late {
            let message = format!(
                "'{}' has a direction; such parameters come before those that the control plane gives",
                late.name.name
            );
            self.error(late.name.span, message);
        }
        let outer = std::mem::replace(&mut self.place, Place::Action);
        let (params, body) = self.scoped(|c| {
            let params = c.declare_params(params, false);
            c.result = Some(Type::Void);
            let body = c.block(body);
            c.result = None;
            (params, Rc::new(body))
        });
        self.place = outer;
        let annotations = self.annotations(&decl.annotations);
        let id = ActionId(self.program.actions.len() as u32);
        self.program.actions.push(Action {
            name: decl.name.name.clone(),
            params,
            body,
            annotations,
            span: decl.name.span,
            top_level,
        });
        self.define(&decl.name, Def::Action(id));
        id
    }

    fn block_type(&mut self, decl: &Decl, signature: &ast::Signature, is_parser: bool) {
        let block = self.scoped(|c| {
            let type_params = c.type_params(&signature.type_params);
            let params = c.param_defs(&signature.params);
            BlockType {
                is_parser,
                type_params,
                params,
            }
        });
        let id = BlockTypeId(self.program.blocks.len() as u32);
        self.program.types.blocks.push(decl.name.name.clone());
        self.program.blocks.push(block);
        self.define(&decl.name, Def::Type(Type::Block(id, Rc::new([]))));
    }

    fn package(&mut self, decl: &Decl, params: &[Ident], args: &[ast::Param]) {
        let package = self.scoped(|c| {
            let type_params = c.type_params(params);
            let params = c.param_defs(args);
            Package {
                name: decl.name.name.clone(),
                type_params,
                params,
            }
        });
        let id = PackageId(self.program.packages.len() as u32);
        self.program.types.packages.push(decl.name.name.clone());
        self.program.packages.push(package);
        self.define(&decl.name, Def::Type(Type::Package(id, Rc::new([]))));
    }
}

fn is_constant(e: &crate::typed::tree::Expr) -> bool {
    match &e.kind {
        ExprKind::Unknown
        | ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Text(_)
        | ExprKind::Error(_)
        | ExprKind::Member(_)
        | ExprKind::Default
        | ExprKind::Any => true,
        ExprKind::Aggregate(list) => list.iter().all(is_constant),
        ExprKind::Mask(a, b) | ExprKind::Range(a, b) => is_constant(a) && is_constant(b),
        _ => false,
    }
}
