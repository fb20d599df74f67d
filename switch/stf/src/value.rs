//! Values of keys and parameters: conversion from words to bytes.

use p4sched_dataplane::{KeyField, MatchKind};
use p4sched_device::bmv2::KeyParam;

fn bytes(width: u32) -> usize {
    width.div_ceil(8) as usize
}

/// A number in base 2, 8, 10 or 16, with an optional sign, as a value and a mask of `width` bits. A digit `*` matches
/// any digit: its bits are 0 in the mask.
fn masked(word: &str, width: u32) -> Result<(Vec<u8>, Vec<u8>), String> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let (base, digits) = match digits.get(..2).map(str::to_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    let (mut value, mut mask) = (vec![0; bytes(width)], vec![0; bytes(width)]);
    if base == 10 && digits.contains('*') && digits != "*" {
        return Err(format!("'{word}': '*' stands for a digit in base 2, 8 or 16"));
    }
    for digit in digits.chars().filter(|&digit| digit != '_') {
        let (number, bits) = match (digit, digit.to_digit(base)) {
            ('*', _) => (0, 0),
            (_, Some(number)) => (number, base - 1),
            (_, None) => return Err(format!("'{word}' is not a number")),
        };
        let fits = scale(&mut value, base, number);
        if !fits {
            return Err(format!("'{word}' needs more than {width} bits"));
        }
        if base != 10 {
            scale(&mut mask, base, bits);
        }
    }
    if base == 10 && digits != "*" {
        mask.fill(0xff);
    }
    let unused = bytes(width) as u32 * 8 - width;
    if negative {
        // Two's complement.
        let mut carry = true;
        for byte in value.iter_mut().rev() {
            let (sum, over) = (!*byte).overflowing_add(u8::from(carry));
            (*byte, carry) = (sum, over);
        }
        cut(&mut value, unused);
    }
    if value
        .first()
        .is_some_and(|first| unused > 0 && first >> (8 - unused) != 0)
    {
        return Err(format!("'{word}' needs more than {width} bits"));
    }
    cut(&mut mask, unused);
    Ok((value, mask))
}

fn cut(value: &mut [u8], unused: u32) {
    if let Some(first) = value.first_mut() {
        *first &= 0xff_u8.checked_shr(unused).unwrap_or(0);
    }
}

/// Computes `value * base + digit` in place. Returns whether it fits.
fn scale(value: &mut [u8], base: u32, digit: u32) -> bool {
    let mut carry = digit;
    for byte in value.iter_mut().rev() {
        let product = u32::from(*byte) * base + carry;
        *byte = product as u8;
        carry = product >> 8;
    }
    carry == 0
}

/// A value without a mask: a number, `true` or `false`, or an address.
pub fn plain(word: &str, width: u32) -> Result<Vec<u8>, String> {
    match (word, width) {
        ("true", _) => return plain("1", width),
        ("false", _) => return plain("0", width),
        (_, 32) if word.matches('.').count() == 3 => {
            let address: std::net::Ipv4Addr = word.parse().map_err(|_| format!("'{word}' is not an address"))?;
            return Ok(address.octets().to_vec());
        }
        (_, 48) if word.matches(':').count() == 5 => {
            let octets = word.split(':').map(|octet| u8::from_str_radix(octet, 16));
            return octets
                .collect::<Result<_, _>>()
                .map_err(|_| format!("'{word}' is not an address"));
        }
        _ => {}
    }
    masked(word, width).map(|(value, _)| value)
}

