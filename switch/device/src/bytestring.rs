//! P4Runtime's binary strings: big-endian and as short as the value allows (specification, section "Bytestrings").

use crate::fault::Fault;

/// The number of bytes for a value of this many bits.
pub fn byte_width(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// The shortest form of a value: no leading zero bytes, but at least one byte.
pub fn canonical(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    match &bytes[zeros..] {
        [] => vec![0],
        significant => significant.to_vec(),
    }
}

/// Extends a value to its full width: exactly `byte_width(bits)` bytes.
///
/// # Errors
/// `OUT_OF_RANGE` if the string is empty or the value has more than `bits` bits; `what` names the value in the message.
pub fn full_width(what: &dyn std::fmt::Display, bytes: &[u8], bits: u32) -> Result<Vec<u8>, Fault> {
    if bytes.is_empty() {
        return Err(Fault::out_of_range(format!(
            "{what}: an empty value; 0 is written as one byte 0x00"
        )));
    }
    let significant = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
    let used = significant
        .first()
        .map_or(0, |first| significant.len() as u32 * 8 - first.leading_zeros());
    if used > bits {
        return Err(Fault::out_of_range(format!(
            "{what}: 0x{} needs {used} bits, it has {bits}",
            hex(significant)
        )));
    }
    let mut full = vec![0; byte_width(bits) - significant.len()];
    full.extend_from_slice(significant);
    Ok(full)
}

/// Extends a signed value to its full width, as two's complement in the low `bits` bits.
///
/// # Errors
/// Those of [`full_width`].
pub fn full_width_signed(what: &dyn std::fmt::Display, bytes: &[u8], bits: u32) -> Result<Vec<u8>, Fault> {
    let Some(&first) = bytes.first() else {
        return full_width(what, bytes, bits);
    };
    let sign = if first & 0x80 == 0 { 0x00 } else { 0xff };
    let used = bytes.len() * 8
        - bytes
            .iter()
            .position(|&byte| byte != sign)
            .map_or(bytes.len() * 8 - 1, |same| {
                same * 8 + (bytes[same] ^ sign).leading_zeros() as usize - 1
            });
    if used > bits as usize {
        return Err(Fault::out_of_range(format!(
            "{what}: 0x{} needs {used} bits, it has {bits}",
            hex(bytes)
        )));
    }
    let width = byte_width(bits);
    let mut full = vec![sign; width.saturating_sub(bytes.len())];
    full.extend_from_slice(&bytes[bytes.len().saturating_sub(width)..]);
    mask_top(&mut full, bits);
    Ok(full)
}

/// The shortest two's complement form of the low `bits` bits of a value.
pub fn canonical_signed(bytes: &[u8], bits: u32) -> Vec<u8> {
    let mut full = bytes.to_vec();
    let Some(&top) = full.first() else { return vec![0] };
    let unused = byte_width(bits) as u32 * 8 - bits;
    let negative = (top << unused) & 0x80 != 0;
    let sign = if negative { 0xff } else { 0x00 };
    if negative {
        full[0] |= !(0xff_u8 >> unused);
    }
    let mut start = 0;
    while start + 1 < full.len() && full[start] == sign && (full[start + 1] & 0x80 != 0) == negative {
        start += 1;
    }
    full.split_off(start)
}

/// Clears the bits above the lowest `bits` bits.
pub fn mask_top(full: &mut [u8], bits: u32) {
    let unused = full.len() as u32 * 8 - bits;
    if let Some(first) = full.first_mut() {
        *first &= 0xff_u8.checked_shr(unused).unwrap_or(0);
    }
}

/// The bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "0".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::fault::Code;

    use super::*;

    /// The table "Examples of Valid Bytestring Encoding" of the specification: width, string, canonical string.
    #[test]
    fn the_specifications_valid_examples_are_accepted() {
        let unsigned: [(u32, &[u8], &[u8]); 8] = [
            (8, b"\x63", b"\x63"),
            (16, b"\x00\x63", b"\x63"),
            (16, b"\x63", b"\x63"),
            (16, b"\x30\x64", b"\x30\x64"),
            (16, b"\x00\x30\x64", b"\x30\x64"),
            (12, b"\x00\x63", b"\x63"),
            (12, b"\x63", b"\x63"),
            (12, b"\x00\x00\x63", b"\x63"),
        ];
        for (bits, given, shortest) in unsigned {
            let full = full_width(&"x", given, bits).expect("the specification calls it valid");
            assert_eq!(full.len(), byte_width(bits));
            assert_eq!(canonical(&full), shortest);
        }
        let signed: [(u32, &[u8], &[u8]); 6] = [
            (8, b"\x63", b"\x63"),
            (8, b"\x9d", b"\x9d"),
            (8, b"\xff\x9d", b"\x9d"),
            (12, b"\xfd\x1d", b"\xfd\x1d"),
            (16, b"\x00\x00", b"\x00"),
            (16, b"\x00", b"\x00"),
        ];
        for (bits, given, shortest) in signed {
            let full = full_width_signed(&"x", given, bits).expect("the specification calls it valid");
            assert_eq!(full.len(), byte_width(bits));
            assert_eq!(canonical_signed(&full, bits), shortest, "int<{bits}> {given:?}");
        }
    }

    /// The table "Examples of Invalid Bytestring Encoding" of the specification.
    #[test]
    fn the_specifications_invalid_examples_are_out_of_range() {
        let unsigned: [(u32, &[u8]); 6] = [
            (8, b"\x01\x63"),
            (8, b""),
            (16, b"\x01\x00\x63"),
            (12, b"\x10\x63"),
            (12, b"\x01\x00\x63"),
            (12, b"\x00\x40\x63"),
        ];
        for (bits, given) in unsigned {
            assert_eq!(
                full_width(&"x", given, bits).map_err(|fault| fault.code),
                Err(Code::OutOfRange)
            );
        }
        let signed: [(u32, &[u8]); 3] = [(8, b"\x00\x9d"), (12, b"\x8d\x1d"), (16, b"")];
        for (bits, given) in signed {
            assert_eq!(
                full_width_signed(&"x", given, bits).map_err(|fault| fault.code),
                Err(Code::OutOfRange)
            );
        }
    }

    #[test]
    fn the_error_says_how_wide_the_value_is() {
        let fault = full_width(&"port", b"\x02\x00", 9).expect_err("512 does not fit bit<9>");
        assert_eq!(fault.message, "port: 0x0200 needs 10 bits, it has 9");
    }
}
