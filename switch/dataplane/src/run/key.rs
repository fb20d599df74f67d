//! The fields of a table's key, and keys packed into words.

use crate::bits::{cut, from_bytes, words};
use crate::values::{MatchKey, MatchKind};

/// A key field, and the place of its value.
#[derive(Clone, Debug)]
pub(crate) struct KeySpec {
    pub name: String,
    pub kind: MatchKind,
    pub width: u32,
    /// First word of the value in the PHV.
    pub slot: u32,
    /// Mask that the program applies to the value.
    pub mask: Option<Vec<u64>>,
}

pub(crate) struct PackedKey {
    pub value: Vec<u64>,
    /// Mask, or upper bound of a range; all ones in an exact field.
    pub mask: Vec<u64>,
    pub prefix: u32,
}

/// Words of value and mask of one key field.
pub(crate) fn pack_field(spec: &KeySpec, field: &MatchKey) -> Result<(Vec<u64>, Vec<u64>), String> {
    let width = spec.width;
    let fit = |bytes: &[u8]| from_bytes(bytes, width).ok_or_else(|| format!("does not fit into {width} bits"));
    let ones = || ones_from(width, width);
    Ok(match (spec.kind, field) {
        (MatchKind::Exact, MatchKey::Exact(value)) => (fit(value)?, ones()),
        (MatchKind::Valid, MatchKey::Valid(valid)) => (vec![u64::from(*valid)], vec![1]),
        (MatchKind::Lpm, MatchKey::Lpm(value, prefix)) => {
            if u32::from(*prefix) > width {
                return Err(format!("a prefix of {prefix} bits is longer than the field's {width}"));
            }
            let mask = ones_from(width, u32::from(*prefix));
            (and(fit(value)?, &mask), mask)
        }
        (MatchKind::Ternary, MatchKey::Ternary(value, mask)) => {
            let mask = fit(mask)?;
            (and(fit(value)?, &mask), mask)
        }
        (MatchKind::Optional, MatchKey::Optional(Some(value))) => (fit(value)?, ones()),
        (MatchKind::Optional, MatchKey::Optional(None)) => (vec![0; words(width)], vec![0; words(width)]),
        // BMv2 JSON has no optional fields: entries of the program come as ternary.
        (MatchKind::Optional, MatchKey::Ternary(value, mask)) => {
            let mask = fit(mask)?;
            (and(fit(value)?, &mask), mask)
        }
        (MatchKind::Ternary, MatchKey::Optional(Some(value))) => (fit(value)?, ones()),
        (MatchKind::Ternary, MatchKey::Optional(None)) => (vec![0; words(width)], vec![0; words(width)]),
        (MatchKind::Range, MatchKey::Range(low, high)) => {
            let (low, high) = (fit(low)?, fit(high)?);
            if low.iter().rev().gt(high.iter().rev()) {
                return Err("the interval ends before it begins".to_string());
            }
            (low, high)
        }
        (kind, _) => return Err(format!("should be matched as {kind:?}")),
    })
}

fn and(mut value: Vec<u64>, mask: &[u64]) -> Vec<u64> {
    value.iter_mut().zip(mask).for_each(|(v, m)| *v &= m);
    value
}

/// A mask of the first `length` bits of a field of `width` bits.
fn ones_from(width: u32, length: u32) -> Vec<u64> {
    let mut mask = vec![u64::MAX; words(width)];
    cut(width, &mut mask);
    let mut low = width - length;
    for word in &mut mask {
        let cleared = low.min(64);
        *word = if cleared == 64 { 0 } else { *word >> cleared << cleared };
        low -= cleared;
    }
    mask
}
