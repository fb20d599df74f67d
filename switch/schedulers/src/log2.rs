//! Logarithms to base 2 as a Tofino program computes them (`tofino-port/include/log2.p4`). They turn products into
//! sums.
//!
//! They are fixed-point numbers with 16 fraction bits. Only the first 8 bits of an argument count. So arguments below
//! 256 are exact except for the rounding of the last bit. Larger arguments count as up to 1/128 too small.

/// The logarithm of 0. It is so low that no sum with other logarithms makes up for it.
const OF_ZERO: i64 = -0x40_0000;
const FRACTION: i64 = 1 << 16;
const MANTISSA_BITS: u32 = 7;

/// Sums that differ by at most this count as equal. The rules have at most seven logarithms, each rounded by half a
/// unit.
pub(crate) const ROUNDING: i64 = 4;

/// The logarithm of a number of at most 16 bits.
pub(crate) fn log2(number: u64) -> i64 {
    let Some(first) = number.checked_ilog2() else {
        return OF_ZERO;
    };
    let mantissa = (number << MANTISSA_BITS >> first) as f64 / f64::from(1 << MANTISSA_BITS);
    i64::from(first) * FRACTION + (mantissa.log2() * FRACTION as f64).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_and_large_numbers_are_up_to_one_128th_too_small() {
        assert_eq!(log2(1), 0);
        assert_eq!(log2(256), 8 << 16);
        assert_eq!(log2(1 << 15), 15 << 16);
        let error = |number: u64| (log2(number) as f64 / FRACTION as f64).exp2() / number as f64 - 1.0;
        for number in 1..256 {
            assert!(error(number).abs() < 1e-5, "{number}");
        }
        for number in 256..65536 {
            assert!(
                (-1.0 / 128.0..1e-5).contains(&error(number)),
                "{number}: {}",
                error(number)
            );
        }
    }

    #[test]
    fn the_program_has_the_same_table() {
        let table = include_str!("../../../tofino-port/include/log2.p4");
        for number in 1..128 {
            let entry = format!("    {number} &&& 0xffff: set({}); ", log2(number));
            assert!(table.contains(&entry), "{entry}");
        }
        for mantissa in 128..256 {
            let log = log2(mantissa) - 7 * FRACTION;
            let entry =
                format!("(16w{mantissa} << (first - 7)) &&& (16w0xffff << (first - 7)): set((first << 16) + {log});");
            assert!(table.contains(&entry), "{entry}");
        }
    }
}
