//! `P4Data`: conversion between values of P4 types and the flat list of fields in the data plane (specification,
//! section "Representation of Arbitrary P4 Types").

use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::p4_bitstring_like_type_spec::TypeSpec as Bits;
use p4sched_proto::p4::config::v1::p4_data_type_spec::TypeSpec;
use p4sched_proto::p4::config::v1::p4_new_type_spec::Representation;
use p4sched_proto::p4::config::v1::p4_new_type_translation::SdnType;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::p4_data::Data;

use crate::bytestring::{canonical, canonical_signed, full_width, full_width_signed};
use crate::fault::Fault;

/// Follows the names that `type` declarations give to the type behind them.
fn resolve<'a>(types: &'a p4info::P4TypeInfo, spec: &'a p4info::P4DataTypeSpec) -> Option<&'a TypeSpec> {
    let mut spec = spec.type_spec.as_ref()?;
    for _ in 0..=types.new_types.len() {
        let TypeSpec::NewType(name) = spec else {
            return Some(spec);
        };
        match types.new_types.get(&name.name)?.representation.as_ref()? {
            Representation::OriginalType(original) => spec = original.type_spec.as_ref()?,
            Representation::TranslatedType(_) => return Some(spec),
        }
    }
    None
}

/// The width in bits of a type that is translated for the controller.
fn translated_width(types: &p4info::P4TypeInfo, name: &str) -> Option<u32> {
    match types.new_types.get(name)?.representation.as_ref()? {
        Representation::TranslatedType(translated) => match translated.sdn_type.as_ref()? {
            SdnType::SdnBitwidth(width) => u32::try_from(*width).ok(),
            SdnType::SdnString(_) => None,
        },
        Representation::OriginalType(_) => None,
    }
}

/// The message for a value whose fields stand one after the other. `None` if the type is unknown or has more fields.
pub fn from_fields(
    types: &p4info::P4TypeInfo,
    spec: &p4info::P4DataTypeSpec,
    fields: &mut impl Iterator<Item = Vec<u8>>,
) -> Option<p4rt::P4Data> {
    let data = match resolve(types, spec)? {
        TypeSpec::Bitstring(bits) => Data::Bitstring(bitstring(bits, &fields.next()?)),
        TypeSpec::Bool(_) => Data::Bool(fields.next()?.iter().any(|&byte| byte != 0)),
        TypeSpec::SerializableEnum(_) => Data::EnumValue(canonical(&fields.next()?)),
        TypeSpec::NewType(_) => Data::Bitstring(canonical(&fields.next()?)),
        TypeSpec::Struct(name) => {
            let members = types.structs.get(&name.name)?.members.iter();
            let members = members.map(|member| from_fields(types, member.type_spec.as_ref()?, fields));
            Data::Struct(p4rt::P4StructLike {
                members: members.collect::<Option<_>>()?,
            })
        }
        TypeSpec::Tuple(tuple) => {
            let members = tuple.members.iter().map(|member| from_fields(types, member, fields));
            Data::Tuple(p4rt::P4StructLike {
                members: members.collect::<Option<_>>()?,
            })
        }
        TypeSpec::Header(name) => {
            let members = types.headers.get(&name.name)?.members.iter();
            let bitstrings = members.map(|member| Some(bitstring(member.type_spec.as_ref()?, &fields.next()?)));
            Data::Header(p4rt::P4Header {
                is_valid: true,
                bitstrings: bitstrings.collect::<Option<_>>()?,
            })
        }
        _ => return None,
    };
    Some(p4rt::P4Data { data: Some(data) })
}

fn bitstring(bits: &p4info::P4BitstringLikeTypeSpec, value: &[u8]) -> Vec<u8> {
    match &bits.type_spec {
        Some(Bits::Int(int)) => canonical_signed(value, u32::try_from(int.bitwidth).unwrap_or(0)),
        _ => canonical(value),
    }
}

