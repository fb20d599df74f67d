//! Turns types in the source into checked types.

use std::rc::Rc;

use num_bigint::BigInt;

use super::{Checker, Def};
use crate::{
    diagnostics::suggestion,
    names::PLACEHOLDER,
    source::Span,
    syntax::{
        ast::{AnnotationBody, Composite, Decl, DeclKind, Expr, Field, Ident, TypeExpr, TypeKind},
        token::{Symbol, Tok},
    },
    typed::types::{EnumDef, EnumId, FieldDef, NewTypeDef, NewTypeId, StructDef, StructId, Type, TypeVarId},
};

/// Largest width of a type in bits, which is that of the data plane; also the largest size of a stack.
pub(super) const MAX_WIDTH: u32 = 16_384;
const MAX_STACK: u32 = 4096;
/// Limit on structs and functions specialised from generic ones.
pub(super) const MAX_SPECIALISED: usize = 1000;
/// Limit on the fields of a type, with all nested fields. Types that double each other grow without bound.
const MAX_FIELDS: u64 = 100_000;

impl Checker<'_> {
    pub(super) fn resolve_type(&mut self, ty: &TypeExpr) -> Type {
        match &ty.kind {
            TypeKind::Bool => Type::Bool,
            TypeKind::Error => Type::Error,
            TypeKind::MatchKind => Type::MatchKind,
            TypeKind::String => Type::Text,
            TypeKind::Void => Type::Void,
            TypeKind::Integer => Type::Integer,
            TypeKind::DontCare => Type::DontCare,
            TypeKind::Bit(None) => Type::bit(1),
            TypeKind::Bit(Some(width)) => self.width(width, 0, MAX_WIDTH).map_or(Type::Unknown, Type::bit),
            TypeKind::Int(width) => self
                .width(width, 1, MAX_WIDTH)
                .map_or(Type::Unknown, |width| Type::Bits { signed: true, width }),
            TypeKind::Varbit(width) => self.width(width, 0, MAX_WIDTH).map_or(Type::Unknown, Type::Varbit),
            TypeKind::Tuple(types) => Type::Tuple(types.iter().map(|t| self.resolve_type(t)).collect()),
            TypeKind::List(element) => Type::List(Rc::new(self.resolve_type(element))),
            TypeKind::Stack(element, size) => self.stack(element, size),
            TypeKind::Named(name, args) => self.named_type(name, args, ty.span),
        }
    }

    fn stack(&mut self, element: &TypeExpr, size: &Expr) -> Type {
        let inner = self.resolve_type(element);
        let size = self.width(size, 1, MAX_STACK);
        match (&inner, size) {
            (Type::Unknown, _) | (_, None) => Type::Unknown,
            (ty, Some(n)) => {
                let composite = self.program.types.composite(ty);
                if matches!(composite, Some(Composite::Header | Composite::Union)) {
                    return Type::Stack(Rc::new(inner), n);
                }
                let shown = self.show(ty);
                self.error(element.span, format!("a stack holds headers, not {shown}"));
                Type::Unknown
            }
        }
    }

    /// A width or size that must be known at compile time.
    fn width(&mut self, e: &Expr, least: u32, most: u32) -> Option<u32> {
        let value = self.expr(e, None);
        let Some(n) = value.as_int() else {
            if value.ty != Type::Unknown {
                self.error(e.span, "a size must be an integer known when compiling");
            }
            return None;
        };
        match u32::try_from(n).ok().filter(|n| (least..=most).contains(n)) {
            Some(n) => Some(n),
            None => {
                self.error(e.span, format!("the size {n} is not between {least} and {most}"));
                None
            }
        }
    }

    fn named_type(&mut self, name: &Ident, args: &[TypeExpr], span: Span) -> Type {
        let Some(def) = self.lookup(name) else {
            self.unknown_name(name, "type", |d| matches!(d, Def::Type(_) | Def::Template(_)));
            return Type::Unknown;
        };
        let ty = match def {
            Def::Type(ty) => ty,
            Def::Template(template) => {
                let args = args.iter().map(|a| self.resolve_type(a)).collect();
                return self.specialise(template, args, span);
            }
            other => {
                self.error(span, format!("'{}' is {}, not a type", name.name, other.kind()));
                return Type::Unknown;
            }
        };
        let wanted = match &ty {
            Type::Extern(id, _) => self.program.externs[id.index()].type_params.len(),
            Type::Block(id, _) => self.program.blocks[id.index()].type_params.len(),
            Type::Package(id, _) => self.program.packages[id.index()].type_params.len(),
            _ => 0,
        };
        if args.is_empty() {
            return ty;
        }
        let given: Rc<[Type]> = args.iter().map(|a| self.resolve_type(a)).collect();
        if given.len() != wanted {
            let message = format!("'{}' takes {wanted} type argument(s), not {}", name.name, given.len());
            self.error(span, message);
            return Type::Unknown;
        }
        match ty {
            Type::Extern(id, _) => Type::Extern(id, given),
            Type::Block(id, _) => Type::Block(id, given),
            Type::Package(id, _) => Type::Package(id, given),
            other => other,
        }
    }

    /// Specialises a generic struct.
    pub(super) fn specialise(&mut self, template: usize, args: Vec<Type>, span: Span) -> Type {
        if let Some(id) = self.specialised.get(&(template, args.clone())) {
            return Type::Struct(*id);
        }
        let decl = self.templates[template].clone();
        let DeclKind::Composite(which, params, fields) = &decl.kind else {
            return Type::Unknown;
        };
        if params.len() != args.len() {
            let message = format!(
                "'{}' takes {} type argument(s), not {}",
                decl.name.name,
                params.len(),
                args.len()
            );
            self.error(span, message);
            return Type::Unknown;
        }
        if self.specialised.len() >= MAX_SPECIALISED || self.depth > 64 {
            self.error(span, "generic types are nested too deeply");
            return Type::Unknown;
        }
        let count = self.specialised.keys().filter(|(t, _)| *t == template).count();
        let name: Symbol = format!("{}_{count}", decl.name.name).into();
        // The fields see only the top-level scope and the type parameters.
        let inner = self.scopes.split_off(1);
        self.depth += 1;
        let ty = self.scoped(|c| {
            for (param, arg) in params.iter().zip(&args) {
                c.define(param, Def::Type(arg.clone()));
            }
            let id = c.add_struct(name, *which, fields, &decl);
            c.specialised.insert((template, args), id);
            Type::Struct(id)
        });
        self.depth -= 1;
        self.scopes.extend(inner);
        ty
    }

    pub(super) fn composite(&mut self, decl: &Decl, which: Composite, params: &[Ident], fields: &[Field]) {
        if !params.is_empty() {
            self.templates.push(Rc::new(decl.clone()));
            self.define(&decl.name, Def::Template(self.templates.len() - 1));
            return;
        }
        let id = self.add_struct(decl.name.name.clone(), which, fields, decl);
        self.define(&decl.name, Def::Type(Type::Struct(id)));
    }

    fn add_struct(&mut self, name: Symbol, kind: Composite, fields: &[Field], decl: &Decl) -> StructId {
        let mut defs: Vec<FieldDef> = Vec::new();
        for field in fields {
            let ty = self.resolve_type(&field.ty);
            if defs.iter().any(|d| d.name == field.name.name) {
                let message = format!("'{}' has two fields '{}'", decl.name.name, field.name.name);
                self.error(field.name.span, message);
            }
            if !self.field_fits(kind, &ty) {
                let (what, allowed) = match kind {
                    Composite::Header => (
                        "header",
                        "bit, int, varbit, bool, enums with a width and structs of these",
                    ),
                    Composite::Union => ("header union", "headers"),
                    Composite::Struct => ("struct", "types with values"),
                };
                let shown = self.show(&ty);
                let message = format!("a {what} cannot hold {shown}; it holds {allowed}");
                self.error(field.ty.span, message);
            }
            self.found.declare(field.name.span, "a field");
            defs.push(FieldDef {
                span: field.name.span,
                name: field.name.name.clone(),
                ty,
                annotations: self.annotations(&field.annotations),
            });
        }
        let mut leaves = defs.iter().map(|d| self.program.types.leaves(&d.ty)).sum();
        if !self.small_enough(&name, leaves, decl.name.span) {
            defs.iter_mut().for_each(|d| d.ty = Type::Unknown);
            leaves = 0;
        }
        let id = StructId(self.program.types.structs.len() as u32);
        let annotations = self.annotations(&decl.annotations);
        self.program.types.structs.push(StructDef {
            leaves,
            name,
            kind,
            fields: defs,
            annotations,
            span: decl.name.span,
        });
        id
    }

    fn small_enough(&mut self, name: &str, fields: u64, span: Span) -> bool {
        if fields > MAX_FIELDS {
            let message =
                format!("'{name}' has {fields} fields with those of its fields; at most {MAX_FIELDS} are allowed");
            self.error(span, message);
        }
        fields <= MAX_FIELDS
    }

    fn field_fits(&self, kind: Composite, ty: &Type) -> bool {
        let base = self.program.types.base(ty);
        match (kind, &base) {
            (_, Type::Unknown | Type::Var(_)) => true,
            (Composite::Header, Type::Bits { .. } | Type::Varbit(_) | Type::Bool) => true,
            (Composite::Header, Type::Struct(id)) => {
                let def = self.program.types.get(*id);
                def.kind == Composite::Struct
                    && def
                        .fields
                        .iter()
                        .all(|f| self.field_fits(Composite::Header, &f.ty) && !matches!(f.ty, Type::Varbit(_)))
            }
            (Composite::Union, Type::Struct(id)) => self.program.types.get(*id).kind == Composite::Header,
            (
                Composite::Struct,
                Type::Bits { .. }
                | Type::Varbit(_)
                | Type::Bool
                | Type::Error
                | Type::Enum(_)
                | Type::Struct(_)
                | Type::Stack(..)
                | Type::Tuple(_)
                | Type::Text
                | Type::Integer,
            ) => true,
            _ => false,
        }
    }

    pub(super) fn typedef(&mut self, decl: &Decl, ty: &TypeExpr, is_new: bool) {
        let mut ty = self.resolve_type(ty);
        let count = self.program.types.leaves(&ty);
        if !self.small_enough(&decl.name.name, count, decl.name.span) {
            ty = Type::Unknown;
        }
        if !is_new {
            self.define(&decl.name, Def::Type(ty));
            return;
        }
        let base = self.program.types.base(&ty);
        if !matches!(base, Type::Bits { .. } | Type::Bool | Type::Unknown | Type::Varbit(_)) {
            let shown = self.show(&ty);
            let message = format!("'type' makes a new type of bit, int or bool, not of {shown}");
            self.error(decl.name.span, message);
        }
        for annotation in decl.annotations.iter().filter(|a| &*a.name == "p4runtime_translation") {
            if !is_translation(&annotation.body) {
                let message = "a translation is @p4runtime_translation(\"uri\", bit<N>), or a number of bits or string in its place";
                self.error(decl.name.span, message);
            }
        }
        let id = NewTypeId(self.program.types.new_types.len() as u32);
        let def = NewTypeDef {
            name: decl.name.name.clone(),
            ty,
            annotations: self.annotations(&decl.annotations),
        };
        self.program.types.new_types.push(def);
        self.define(&decl.name, Def::Type(Type::New(id)));
    }

    pub(super) fn enumeration(
        &mut self,
        decl: &Decl,
        underlying: Option<&TypeExpr>,
        members: &[(Ident, Option<Expr>)],
    ) {
        let underlying = underlying.map(|t| (self.resolve_type(t), t.span));
        if let Some((ty, span)) = &underlying
            && !matches!(self.program.types.base(ty), Type::Bits { .. } | Type::Unknown)
        {
            let shown = self.show(ty);
            let message = format!("the type below an enum is bit<N> or int<N>, not {shown}");
            self.error(*span, message);
        }
        let mut list: Vec<(Symbol, Option<BigInt>)> = Vec::new();
        let mut places = Vec::new();
        for (name, value) in members {
            if list.iter().any(|(n, _)| *n == name.name) {
                let message = format!("'{}' has two members '{}'", decl.name.name, name.name);
                self.error(name.span, message);
            }
            let value = match (&underlying, value) {
                (Some((ty, _)), Some(e)) => {
                    let value = self.expr(e, Some(ty));
                    let value = self.convert(value, ty, "the member's value");
                    if value.as_int().is_none() && value.ty != Type::Unknown {
                        self.error(e.span, "the value of a member must be known when compiling");
                    }
                    value.as_int().cloned()
                }
                (Some(_), None) => {
                    let message = format!("the member '{}' needs a value, as the enum has a type", name.name);
                    self.error(name.span, message);
                    None
                }
                (None, Some(e)) => {
                    let message = "members have values only in an enum with a type: enum bit<8> E { ... }";
                    self.error(e.span, message);
                    None
                }
                (None, None) => None,
            };
            self.found.declare(name.span, "a member");
            places.push(name.span);
            list.push((name.name.clone(), value));
        }
        let id = EnumId(self.program.types.enums.len() as u32);
        self.program.types.enums.push(EnumDef {
            name: decl.name.name.clone(),
            members: list,
            places,
            underlying: underlying.map(|(ty, _)| ty),
        });
        self.define(&decl.name, Def::Type(Type::Enum(id)));
    }

    /// Declares type parameters in the current scope.
    pub(super) fn type_params(&mut self, params: &[Ident]) -> Vec<TypeVarId> {
        let declare = |c: &mut Self, p: &Ident| {
            let id = TypeVarId(c.program.types.vars.len() as u32);
            c.program.types.vars.push(p.name.clone());
            c.define(p, Def::Type(Type::Var(id)));
            id
        };
        params.iter().map(|p| declare(self, p)).collect()
    }

    /// Index and type of a field; if it is unknown, an error that lists the fields.
    pub(super) fn field_of(&mut self, id: StructId, name: &Ident) -> Option<(usize, Type)> {
        let def = self.program.types.get(id);
        if let Some((index, field)) = def.field(&name.name) {
            self.found.refer(name.span, field.span);
            return Some((index, field.ty.clone()));
        }
        if &*name.name == PLACEHOLDER {
            self.members_fit(&Type::Struct(id));
        }
        let def = self.program.types.get(id);
        let hint = suggestion(&name.name, def.fields.iter().map(|f| &*f.name), "it has");
        let message = format!("no field '{}' in {}{hint}", name.name, def.name);
        self.error(name.span, message);
        None
    }
}

/// True if an annotation has a URI and a type of the control plane: `bit<N>`, N alone, or `string`.
fn is_translation(body: &AnnotationBody) -> bool {
    let AnnotationBody::Unstructured(tokens) = body else {
        return false;
    };
    let tokens: Vec<&Tok> = tokens.iter().map(|t| &t.tok).collect();
    let [Tok::Str(_), Tok::Punct(","), ty @ ..] = &tokens[..] else {
        return false;
    };
    match ty {
        [Tok::Int(_)] => true,
        [Tok::Word(word)] => &**word == "string",
        [Tok::Word(word), Tok::Punct("<"), Tok::Int(_), Tok::Punct(">")] => &**word == "bit",
        _ => false,
    }
}
