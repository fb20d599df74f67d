//! The Internet checksum (RFC 1071).

/// The complement of the ones' complement sum of 16-bit words. The sum begins with `sum`: that of a pseudo header, or
/// 0. A single last byte counts as the upper half of a word. Over bytes that contain their own correct checksum, the
/// result is 0.
#[inline]
pub fn internet_checksum(mut sum: u64, bytes: &[u8]) -> u16 {
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        sum += u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    for word in chunks.remainder().chunks(2) {
        let low = word.get(1).copied().unwrap_or(0);
        sum += u64::from(u16::from_be_bytes([word[0], low]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3.
    #[test]
    fn internet_checksum_of_the_rfc_example() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet_checksum(0, &bytes), !0xddf2);
        assert_eq!(
            internet_checksum(0xf203, &[0x00, 0x01, 0xf4, 0xf5, 0xf6, 0xf7]),
            !0xddf2
        );
        assert_eq!(internet_checksum(0, &[0xff]), !0xff00);
        assert_eq!(internet_checksum(0, &[]), 0xffff);
    }
}
