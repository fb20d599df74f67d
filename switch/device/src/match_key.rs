//! Match keys: conversion between P4Runtime's field matches and the data plane's keys.

use p4sched_dataplane::{MatchKey, MatchKind};
use p4sched_proto::p4::v1::field_match::FieldMatchType;
use p4sched_proto::p4::v1::{FieldMatch, TableEntry, field_match};

use crate::bytestring::{byte_width, canonical, full_width, mask_top};
use crate::fault::Fault;
use crate::index::{Field, Table};
use crate::store::Key;

/// The key in a request: one match for each key field, in order, with values at full width.
///
/// # Errors
/// `INVALID_ARGUMENT` for missing, unknown, repeated or wrongly typed fields, for "don't care" matches that are not
/// omitted, and for value bits outside the mask or prefix; `OUT_OF_RANGE` for values that are too wide. The messages
/// name `owner`, the table.
pub fn from_request(owner: &str, fields: &[Field], matches: &[FieldMatch]) -> Result<Vec<MatchKey>, Fault> {
    for (position, given) in matches.iter().enumerate() {
        if !fields.iter().any(|field| field.id == given.field_id) {
            let known: Vec<String> = fields
                .iter()
                .map(|field| format!("{} ({})", field.id, field.name))
                .collect();
            let known = known.join(", ");
            return Err(Fault::invalid(format!(
                "{owner}: no key field {}; it has {known}",
                given.field_id
            )));
        }
        if matches[..position].iter().any(|other| other.field_id == given.field_id) {
            return Err(Fault::invalid(format!(
                "{owner}: key field {} is given twice",
                given.field_id
            )));
        }
    }
    let key = fields.iter().map(|field| {
        let given = matches.iter().find(|given| given.field_id == field.id);
        field_from_request(
            owner,
            field,
            given.and_then(|given| given.field_match_type.as_ref()),
            given.is_some(),
        )
        .map(|key| as_in_program(field, key))
    });
    key.collect()
}

/// The name of a field in an error message.
struct Place<'a> {
    owner: &'a str,
    field: &'a str,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}: key field '{}'", self.owner, self.field)
    }
}

fn field_from_request(
    owner: &str,
    field: &Field,
    given: Option<&FieldMatchType>,
    present: bool,
) -> Result<MatchKey, Fault> {
    let place = &Place {
        owner,
        field: &field.name,
    };
    let full = |bytes: &[u8]| full_width(place, bytes, field.width);
    let width = byte_width(field.width);
    let kind = if field.in_program == MatchKind::Valid {
        MatchKind::Valid
    } else {
        field.kind
    };
    match (kind, given) {
        (_, None) if present => Err(Fault::invalid(format!("{place}: a match without a value"))),
        (MatchKind::Exact | MatchKind::Valid, None) => Err(Fault::invalid(format!(
            "{place} is missing; an exact field cannot be omitted"
        ))),
        (MatchKind::Lpm, None) => Ok(MatchKey::Lpm(vec![0; width], 0)),
        (MatchKind::Ternary, None) => Ok(MatchKey::Ternary(vec![0; width], vec![0; width])),
        (MatchKind::Range, None) => Ok(MatchKey::Range(vec![0; width], ones(field.width))),
        (MatchKind::Optional, None) => Ok(MatchKey::Optional(None)),
        (MatchKind::Exact, Some(FieldMatchType::Exact(exact))) => Ok(MatchKey::Exact(full(&exact.value)?)),
        (MatchKind::Valid, Some(FieldMatchType::Exact(exact))) => {
            Ok(MatchKey::Valid(full_width(place, &exact.value, 1)? != [0]))
        }
        (MatchKind::Lpm, Some(FieldMatchType::Lpm(lpm))) => {
            prefix(place, field.width, full(&lpm.value)?, lpm.prefix_len)
        }
        (MatchKind::Ternary, Some(FieldMatchType::Ternary(ternary))) => {
            masked(place, full(&ternary.value)?, full(&ternary.mask)?)
        }
        (MatchKind::Range, Some(FieldMatchType::Range(range))) => {
            interval(place, field.width, full(&range.low)?, full(&range.high)?)
        }
        (MatchKind::Optional, Some(FieldMatchType::Optional(optional))) => {
            Ok(MatchKey::Optional(Some(full(&optional.value)?)))
        }
        (kind, Some(_)) => Err(Fault::invalid(format!(
            "{place} is matched as {kind:?}, the request has another kind"
        ))),
    }
}

