//! Logarithms to the base 2 as a Tofino program has them (`tofino-port/include/log2.p4`): products become sums.
//!
//! Fixed point with 16 bits of fraction. Only the first 8 bits of a number count, so numbers below 256 are exact but for the
//! rounding of the last bit, and larger ones are taken for too small by less than 1/128.

/// Of 0: below what any sum of the others makes up for.
const OF_ZERO: i64 = -0x40_0000;
const FRACTION: i64 = 1 << 16;
const MANTISSA_BITS: u32 = 7;

/// The rules have at most seven logarithms, each rounded by half a unit. Sums that differ by no more than this count as equal.
pub(crate) const ROUNDING: i64 = 4;

/// The logarithm of a number of 16 bits.
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
