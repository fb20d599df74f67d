//! Types (specification section 7).

use std::rc::Rc;

use super::annotations::Annotations;
use crate::{
    source::Span,
    syntax::{ast::Composite, token::Symbol},
};

macro_rules! index {
    ($(#[doc = $doc:literal] $name:ident)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Index in the list of its kind.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    #[doc = "A header, struct or header union."] StructId
    #[doc = "An enum."] EnumId
    #[doc = "A type made by `type`."] NewTypeId
    #[doc = "An extern object type."] ExternId
    #[doc = "An extern function."] ExternFnId
    #[doc = "A function."] FunctionId
    #[doc = "An action."] ActionId
    #[doc = "A table."] TableId
    #[doc = "A parser with a body."] ParserId
    #[doc = "A control with a body."] ControlId
    #[doc = "A parser or control without a body: a type for package parameters."] BlockTypeId
    #[doc = "A package type."] PackageId
    #[doc = "A declared instance."] InstanceId
    #[doc = "A parser value set."] ValueSetId
    #[doc = "A variable, constant or parameter."] VarId
    #[doc = "A type parameter."] TypeVarId
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Type of an expression with an error; it fits everywhere.
    Unknown,
    Void,
    Bool,
    /// `int`: known at compile time, of any size.
    Integer,
    /// `bit<width>` or `int<width>`
    Bits {
        /// Two's complement.
        signed: bool,
        /// Width in bits.
        width: u32,
    },
    /// `varbit<width>`
    Varbit(u32),
    Text,
    Error,
    MatchKind,
    /// Header, struct or union
    Struct(StructId),
    /// Enum, with or without an underlying type
    Enum(EnumId),
    /// Made by `type`
    New(NewTypeId),
    /// `T[n]`
    Stack(Rc<Type>, u32),
    /// `tuple<...>`, or a list in braces
    Tuple(Rc<[Type]>),
    /// A list in braces with field names
    Record(Rc<[(Symbol, Type)]>),
    /// `list<T>`
    List(Rc<Type>),
    /// A set of values, in key sets
    Set(Rc<Type>),
    /// An extern object
    Extern(ExternId, Rc<[Type]>),
    /// An instance of a parser
    Parser(ParserId),
    /// An instance of a control
    Control(ControlId),
    /// A parser or control type without body
    Block(BlockTypeId, Rc<[Type]>),
    /// An instance of a package
    Package(PackageId, Rc<[Type]>),
    /// Result of `table.apply()`
    ApplyResult(TableId),
    /// `table.apply().action_run`
    ActionRun(TableId),
    /// A type parameter
    Var(TypeVarId),
    /// `{#}`, before its header is known; `...`, before its type is known
    Invalid,
    /// `_` as a type argument
    DontCare,
}

impl Type {
    /// `bit<width>`
    #[must_use]
    pub fn bit(width: u32) -> Type {
        Type::Bits { signed: false, width }
    }
}

/// A field of a header, struct or union.
#[derive(Clone, Debug)]
pub struct FieldDef {
    pub name: Symbol,
    /// Place of the name.
    pub span: Span,
    pub ty: Type,
    pub annotations: Annotations,
}

/// A header, struct or union.
#[derive(Clone, Debug)]
pub struct StructDef {
    pub name: Symbol,
    pub kind: Composite,
    pub fields: Vec<FieldDef>,
    /// Number of fields; a nested struct counts as its own fields.
    pub leaves: u64,
    pub annotations: Annotations,
    pub span: Span,
}

impl StructDef {
    /// Finds a field by name: its index and definition.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<(usize, &FieldDef)> {
        self.fields.iter().enumerate().find(|(_, f)| &*f.name == name)
    }
}

#[derive(Clone, Debug)]
pub struct EnumDef {
    pub name: Symbol,
    /// Members; with values if there is an underlying type.
    pub members: Vec<(Symbol, Option<num_bigint::BigInt>)>,
    /// Places of the members' names.
    pub places: Vec<Span>,
    pub underlying: Option<Type>,
}

/// A type made by `type`.
#[derive(Clone, Debug)]
pub struct NewTypeDef {
    pub name: Symbol,
    /// Underlying type.
    pub ty: Type,
    pub annotations: Annotations,
}

#[derive(Clone, Debug, Default)]
pub struct Types {
    /// Headers, structs, unions.
    pub structs: Vec<StructDef>,
    pub enums: Vec<EnumDef>,
    /// Types made by `type`.
    pub new_types: Vec<NewTypeDef>,
    /// Names of externs.
    pub externs: Vec<Symbol>,
    /// Names of parsers.
    pub parsers: Vec<Symbol>,
    /// Names of controls.
    pub controls: Vec<Symbol>,
    /// Names of parser and control types.
    pub blocks: Vec<Symbol>,
    /// Names of packages.
    pub packages: Vec<Symbol>,
    /// Names of tables.
    pub tables: Vec<Symbol>,
    /// Names of type parameters.
    pub vars: Vec<Symbol>,
}

impl Types {
    #[must_use]
    pub fn get(&self, id: StructId) -> &StructDef {
        &self.structs[id.index()]
    }

    /// Type below any `type` and any enum with an underlying type.
    #[must_use]
    pub fn base(&self, ty: &Type) -> Type {
        match ty {
            Type::New(id) => self.base(&self.new_types[id.index()].ty),
            Type::Enum(id) => self.enums[id.index()]
                .underlying
                .clone()
                .map_or(ty.clone(), |u| self.base(&u)),
            _ => ty.clone(),
        }
    }

    /// Kind of struct, if the type is a struct.
    #[must_use]
    pub fn composite(&self, ty: &Type) -> Option<Composite> {
        match ty {
            Type::Struct(id) => Some(self.get(*id).kind),
            _ => None,
        }
    }

    /// Width in bits, if it is fixed: `minSizeInBits` and `maxSizeInBits` of the specification.
    #[must_use]
    pub fn width(&self, ty: &Type, largest: bool) -> Option<u64> {
        Some(match self.base(ty) {
            Type::Bool => 1,
            Type::Bits { width, .. } => u64::from(width),
            Type::Varbit(width) => {
                if largest {
                    u64::from(width)
                } else {
                    0
                }
            }
            Type::Struct(id) => {
                let def = self.get(id);
                let widths: Option<Vec<u64>> = def.fields.iter().map(|f| self.width(&f.ty, largest)).collect();
                match def.kind {
                    Composite::Union if largest => widths?.into_iter().max().unwrap_or(0),
                    Composite::Union => widths?.into_iter().min().unwrap_or(0),
                    _ => widths?.into_iter().sum(),
                }
            }
            Type::Stack(element, n) => self.width(&element, largest)? * u64::from(n),
            Type::Tuple(list) => list.iter().map(|t| self.width(t, largest)).sum::<Option<u64>>()?,
            _ => return None,
        })
    }

    /// Number of numbers and bools in a value of the type.
    #[must_use]
    pub fn leaves(&self, ty: &Type) -> u64 {
        match ty {
            Type::Struct(id) => self.get(*id).leaves,
            Type::Stack(element, n) => self.leaves(element).saturating_mul(u64::from(*n)),
            Type::Tuple(types) => types.iter().map(|t| self.leaves(t)).sum(),
            _ => 1,
        }
    }

    /// The type as written in P4.
    #[must_use]
    pub fn show(&self, ty: &Type) -> String {
        let list = |types: &[Type]| types.iter().map(|t| self.show(t)).collect::<Vec<_>>().join(", ");
        let generic = |name: &Symbol, args: &[Type]| {
            if args.is_empty() {
                name.to_string()
            } else {
                format!("{name}<{}>", list(args))
            }
        };
        match ty {
            Type::Unknown | Type::DontCare => "_".to_owned(),
            Type::Void => "void".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Integer => "int".to_owned(),
            Type::Bits { signed: false, width } => format!("bit<{width}>"),
            Type::Bits { signed: true, width } => format!("int<{width}>"),
            Type::Varbit(width) => format!("varbit<{width}>"),
            Type::Text => "string".to_owned(),
            Type::Error => "error".to_owned(),
            Type::MatchKind => "match_kind".to_owned(),
            Type::Struct(id) => self.get(*id).name.to_string(),
            Type::Enum(id) => self.enums[id.index()].name.to_string(),
            Type::New(id) => self.new_types[id.index()].name.to_string(),
            Type::Stack(element, n) => format!("{}[{n}]", self.show(element)),
            Type::Tuple(types) => format!("tuple<{}>", list(types)),
            Type::Record(fields) => {
                format!(
                    "{{{}}}",
                    fields.iter().map(|(n, _)| n.to_string()).collect::<Vec<_>>().join(", ")
                )
            }
            Type::List(element) => format!("list<{}>", self.show(element)),
            Type::Set(element) => format!("set<{}>", self.show(element)),
            Type::Extern(id, args) => generic(&self.externs[id.index()], args),
            Type::Parser(id) => self.parsers[id.index()].to_string(),
            Type::Control(id) => self.controls[id.index()].to_string(),
            Type::Block(id, args) => generic(&self.blocks[id.index()], args),
            Type::Package(id, args) => generic(&self.packages[id.index()], args),
            Type::ApplyResult(id) => format!("result of {}.apply()", self.tables[id.index()]),
            Type::ActionRun(id) => format!("action of {}", self.tables[id.index()]),
            Type::Var(id) => self.vars[id.index()].to_string(),
            Type::Invalid => "{#}".to_owned(),
        }
    }
}