/// The width in bits of each field of a type, in order. `None` if one has no width.
pub fn widths(types: &p4info::P4TypeInfo, spec: &p4info::P4DataTypeSpec) -> Option<Vec<u32>> {
    let one = |width: i32| Some(vec![u32::try_from(width).ok()?]);
    match resolve(types, spec)? {
        TypeSpec::Bitstring(bits) => bitstring_width(bits).map(|width| vec![width]),
        TypeSpec::Bool(_) => one(1),
        TypeSpec::SerializableEnum(name) => one(types
            .serializable_enums
            .get(&name.name)?
            .underlying_type
            .as_ref()?
            .bitwidth),
        TypeSpec::NewType(name) => translated_width(types, &name.name).map(|width| vec![width]),
        TypeSpec::Struct(name) => {
            let members = types.structs.get(&name.name)?.members.iter();
            let widths = members.map(|member| widths(types, member.type_spec.as_ref()?));
            Some(widths.collect::<Option<Vec<_>>>()?.concat())
        }
        TypeSpec::Tuple(tuple) => {
            let widths = tuple.members.iter().map(|member| widths(types, member));
            Some(widths.collect::<Option<Vec<_>>>()?.concat())
        }
        TypeSpec::Header(name) => {
            let members = types.headers.get(&name.name)?.members.iter();
            members
                .map(|member| bitstring_width(member.type_spec.as_ref()?))
                .collect()
        }
        _ => None,
    }
}

fn bitstring_width(bits: &p4info::P4BitstringLikeTypeSpec) -> Option<u32> {
    match bits.type_spec.as_ref()? {
        Bits::Bit(bit) => u32::try_from(bit.bitwidth).ok(),
        Bits::Int(int) => u32::try_from(int.bitwidth).ok(),
        Bits::Varbit(_) => None,
    }
}

/// The fields of a value, each at full width; `what` names the value in messages.
///
/// # Errors
/// `INVALID_ARGUMENT` if the value is not of the type, `OUT_OF_RANGE` if a part does not fit, `UNIMPLEMENTED` for types
/// that registers cannot have.
pub fn to_fields(
    types: &p4info::P4TypeInfo,
    spec: &p4info::P4DataTypeSpec,
    what: &str,
    value: &p4rt::P4Data,
) -> Result<Vec<Vec<u8>>, Fault> {
    let wrong = || Fault::invalid(format!("{what}: the value is not of the type that P4Info says"));
    let field = match (resolve(types, spec), value.data.as_ref().ok_or_else(wrong)?) {
        (Some(TypeSpec::Bitstring(bits)), Data::Bitstring(value)) => match &bits.type_spec {
            Some(Bits::Bit(bit)) => full_width(&what, value, u32::try_from(bit.bitwidth).unwrap_or(0))?,
            Some(Bits::Int(int)) => full_width_signed(&what, value, u32::try_from(int.bitwidth).unwrap_or(0))?,
            _ => return Err(Fault::unimplemented(format!("{what}: varbit values"))),
        },
        (Some(TypeSpec::Bool(_)), Data::Bool(value)) => vec![u8::from(*value)],
        (Some(TypeSpec::SerializableEnum(name)), Data::EnumValue(value)) => {
            let underlying = types
                .serializable_enums
                .get(&name.name)
                .and_then(|spec| spec.underlying_type.as_ref());
            let width = underlying
                .and_then(|bit| u32::try_from(bit.bitwidth).ok())
                .ok_or_else(wrong)?;
            full_width(&what, value, width)?
        }
        (Some(TypeSpec::NewType(name)), Data::Bitstring(value)) => {
            full_width(&what, value, translated_width(types, &name.name).ok_or_else(wrong)?)?
        }
        (Some(TypeSpec::Struct(name)), Data::Struct(value)) => {
            let spec = types.structs.get(&name.name).ok_or_else(wrong)?;
            let members: Vec<_> = spec
                .members
                .iter()
                .filter_map(|member| member.type_spec.as_ref())
                .collect();
            return members_to_fields(types, &members, what, value);
        }
        (Some(TypeSpec::Tuple(tuple)), Data::Tuple(value)) => {
            return members_to_fields(types, &tuple.members.iter().collect::<Vec<_>>(), what, value);
        }
        (None, _) => return Err(Fault::unimplemented(format!("{what}: its type is not in P4Info"))),
        _ => return Err(wrong()),
    };
    Ok(vec![field])
}