/// The key for an optional field that the program matches as ternary: the mask has all bits, or none.
fn as_in_program(field: &Field, key: MatchKey) -> MatchKey {
    match (field.in_program, key) {
        (MatchKind::Ternary, MatchKey::Optional(Some(value))) => MatchKey::Ternary(value, ones(field.width)),
        (MatchKind::Ternary, MatchKey::Optional(None)) => {
            let zeros = vec![0; byte_width(field.width)];
            MatchKey::Ternary(zeros.clone(), zeros)
        }
        (_, key) => key,
    }
}

/// A field with all bits set, at full width.
pub(crate) fn ones(width: u32) -> Vec<u8> {
    let mut all = vec![0xff; byte_width(width)];
    mask_top(&mut all, width);
    all
}

/// The mask of a prefix, at full width.
pub(crate) fn prefix_mask(width: u32, length: u32) -> Vec<u8> {
    let mut mask = ones(width);
    let host_bits = width - length;
    let bytes = mask.len();
    for bit in 0..host_bits as usize {
        mask[bytes - 1 - bit / 8] &= !(1 << (bit % 8));
    }
    mask
}

fn outside(value: &[u8], mask: &[u8]) -> bool {
    value.iter().zip(mask).any(|(value, mask)| value & !mask != 0)
}

fn prefix(place: &Place, width: u32, value: Vec<u8>, length: i32) -> Result<MatchKey, Fault> {
    let Some(length) = u32::try_from(length).ok().filter(|length| (1..=width).contains(length)) else {
        return Err(Fault::invalid(format!(
            "{place}: a prefix of {length} bits; it has {width} (leave the field out to match everything)"
        )));
    };
    if outside(&value, &prefix_mask(width, length)) {
        return Err(Fault::invalid(format!(
            "{place}: value bits behind its prefix of {length} bits must be 0"
        )));
    }
    Ok(MatchKey::Lpm(value, length as u16))
}

fn masked(place: &Place, value: Vec<u8>, mask: Vec<u8>) -> Result<MatchKey, Fault> {
    if mask.iter().all(|&byte| byte == 0) {
        return Err(Fault::invalid(format!(
            "{place}: a mask of 0; leave the field out to match everything"
        )));
    }
    if outside(&value, &mask) {
        return Err(Fault::invalid(format!(
            "{place}: value bits outside the mask must be 0"
        )));
    }
    Ok(MatchKey::Ternary(value, mask))
}

fn interval(place: &Place, width: u32, low: Vec<u8>, high: Vec<u8>) -> Result<MatchKey, Fault> {
    if low > high {
        return Err(Fault::invalid(format!("{place}: the range ends before it begins")));
    }
    if low.iter().all(|&byte| byte == 0) && high == ones(width) {
        return Err(Fault::invalid(format!(
            "{place}: a range of all values; leave the field out to match everything"
        )));
    }
    Ok(MatchKey::Range(low, high))
}

/// The canonical form of a key: shortest values, without "don't care" fields.
pub fn to_response(fields: &[Field], key: &[MatchKey]) -> Vec<FieldMatch> {
    let matches = fields.iter().zip(key).filter_map(|(field, key)| {
        let value = match key {
            MatchKey::Exact(value) => FieldMatchType::Exact(field_match::Exact {
                value: canonical(value),
            }),
            MatchKey::Valid(valid) => FieldMatchType::Exact(field_match::Exact {
                value: vec![u8::from(*valid)],
            }),
            MatchKey::Lpm(_, 0) | MatchKey::Optional(None) => return None,
            MatchKey::Lpm(value, length) => FieldMatchType::Lpm(field_match::Lpm {
                value: canonical(value),
                prefix_len: i32::from(*length),
            }),
            MatchKey::Ternary(_, mask) if mask.iter().all(|&byte| byte == 0) => return None,
            MatchKey::Ternary(value, _) if field.kind == MatchKind::Optional => {
                FieldMatchType::Optional(field_match::Optional {
                    value: canonical(value),
                })
            }
            MatchKey::Ternary(value, mask) => FieldMatchType::Ternary(field_match::Ternary {
                value: canonical(value),
                mask: canonical(mask),
            }),
            MatchKey::Range(low, high) if low.iter().all(|&byte| byte == 0) && *high == ones(field.width) => {
                return None;
            }
            MatchKey::Range(low, high) => FieldMatchType::Range(field_match::Range {
                low: canonical(low),
                high: canonical(high),
            }),
            MatchKey::Optional(Some(value)) => FieldMatchType::Optional(field_match::Optional {
                value: canonical(value),
            }),
        };
        Some(FieldMatch {
            field_id: field.id,
            field_match_type: Some(value),
        })
    });
    matches.collect()
}

