//! Types of registers, digests and user-defined types.

use p4sched_proto::p4::config::v1::{
    self as pb, P4DataTypeSpec, P4NamedType, p4_bitstring_like_type_spec::TypeSpec as Bits,
    p4_data_type_spec::TypeSpec as Spec,
};

use super::{Emitter, annotations};
use crate::{
    syntax::{
        ast::{AnnotationBody, Composite},
        token::{Symbol, Tok},
    },
    typed::types::{NewTypeId, Type},
};

fn named(name: &str) -> P4NamedType {
    P4NamedType { name: name.to_owned() }
}

fn bits(spec: Bits) -> Spec {
    Spec::Bitstring(pb::P4BitstringLikeTypeSpec {
        type_spec: Some(spec),
        ..Default::default()
    })
}

/// Content of `@p4runtime_translation`: a name, and the type for the control plane.
struct Translation {
    uri: String,
    /// Bits; `None` for a string.
    bits: Option<i32>,
}

impl Emitter<'_> {
    /// A type; the types that it uses are added to `type_info`.
    pub(super) fn type_spec(&mut self, ty: &Type) -> P4DataTypeSpec {
        let width = |w: u32| i32::try_from(w).unwrap_or(i32::MAX);
        let spec = match ty {
            Type::Bool => Spec::Bool(pb::P4BoolType {}),
            Type::Bits {
                signed: false,
                width: w,
            } => bits(Bits::Bit(pb::P4BitTypeSpec { bitwidth: width(*w) })),
            Type::Bits { signed: true, width: w } => bits(Bits::Int(pb::P4IntTypeSpec { bitwidth: width(*w) })),
            Type::Varbit(w) => bits(Bits::Varbit(pb::P4VarbitTypeSpec {
                max_bitwidth: width(*w),
            })),
            Type::Error => {
                self.errors();
                Spec::Error(pb::P4ErrorType {})
            }
            Type::Tuple(types) => {
                let members = types.iter().map(|t| self.type_spec(t)).collect();
                Spec::Tuple(pb::P4TupleTypeSpec { members })
            }
            Type::Struct(_) => return self.struct_spec(ty),
            Type::Stack(element, n) => {
                self.type_spec(element);
                let name = self.program.types.show(element);
                let header = Some(named(&name));
                Spec::HeaderStack(pb::P4HeaderStackTypeSpec {
                    header,
                    size: width(*n),
                })
            }
            Type::Enum(id) => return self.enum_spec(*id),
            Type::New(id) => {
                self.new_type(*id);
                Spec::NewType(named(&self.program.types.new_types[id.index()].name))
            }
            _ => return P4DataTypeSpec::default(),
        };
        P4DataTypeSpec { type_spec: Some(spec) }
    }

    fn type_info(&mut self) -> &mut pb::P4TypeInfo {
        self.info.type_info.get_or_insert_default()
    }

    fn errors(&mut self) {
        let members = self.program.errors.iter().map(ToString::to_string).collect();
        self.type_info().error = Some(pb::P4ErrorTypeSpec { members });
    }

    fn struct_spec(&mut self, ty: &Type) -> P4DataTypeSpec {
        let Type::Struct(id) = ty else {
            return P4DataTypeSpec::default();
        };
        let def = self.program.types.get(*id).clone();
        let name = crate::typed::annotations::name_of(&def.annotations).unwrap_or_else(|| def.name.to_string());
        let mut members = Vec::new();
        for field in &def.fields {
            let own = crate::typed::annotations::name_of(&field.annotations).unwrap_or_else(|| field.name.to_string());
            members.push((own, self.type_spec(&field.ty)));
        }
        let spec = match def.kind {
            Composite::Struct => {
                let member = |(name, spec)| pb::p4_struct_type_spec::Member {
                    name,
                    type_spec: Some(spec),
                };
                let members = members.into_iter().map(member).collect();
                let spec = pb::P4StructTypeSpec {
                    members,
                    ..Default::default()
                };
                self.type_info().structs.insert(name.clone(), spec);
                Spec::Struct(named(&name))
            }
            Composite::Header => {
                let member = |(name, spec): (String, P4DataTypeSpec)| {
                    let type_spec = match spec.type_spec {
                        Some(Spec::Bitstring(bits)) => Some(bits),
                        _ => None,
                    };
                    pb::p4_header_type_spec::Member { name, type_spec }
                };
                let members = members.into_iter().map(member).collect();
                let spec = pb::P4HeaderTypeSpec {
                    members,
                    ..Default::default()
                };
                self.type_info().headers.insert(name.clone(), spec);
                Spec::Header(named(&name))
            }
            Composite::Union => {
                let member = |(name, spec): (String, P4DataTypeSpec)| {
                    let header = match spec.type_spec {
                        Some(Spec::Header(header)) => Some(header),
                        _ => None,
                    };
                    pb::p4_header_union_type_spec::Member { name, header }
                };
                let members = members.into_iter().map(member).collect();
                let spec = pb::P4HeaderUnionTypeSpec {
                    members,
                    ..Default::default()
                };
                self.type_info().header_unions.insert(name.clone(), spec);
                Spec::HeaderUnion(named(&name))
            }
        };
        P4DataTypeSpec { type_spec: Some(spec) }
    }

    fn enum_spec(&mut self, id: crate::typed::types::EnumId) -> P4DataTypeSpec {
        let def = self.program.types.enums[id.index()].clone();
        let name = def.name.to_string();
        let spec = match &def.underlying {
            None => {
                let member = |(name, _): &(Symbol, _)| pb::p4_enum_type_spec::Member {
                    name: name.to_string(),
                    ..Default::default()
                };
                let members = def.members.iter().map(member).collect();
                self.type_info().enums.insert(
                    name.clone(),
                    pb::P4EnumTypeSpec {
                        members,
                        ..Default::default()
                    },
                );
                Spec::Enum(named(&name))
            }
            Some(underlying) => {
                let width = self.width(underlying);
                let member = |(name, value): &(Symbol, Option<num_bigint::BigInt>)| {
                    let value = value.clone().unwrap_or_default();
                    pb::p4_serializable_enum_type_spec::Member {
                        name: name.to_string(),
                        value: super::tables::bytes(&value, width as u32),
                        ..Default::default()
                    }
                };
                let spec = pb::P4SerializableEnumTypeSpec {
                    underlying_type: Some(pb::P4BitTypeSpec { bitwidth: width }),
                    members: def.members.iter().map(member).collect(),
                    ..Default::default()
                };
                self.type_info().serializable_enums.insert(name.clone(), spec);
                Spec::SerializableEnum(named(&name))
            }
        };
        P4DataTypeSpec { type_spec: Some(spec) }
    }

    fn new_type(&mut self, id: NewTypeId) {
        let def = self.program.types.new_types[id.index()].clone();
        if self.type_info().new_types.contains_key(&*def.name) {
            return;
        }
        use pb::p4_new_type_spec::Representation;
        let representation = match self.translation(id) {
            Some(t) => {
                use pb::p4_new_type_translation::{SdnString, SdnType};
                let sdn = t.bits.map_or(SdnType::SdnString(SdnString {}), SdnType::SdnBitwidth);
                Representation::TranslatedType(pb::P4NewTypeTranslation {
                    uri: t.uri,
                    sdn_type: Some(sdn),
                })
            }
            None => {
                let base = self.program.types.base(&def.ty);
                Representation::OriginalType(self.type_spec(&base))
            }
        };
        let spec = pb::P4NewTypeSpec {
            representation: Some(representation),
            annotations: annotations::texts(&def.annotations, &["p4runtime_translation"]),
            annotation_locations: Vec::new(),
            structured_annotations: annotations::structured(&def.annotations),
        };
        self.type_info().new_types.insert(def.name.to_string(), spec);
    }

    /// Reads `@p4runtime_translation("uri", bits or string)` of a type.
    fn translation(&self, id: NewTypeId) -> Option<Translation> {
        let def = &self.program.types.new_types[id.index()];
        let annotation = def.annotations.iter().find(|a| &*a.name == "p4runtime_translation")?;
        let AnnotationBody::Unstructured(tokens) = &annotation.body else {
            return None;
        };
        let uri = match tokens.first().map(|t| &t.tok) {
            Some(Tok::Str(uri)) => uri.to_string(),
            _ => String::new(),
        };
        let mut integers = tokens.iter().filter_map(|t| match &t.tok {
            Tok::Int(literal) => i32::try_from(&literal.value).ok(),
            _ => None,
        });
        let is_string = tokens
            .iter()
            .any(|t| matches!(&t.tok, Tok::Word(w) if &**w == "string"));
        Some(Translation {
            uri,
            bits: if is_string { None } else { integers.next_back() },
        })
    }

    /// Width of a value in P4Runtime messages; 0 for a string.
    pub(super) fn width(&self, ty: &Type) -> i32 {
        if let Type::New(id) = ty {
            return match self.translation(*id) {
                Some(t) => t.bits.unwrap_or(0),
                // A translation of the underlying type does not apply here.
                None => self.width(&self.program.types.base(ty)),
            };
        }
        match self.program.types.base(ty) {
            Type::Bool => 1,
            Type::Bits { width, .. } | Type::Varbit(width) => i32::try_from(width).unwrap_or(i32::MAX),
            // P4Runtime uses names for errors and for enums without an underlying type.
            _ => 0,
        }
    }

    /// Name of a type made by `type`; its definition is added to `type_info`.
    pub(super) fn type_name(&mut self, ty: &Type) -> Option<P4NamedType> {
        match ty {
            Type::New(id) => {
                self.new_type(*id);
                Some(named(&self.program.types.new_types[id.index()].name))
            }
            Type::Enum(id) => {
                self.enum_spec(*id);
                let def = &self.program.types.enums[id.index()];
                def.underlying.is_none().then(|| named(&def.name))
            }
            Type::Error => {
                self.errors();
                None
            }
            _ => None,
        }
    }
}
