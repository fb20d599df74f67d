//! Table keys in the JSON: the fields of keys, and the keys of constant entries.

use super::json::{Json, Load};
use crate::bits::from_bytes;
use crate::run::key::KeySpec;
use crate::run::layout::{FieldOrValidity, Layout};
use crate::values::{MatchKey, MatchKind};

pub(crate) fn key_spec(json: &Json, layout: &Layout) -> Load<KeySpec> {
    let kind = json.get("match_type")?;
    let kind = match kind.str()? {
        "exact" => MatchKind::Exact,
        "lpm" => MatchKind::Lpm,
        "ternary" => MatchKind::Ternary,
        "range" => MatchKind::Range,
        "optional" => MatchKind::Optional,
        "valid" => MatchKind::Valid,
        other => return kind.error(format!("match type '{other}' is not supported")),
    };
    let target = json.get("target")?;
    let place = match kind {
        MatchKind::Valid => FieldOrValidity::Valid(layout.header(&target)?),
        _ => layout.field(&target)?,
    };
    let (slot, width, own_name) = match place {
        FieldOrValidity::Valid(header) => {
            let header = &layout.headers[header as usize];
            (header.valid, 1, format!("{}.$valid$", header.name))
        }
        FieldOrValidity::Field(field) => {
            let field = &layout.fields[field as usize];
            if field.length.is_some() {
                return target.error("a variable-length field cannot be a key");
            }
            (
                field.slot,
                field.width,
                format!("{}.{}", layout.headers[field.header as usize].name, field.name),
            )
        }
    };
    let mask = match json.opt("mask") {
        Some(mask) => match from_bytes(&mask.bytes()?, width) {
            Some(mask) => Some(mask),
            None => return mask.error(format!("wider than the field's {width} bits")),
        },
        None => None,
    };
    let name = json
        .opt("name")
        .map_or(Ok(own_name.as_str()), |name| name.str())?
        .to_string();
    Ok(KeySpec {
        name,
        kind,
        width,
        slot,
        mask,
    })
}

pub(crate) fn const_key(json: &Json) -> Load<MatchKey> {
    let kind = json.get("match_type")?;
    Ok(match kind.str()? {
        "exact" => MatchKey::Exact(json.get("key")?.bytes()?),
        "lpm" => {
            let prefix = json.get("prefix_length")?.count(u64::from(u16::MAX))? as u16;
            MatchKey::Lpm(json.get("key")?.bytes()?, prefix)
        }
        "ternary" => MatchKey::Ternary(json.get("key")?.bytes()?, json.get("mask")?.bytes()?),
        "range" => MatchKey::Range(json.get("start")?.bytes()?, json.get("end")?.bytes()?),
        "valid" => MatchKey::Valid(json.get("key")?.bool()?),
        "optional" => MatchKey::Optional(json.opt("key").map(|key| key.bytes()).transpose()?),
        other => return kind.error(format!("match type '{other}' is not supported")),
    })
}
