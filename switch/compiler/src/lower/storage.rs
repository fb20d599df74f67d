//! Storage of values: header instances and fields.
//!
//! As in p4c's output, all numbers and bools outside of headers are fields of one metadata header, `scalars`.

use super::{
    Lowerer, Named,
    value::{Loc, Value},
};
use crate::{
    arch::Arch,
    ir::{Expr, Field, FieldRef, Header, HeaderRef, HeaderType, Stack, Ty, Union, UnionStack},
    source::Span,
    syntax::ast::Composite,
    typed::types::{StructId, Type},
};

/// Index of the header `scalars`, and of its type, in the program.
pub(super) const SCALARS: usize = 0;
/// Most fields of `scalars`.
const MAX_SCALARS: usize = 100_000;

impl Lowerer<'_> {
    /// Type of a value that is stored in one field; `None` for other values.
    pub(super) fn scalar_type(&self, ty: &Type) -> Option<Ty> {
        Some(match self.program.types.base(ty) {
            Type::Bool => Ty::Bool,
            Type::Bits { signed, width } => Ty::Bits { signed, width },
            Type::Varbit(width) => Ty::Varbit(width),
            Type::Enum(_) | Type::Error | Type::ActionRun(_) => Ty::bit(32),
            Type::Integer => Ty::Bits {
                signed: true,
                width: 512,
            },
            _ => return None,
        })
    }

    fn field_for(name: String, ty: Ty) -> Field {
        let signed = matches!(ty, Ty::Bits { signed: true, .. });
        Field {
            name,
            width: ty.width(),
            signed,
            is_varbit: matches!(ty, Ty::Varbit(_)),
        }
    }

    /// A new field of `scalars`.
    pub(super) fn scalar(&mut self, name: &str, ty: Ty, span: Span) -> Loc {
        let name = self.fresh_name(name);
        let fields = &mut self.ir.header_types[SCALARS].fields;
        if fields.len() >= MAX_SCALARS {
            self.error(span, "the program has too many variables");
            return Loc::Nowhere;
        }
        fields.push(Self::field_for(name, ty));
        let field = FieldRef::new(HeaderRef::Static(SCALARS), fields.len() - 1);
        Loc::Field(field, ty)
    }

    /// A new variable for an intermediate value.
    pub(super) fn temporary(&mut self, ty: Ty, span: Span) -> Loc {
        self.scalar("tmp", ty, span)
    }

    /// Fields of a header or struct, with nested structs flattened.
    fn flat_fields(&self, id: StructId, prefix: &str, out: &mut Vec<Field>) {
        for field in &self.program.types.get(id).fields {
            let name = crate::typed::annotations::name_of(&field.annotations).unwrap_or_else(|| field.name.to_string());
            let name = format!("{prefix}{name}");
            match (self.scalar_type(&field.ty), self.program.types.base(&field.ty)) {
                (Some(ty), _) => out.push(Self::field_for(name, ty)),
                (None, Type::Struct(inner)) => self.flat_fields(inner, &format!("{name}."), out),
                _ => {}
            }
        }
    }

    /// The header type of a struct.
    pub(super) fn header_type(&mut self, id: StructId) -> usize {
        if let Some(index) = self.header_types.get(&id) {
            return *index;
        }
        let mut fields = Vec::new();
        self.flat_fields(id, "", &mut fields);
        let def = self.program.types.get(id);
        let name = crate::typed::annotations::name_of(&def.annotations).unwrap_or_else(|| def.name.to_string());
        let bits: u64 = fields.iter().filter(|f| !f.is_varbit).map(|f| u64::from(f.width)).sum();
        if def.kind == Composite::Header && !bits.is_multiple_of(8) {
            self.odd_header(id, bits);
        }
        let types = &self.ir.header_types;
        let taken = |name: &str| types.iter().any(|t| t.name == name);
        let name = self.numbers.fresh(Named::HeaderType, &name, taken);
        self.ir.header_types.push(HeaderType { name, fields });
        let index = self.ir.header_types.len() - 1;
        self.header_types.insert(id, index);
        index
    }

    /// Refuses a header that does not fill its last byte. On the chip, only headers in packets must fill it; this is
    /// checked at the end.
    fn odd_header(&mut self, id: StructId, bits: u64) {
        let (name, span) = (&self.program.types.get(id).name, self.program.types.get(id).span);
        let message = format!(
            "the header {name} has {bits} bits; BMv2 takes headers whose bits are a multiple of 8, so {} more are needed",
            8 - bits % 8
        );
        match self.ir.arch {
            Arch::V1model => self.error(span, message),
            Arch::Tna | Arch::T2na => {
                let required = (!self.is_flexible(id)).then_some(message);
                self.tna.odd_headers.push((self.ir.header_types.len(), required, span));
            }
        }
    }

    fn header(&mut self, name: &str, id: StructId, metadata: bool) -> usize {
        let ty = self.header_type(id);
        let name = self.fresh_name(name);
        self.ir.headers.push(Header { name, ty, metadata });
        self.ir.headers.len() - 1
    }

    /// New storage for a variable of any type. Each header gets an instance.
    pub(super) fn storage(&mut self, name: &str, ty: &Type, span: Span) -> Loc {
        if !self.spend(span, 1) {
            return Loc::Nowhere;
        }
        if let Some(scalar) = self.scalar_type(ty) {
            return self.scalar(name, scalar, span);
        }
        match ty {
            Type::Struct(id) => match self.program.types.get(*id).kind {
                Composite::Header => Loc::Header(HeaderRef::Static(self.header(name, *id, false)), *id),
                Composite::Union => Loc::Union(self.union(name, *id), *id),
                Composite::Struct => Loc::Struct(self.struct_storage(name, *id, span)),
            },
            Type::Tuple(types) => {
                let part = |l: &mut Self, (i, t): (usize, &Type)| l.storage(&format!("{name}.f{i}"), t, span);
                Loc::Struct(types.iter().enumerate().map(|p| part(self, p)).collect())
            }
            Type::Stack(element, n) => self.stack(name, element, *n, span),
            _ => Loc::Nowhere,
        }
    }

    /// Storage of a struct's fields. Their names begin with the name of the struct, unless it is empty.
    pub(super) fn struct_storage(&mut self, name: &str, id: StructId, span: Span) -> Vec<Loc> {
        let fields: Vec<(String, Type)> = self
            .program
            .types
            .get(id)
            .fields
            .iter()
            .map(|f| {
                let own = crate::typed::annotations::name_of(&f.annotations).unwrap_or_else(|| f.name.to_string());
                let own = own.trim_start_matches('.').to_owned();
                (
                    if name.is_empty() { own } else { format!("{name}.{own}") },
                    f.ty.clone(),
                )
            })
            .collect();
        fields.iter().map(|(name, ty)| self.storage(name, ty, span)).collect()
    }

    fn union(&mut self, name: &str, id: StructId) -> usize {
        let fields = self.program.types.get(id).fields.clone();
        let type_name = self.program.types.get(id).name.to_string();
        let mut members = Vec::new();
        for field in &fields {
            if let Type::Struct(inner) = field.ty {
                let header = self.header(&format!("{name}.{}", field.name), inner, false);
                members.push((field.name.to_string(), header));
            }
        }
        self.ir.unions.push(Union {
            name: name.to_owned(),
            type_name,
            members,
        });
        self.ir.unions.len() - 1
    }

    fn stack(&mut self, name: &str, element: &Type, n: u32, span: Span) -> Loc {
        let Type::Struct(id) = element else { return Loc::Nowhere };
        if !self.spend(span, n as usize) {
            return Loc::Nowhere;
        }
        let name = self.fresh_name(name);
        let elements = (0..n).map(|i| format!("{name}[{i}]"));
        if self.program.types.get(*id).kind == Composite::Union {
            let elements: Vec<usize> = elements.map(|e| self.union(&e, *id)).collect();
            let type_name = self.program.types.get(*id).name.to_string();
            self.ir.union_stacks.push(UnionStack {
                name,
                type_name,
                elements,
            });
            return Loc::UnionStack(self.ir.union_stacks.len() - 1, *id);
        }
        let elements: Vec<usize> = elements.map(|e| self.header(&e, *id, false)).collect();
        let ty = self.header_type(*id);
        self.ir.stacks.push(Stack { name, ty, elements });
        Loc::Stack(self.ir.stacks.len() - 1, *id)
    }

    /// Makes the metadata header of all variables, which comes first.
    pub(super) fn scalars(&mut self) {
        self.ir.header_types.push(HeaderType {
            name: "scalars_0".to_owned(),
            fields: Vec::new(),
        });
        self.ir.headers.push(Header {
            name: "scalars".to_owned(),
            ty: SCALARS,
            metadata: true,
        });
        self.names.insert("scalars".to_owned());
    }

    /// Pads a metadata header's type to whole bytes, because BMv2 needs them.
    pub(super) fn pad(&mut self, ty: usize, name: &str) {
        let fields = &mut self.ir.header_types[ty].fields;
        let bits: u64 = fields.iter().map(|f| u64::from(f.width)).sum();
        if !bits.is_multiple_of(8) {
            fields.push(Field {
                name: name.to_owned(),
                width: 8 - (bits % 8) as u32,
                signed: false,
                is_varbit: false,
            });
        }
    }

    /// Places of a struct's fields in a header, from field `first` on, and the number of fields used.
    fn fields_of(&self, header: &HeaderRef, id: StructId, first: usize) -> (Vec<Loc>, usize) {
        let mut at = first;
        let mut list = Vec::new();
        for field in &self.program.types.get(id).fields {
            match (self.scalar_type(&field.ty), self.program.types.base(&field.ty)) {
                (Some(ty), _) => {
                    list.push(Loc::Field(FieldRef::new(header.clone(), at), ty));
                    at += 1;
                }
                (None, Type::Struct(inner)) => {
                    let (parts, used) = self.fields_of(header, inner, at);
                    list.push(Loc::Struct(parts));
                    at += used;
                }
                _ => list.push(Loc::Nowhere),
            }
        }
        (list, at - first)
    }

    /// The place of field `index` of a header, struct or union.
    pub(super) fn field_loc(&self, base: &Loc, index: usize) -> Loc {
        match base {
            Loc::Struct(parts) => parts.get(index).cloned().unwrap_or(Loc::Nowhere),
            Loc::Header(header, id) => self
                .fields_of(header, *id, 0)
                .0
                .get(index)
                .cloned()
                .unwrap_or(Loc::Nowhere),
            Loc::Union(union, id) => {
                let member = &self.ir.unions[*union].members[index];
                match self.program.types.get(*id).fields[index].ty {
                    Type::Struct(inner) => Loc::Header(HeaderRef::Static(member.1), inner),
                    _ => Loc::Nowhere,
                }
            }
            Loc::NextUnion(stack, id) => {
                Loc::NextUnionMember(*stack, self.program.types.get(*id).fields[index].name.to_string())
            }
            _ => Loc::Nowhere,
        }
    }

    /// Places of all fields of a header.
    pub(super) fn header_fields(&self, header: &HeaderRef, id: StructId) -> Vec<Loc> {
        self.fields_of(header, id, 0).0
    }

    /// The headers in a place, in order.
    pub(super) fn headers_in(&self, loc: &Loc) -> Vec<usize> {
        match loc {
            Loc::Header(HeaderRef::Static(h), _) => vec![*h],
            Loc::Struct(parts) => parts.iter().flat_map(|p| self.headers_in(p)).collect(),
            Loc::Stack(s, _) => self.ir.stacks[*s].elements.clone(),
            Loc::Union(u, _) => self.ir.unions[*u].members.iter().map(|(_, h)| *h).collect(),
            Loc::UnionStack(s, _) => {
                let unions = &self.ir.union_stacks[*s].elements;
                unions
                    .iter()
                    .flat_map(|u| self.ir.unions[*u].members.iter().map(|(_, h)| *h))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Initial value of a type before any assignment (specification section 7.3).
    pub(super) fn default_value(&self, ty: &Type) -> Value {
        if let Some(scalar) = self.scalar_type(ty) {
            return Value::Scalar(match scalar {
                Ty::Bool => Expr::bool(false),
                ty => Expr::int(&num_bigint::BigInt::ZERO, ty),
            });
        }
        match ty {
            Type::Struct(id) if self.program.types.get(*id).kind == Composite::Struct => {
                let fields = &self.program.types.get(*id).fields;
                Value::List(fields.iter().map(|f| self.default_value(&f.ty)).collect())
            }
            Type::Tuple(types) => Value::List(types.iter().map(|t| self.default_value(t)).collect()),
            _ => Value::Invalid,
        }
    }
}