fn members_to_fields(
    types: &p4info::P4TypeInfo,
    members: &[&p4info::P4DataTypeSpec],
    what: &str,
    value: &p4rt::P4StructLike,
) -> Result<Vec<Vec<u8>>, Fault> {
    if members.len() != value.members.len() {
        let (given, wanted) = (value.members.len(), members.len());
        return Err(Fault::invalid(format!(
            "{what}: {given} members, its type has {wanted}"
        )));
    }
    let fields = members
        .iter()
        .zip(&value.members)
        .map(|(spec, value)| to_fields(types, spec, what, value));
    Ok(fields.collect::<Result<Vec<_>, _>>()?.concat())
}

#[cfg(test)]
mod tests {
    use crate::fault::Code;

    use super::*;

    fn bit(width: i32) -> p4info::P4DataTypeSpec {
        let bits = Bits::Bit(p4info::P4BitTypeSpec { bitwidth: width });
        let bits = p4info::P4BitstringLikeTypeSpec {
            type_spec: Some(bits),
            ..Default::default()
        };
        p4info::P4DataTypeSpec {
            type_spec: Some(TypeSpec::Bitstring(bits)),
        }
    }

    #[test]
    fn structs_are_flattened_and_rebuilt_in_order() {
        let member = |name: &str, width| p4info::p4_struct_type_spec::Member {
            name: name.to_owned(),
            type_spec: Some(bit(width)),
        };
        let learn = p4info::P4StructTypeSpec {
            members: vec![member("mac", 48), member("port", 9)],
            ..Default::default()
        };
        let mut types = p4info::P4TypeInfo::default();
        types.structs.insert("learn_t".to_owned(), learn);
        let named = TypeSpec::Struct(p4info::P4NamedType {
            name: "learn_t".to_owned(),
        });
        let spec = p4info::P4DataTypeSpec { type_spec: Some(named) };
        let fields = vec![vec![0, 0, 0, 0, 1, 2], vec![1, 0]];
        let data = from_fields(&types, &spec, &mut fields.clone().into_iter()).expect("the type is known");
        let Some(Data::Struct(parts)) = &data.data else {
            panic!("a struct stays a struct: {data:?}")
        };
        let first = parts.members[0].data.clone();
        assert_eq!(first, Some(Data::Bitstring(vec![1, 2])));
        assert_eq!(to_fields(&types, &spec, "learn", &data), Ok(fields));
    }

    #[test]
    fn the_widths_of_a_struct_are_those_of_its_members() {
        let member = |name: &str, width| p4info::p4_struct_type_spec::Member {
            name: name.to_owned(),
            type_spec: Some(bit(width)),
        };
        let pair = p4info::P4StructTypeSpec {
            members: vec![member("high", 32), member("low", 9)],
            ..Default::default()
        };
        let mut types = p4info::P4TypeInfo::default();
        types.structs.insert("pair_t".to_owned(), pair);
        let name = |name: &str| p4info::P4DataTypeSpec {
            type_spec: Some(TypeSpec::Struct(p4info::P4NamedType { name: name.to_owned() })),
        };
        assert_eq!(widths(&types, &name("pair_t")), Some(vec![32, 9]));
        assert_eq!(widths(&types, &name("other_t")), None);
    }

    #[test]
    fn a_value_of_another_type_is_invalid() {
        let value = p4rt::P4Data {
            data: Some(Data::Bool(true)),
        };
        let fault = to_fields(&p4info::P4TypeInfo::default(), &bit(8), "r", &value).expect_err("bool is not bit<8>");
        assert_eq!(fault.code, Code::InvalidArgument);
    }
}