/// The value of a key field; `None` means that the script does not name the field.
pub fn key(field: &KeyField, word: Option<&str>) -> Result<KeyParam, String> {
    let width = field.width;
    let zero = || vec![0; bytes(width)];
    match (field.kind, word) {
        (MatchKind::Exact, word) => Ok(KeyParam::Exact(plain(word.unwrap_or("0"), width)?)),
        (MatchKind::Valid, word) => Ok(KeyParam::Valid(plain(word.unwrap_or("0"), 8)? != [0])),
        (MatchKind::Lpm, None) => Ok(KeyParam::Lpm(zero(), 0)),
        (MatchKind::Lpm, Some(word)) => {
            if let Some((value, length)) = word.split_once('/') {
                let length = length
                    .parse()
                    .map_err(|_| format!("'{word}': a prefix is VALUE/BITS"))?;
                return Ok(KeyParam::Lpm(plain(value, width)?, length));
            }
            // The digits other than '*' are the prefix.
            let (value, mask) = masked(word, width)?;
            let length = mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
            let whole = !word.contains('*');
            Ok(KeyParam::Lpm(value, if whole { width } else { length } as i32))
        }
        (MatchKind::Ternary | MatchKind::Optional, None) => Ok(KeyParam::Ternary(zero(), zero())),
        (MatchKind::Ternary | MatchKind::Optional, Some(word)) => {
            if let Some((value, mask)) = word.split_once("&&&") {
                return Ok(KeyParam::Ternary(plain(value, width)?, plain(mask, width)?));
            }
            if let Some((value, length)) = word.split_once('/') {
                let length: u32 = length
                    .parse()
                    .map_err(|_| format!("'{word}': a prefix is VALUE/BITS"))?;
                let ones = prefix_mask(width, length.min(width));
                return Ok(KeyParam::Ternary(plain(value, width)?, ones));
            }
            let (value, mask) = masked(word, width)?;
            Ok(match word.contains('*') {
                true => KeyParam::Ternary(value, mask),
                false => KeyParam::Ternary(plain(word, width)?, prefix_mask(width, width)),
            })
        }
        (MatchKind::Range, None) => Ok(KeyParam::Range(zero(), prefix_mask(width, width))),
        (MatchKind::Range, Some(word)) => {
            let ends = word.split_once("->").or_else(|| word.split_once(".."));
            let (low, high) = ends.unwrap_or((word, word));
            Ok(KeyParam::Range(plain(low, width)?, plain(high, width)?))
        }
    }
}

/// The mask of the first `length` of `width` bits.
fn prefix_mask(width: u32, length: u32) -> Vec<u8> {
    let unused = bytes(width) as u32 * 8 - width;
    let bit = |index: u32| u8::from((unused..unused + length).contains(&index));
    let byte = |at: u32| (0..8).fold(0, |byte, index| byte << 1 | bit(at * 8 + index));
    (0..bytes(width) as u32).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: MatchKind, width: u32) -> KeyField {
        KeyField {
            name: "f".to_owned(),
            kind,
            width,
        }
    }

    #[test]
    fn stars_are_digits_that_do_not_count() {
        let key = |kind, word| key(&field(kind, 16), Some(word)).expect("a right value");
        let ternary =
            |value: u16, mask: u16| KeyParam::Ternary(value.to_be_bytes().to_vec(), mask.to_be_bytes().to_vec());
        assert_eq!(key(MatchKind::Ternary, "0x1*2*"), ternary(0x1020, 0xf0f0));
        assert_eq!(key(MatchKind::Ternary, "0b1*"), ternary(2, 2));
        assert_eq!(key(MatchKind::Ternary, "5"), ternary(5, 0xffff));
        assert_eq!(key(MatchKind::Ternary, "0x5&&&0xf"), ternary(5, 15));
        assert_eq!(key(MatchKind::Lpm, "0x12**"), KeyParam::Lpm(vec![0x12, 0], 8));
        assert_eq!(key(MatchKind::Lpm, "0x1200/7"), KeyParam::Lpm(vec![0x12, 0], 7));
        assert_eq!(
            key(MatchKind::Range, "1->0x100"),
            KeyParam::Range(vec![0, 1], vec![1, 0])
        );
    }

    #[test]
    fn values_fit_their_field() {
        assert_eq!(plain("10.0.0.1", 32), Ok(vec![10, 0, 0, 1]));
        assert_eq!(plain("00:00:00:00:01:02", 48), Ok(vec![0, 0, 0, 0, 1, 2]));
        assert_eq!(plain("-1", 9), Ok(vec![1, 0xff]));
        assert_eq!(plain("511", 9), Ok(vec![1, 0xff]));
        assert_eq!(plain("512", 9), Err("'512' needs more than 9 bits".to_owned()));
        assert_eq!(
            plain("0x10000", 16),
            Err("'0x10000' needs more than 16 bits".to_owned())
        );
        assert_eq!(plain("x", 16), Err("'x' is not a number".to_owned()));
    }
}
