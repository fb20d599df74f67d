//! Operators with their values as numbers (P4_16 specification, section 8), computed by the switch and by the compiler.

use super::operands::{Operands, fold, run};

const OPERANDS: Operands = Operands {
    a: 200,
    b: 100,
    c: 0xbeef,
    d: 0x1234_5678,
    s: -56,
    t: 100,
    u: -2,
    w: 0x12_3456_789a_bcde_f012,
};

/// A negative number in 64 bits.
const fn minus(n: u64) -> u64 {
    n.wrapping_neg()
}

#[track_caller]
fn check(rows: &[(&str, u64)]) {
    let texts: Vec<String> = rows.iter().map(|(text, _)| (*text).to_owned()).collect();
    let (computed, folded) = (run(&texts, &OPERANDS), fold(&texts, &OPERANDS));
    for (i, (text, expected)) in rows.iter().enumerate() {
        assert_eq!(computed[i], *expected, "{text}, computed by the switch");
        assert_eq!(folded[i], *expected, "{text}, computed by the compiler");
    }
}

#[test]
fn unsigned_arithmetic_wraps_at_the_width() {
    check(&[
        ("a + b", 44),
        ("b - a", 156),
        ("a * b", 32),
        ("a / 7", 28),
        ("a % 7", 4),
        ("-a", 56),
        ("+a", 200),
        ("c + 0x4111", 0),
        ("d * d", (0x1234_5678u64 * 0x1234_5678) & 0xffff_ffff),
        ("w + w", 0x68ac_f135_79bd_e024),
        ("w[71:8] - 1", 0x1234_5678_9abc_def0 - 1),
    ]);
}

#[test]
fn signed_arithmetic_is_twos_complement() {
    check(&[
        ("(int<64>)(s + t)", 44),
        ("(int<64>)(t + t)", minus(56)),
        ("(int<64>)(s - t)", 100),
        ("(int<64>)(-s)", 56),
        ("(int<64>)(s * t)", 32),
        ("(int<64>)(u * 3)", minus(6)),
        ("(int<64>)(u - 32767)", 32767),
    ]);
}

#[test]
fn saturating_arithmetic_stops_at_the_limits() {
    check(&[
        ("a |+| b", 255),
        ("b |+| b", 200),
        ("b |-| a", 0),
        ("a |-| b", 100),
        ("(int<64>)(t |+| t)", 127),
        ("(int<64>)(s |-| t)", minus(128)),
        ("(int<64>)(s |+| t)", 44),
        ("(int<64>)(s |+| s)", minus(112)),
    ]);
}

#[test]
fn bitwise_operators_work_bit_by_bit() {
    check(&[
        ("a & b", 0x40),
        ("a | b", 0xec),
        ("a ^ b", 0xac),
        ("~a", 0x37),
        ("(int<64>)(~s)", 55),
        ("(int<64>)(s & 15)", 8),
        ("~w[71:8]", !0x1234_5678_9abc_def0),
    ]);
}

#[test]
fn shifts_fill_with_zeros_or_the_sign_and_may_exceed_the_width() {
    check(&[
        ("a << 1", 0x90),
        ("a >> 3", 25),
        ("a << 8", 0),
        ("a >> 8", 0),
        ("d << b", 0),
        ("d >> 28", 1),
        ("c >> (bit<4>)8", 0xbe),
        ("8w1 << a[5:3]", 2),
        ("(int<64>)(s >> 2)", minus(14)),
        ("(int<64>)(s << 1)", minus(112)),
        ("(int<64>)(s << 2)", 32),
        ("(int<64>)(u >> 20)", minus(1)),
        ("(int<64>)(s >> a)", minus(1)),
        ("(int<64>)(t >> a)", 0),
        ("w >> 64", 0x12),
    ]);
}

#[test]
fn casts_cut_or_extend_and_keep_the_sign_of_signed_values() {
    check(&[
        ("(bit<4>)a", 8),
        ("(bit<16>)a", 200),
        ("(bit<8>)s", 200),
        ("(int<64>)(int<8>)a", minus(56)),
        ("(int<64>)(int<16>)s", minus(56)),
        ("(int<64>)(int<4>)s", minus(8)),
        ("(bit<16>)(int<16>)s", 0xffc8),
        ("(bit<16>)(bit<8>)c", 0xef),
        ("(bit<1>)(bool)a[3:3]", 1),
        ("(bit<1>)(a > b)", 1),
    ]);
}

#[test]
fn concatenation_and_slices_join_and_cut_bits() {
    check(&[
        ("a ++ b", 0xc864),
        ("a ++ c", 0xc8_beef),
        ("4w1 ++ 4w2 ++ a", 0x12c8),
        ("(int<64>)(s ++ t)", 0xffff_ffff_ffff_c864),
        ("a ++ s", 0xc8c8),
        ("c[7:0] ++ c[15:8]", 0xefbe),
        ("c[11:4]", 0xee),
        ("c[15:15]", 1),
        ("d[31:24]", 0x12),
        ("s[7:4]", 0xc),
        ("w[71:64]", 0x12),
        ("(a ++ b)[11:4]", 0x86),
    ]);
}

#[test]
fn comparisons_know_the_sign() {
    check(&[
        ("(bit<1>)(s < t)", 1),
        ("(bit<1>)((bit<8>)s < b)", 0),
        ("(bit<1>)(s < 0)", 1),
        ("(bit<1>)(s >= -56)", 1),
        ("(bit<1>)(u <= -3)", 0),
        ("(bit<1>)(s == -56)", 1),
        ("(bit<1>)(a != 200)", 0),
        ("(bit<1>)(a > b)", 1),
        ("(bit<1>)(w > 72w1 << 71)", 0),
        ("(bit<1>)((a > b) == (b > a))", 0),
    ]);
}

#[test]
fn logic_and_choice() {
    check(&[
        ("(bit<1>)(a > b && c > 5)", 1),
        ("(bit<1>)(a < b || !(c > 5))", 0),
        ("a > b ? a : b", 200),
        ("a == b ? 8w1 : 2", 2),
        ("a < b ? a : b > 50 ? 8w7 : 9", 7),
        ("(int<64>)(a > b ? s : t)", minus(56)),
    ]);
}

#[test]
fn operators_bind_as_in_the_specification() {
    check(&[
        // Unlike in C, the bitwise operators bind tighter than comparisons.
        ("(bit<1>)(a & b == 64)", 1),
        ("(bit<1>)(a | b > 235)", 1),
        ("(bit<1>)(65 > a & b)", 1),
        ("(bit<1>)(a ^ b != 172)", 0),
        // `++` binds like `+`, from the left.
        ("a ++ b + c", 0x8753),
        ("c - 1 ++ a", 0xbe_eec8),
        // The rest is as in C.
        ("b << 1 + 1", 0x90),
        ("2 + 3 * b", 46),
        ("a - b - 50", 50),
        ("a ^ b & 15", 204),
        ("a | b ^ b", 200),
        ("-a + b", 156),
        ("~a[3:0]", 7),
        ("(bit<1>)(a < b == b < a)", 0),
        ("(bit<1>)(a > b || a < b && b < a)", 1),
    ]);
}