/// The key and priority of the entry that a message names.
///
/// # Errors
/// `INVALID_ARGUMENT` for a malformed key, and for a priority that is missing or not allowed.
pub fn key_of(table: &Table, entry: &TableEntry) -> Result<Key, Fault> {
    let name = &table.name;
    let key = from_request(name, &table.fields, &entry.r#match)?;
    if table.needs_priority && entry.priority <= 0 {
        return Err(Fault::invalid(format!(
            "{name}: entries of this table need a priority above 0"
        )));
    }
    if !table.needs_priority && entry.priority != 0 {
        return Err(Fault::invalid(format!(
            "{name}: all matches are exact or lpm, the priority must be 0"
        )));
    }
    Ok((key, entry.priority))
}

#[cfg(test)]
mod tests {
    use crate::fault::Code;

    use super::*;

    fn field(kind: MatchKind, width: u32) -> Vec<Field> {
        vec![Field {
            id: 1,
            name: "f".to_owned(),
            kind,
            in_program: kind,
            width,
        }]
    }

    fn one(value: FieldMatchType) -> Vec<FieldMatch> {
        vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(value),
        }]
    }

    fn lpm(value: &[u8], prefix_len: i32) -> Vec<FieldMatch> {
        one(FieldMatchType::Lpm(field_match::Lpm {
            value: value.to_vec(),
            prefix_len,
        }))
    }

    fn ternary(value: &[u8], mask: &[u8]) -> Vec<FieldMatch> {
        one(FieldMatchType::Ternary(field_match::Ternary {
            value: value.to_vec(),
            mask: mask.to_vec(),
        }))
    }

    fn range(low: &[u8], high: &[u8]) -> Vec<FieldMatch> {
        one(FieldMatchType::Range(field_match::Range {
            low: low.to_vec(),
            high: high.to_vec(),
        }))
    }

    #[test]
    fn keys_are_widened_and_read_back_canonically() {
        let cases = [
            (
                field(MatchKind::Lpm, 32),
                lpm(&[10, 0, 0, 0], 8),
                MatchKey::Lpm(vec![10, 0, 0, 0], 8),
            ),
            (
                field(MatchKind::Ternary, 16),
                ternary(&[5], &[0xff]),
                MatchKey::Ternary(vec![0, 5], vec![0, 0xff]),
            ),
            (
                field(MatchKind::Range, 9),
                range(&[1], &[1, 0]),
                MatchKey::Range(vec![0, 1], vec![1, 0]),
            ),
        ];
        for (fields, request, expected) in cases {
            let key = from_request("t", &fields, &request).expect("a valid key");
            assert_eq!(key, [expected]);
            assert_eq!(to_response(&fields, &key), request);
        }
    }

    #[test]
    fn omitted_fields_match_everything_and_stay_omitted() {
        for kind in [
            MatchKind::Lpm,
            MatchKind::Ternary,
            MatchKind::Range,
            MatchKind::Optional,
        ] {
            let fields = field(kind, 12);
            let key = from_request("t", &fields, &[]).expect("a valid key");
            assert!(to_response(&fields, &key).is_empty(), "{kind:?}");
        }
        let fault = from_request("t", &field(MatchKind::Exact, 12), &[]).expect_err("an exact field is needed");
        assert_eq!(fault.code, Code::InvalidArgument);
    }

    #[test]
    fn what_the_specification_forbids_is_invalid() {
        let cases = [
            (field(MatchKind::Lpm, 32), lpm(&[10, 0, 0, 1], 8)),
            (field(MatchKind::Lpm, 32), lpm(&[0], 0)),
            (field(MatchKind::Lpm, 32), lpm(&[10, 0, 0, 0], 33)),
            (field(MatchKind::Ternary, 8), ternary(&[0], &[0])),
            (field(MatchKind::Ternary, 8), ternary(&[3], &[1])),
            (field(MatchKind::Range, 8), range(&[2], &[1])),
            (field(MatchKind::Range, 8), range(&[0], &[0xff])),
            (field(MatchKind::Exact, 8), lpm(&[1], 8)),
            (
                field(MatchKind::Lpm, 8),
                vec![FieldMatch {
                    field_id: 2,
                    field_match_type: None,
                }],
            ),
            (
                field(MatchKind::Lpm, 8),
                vec![FieldMatch {
                    field_id: 1,
                    field_match_type: None,
                }],
            ),
            (field(MatchKind::Lpm, 8), [lpm(&[8], 8), lpm(&[8], 8)].concat()),
        ];
        for (fields, request) in cases {
            let fault = from_request("t", &fields, &request).expect_err("not a valid key");
            assert_eq!(fault.code, Code::InvalidArgument, "{request:?}");
        }
        let fault = from_request("t", &field(MatchKind::Lpm, 8), &lpm(&[1, 0], 8)).expect_err("too wide");
        assert_eq!(fault.code, Code::OutOfRange);
    }
}
