"""Writes include/log2.p4: logarithms to the base 2 as the entries of ternary tables.

    python3 log2_entries.py > include/log2.p4

A logarithm is in fixed point with 16 bits of fraction. A number is e, the place of its first bit, and m, the 7 bits
after it: log2 = e + log2(1 + m/128). Bits after these are left out. So numbers below 256 are exact but for the
rounding, and larger ones are taken for too small by less than 1/128 (0.78 %). The Rust model has the same table
(switch/schedulers/src/log2.rs).
"""

import math
import sys

FRACTION = 1 << 16
MANTISSA_BITS = 7
MANTISSAS = 1 << MANTISSA_BITS

HEAD = """\
// Logarithms to the base 2, written by log2_entries.py: products of two fields become sums of logarithms.
//
// Fixed point with 16 bits of fraction. Only the first 8 bits of a number count: numbers below 256 are exact but for
// the rounding of the last bit, larger ones are taken for too small by less than 1/128 (0.78 %).

// Of 0: below what any sum of the others makes up for.
const bit<32> LOG2_OF_0 = -32w0x400000;
"""


def log2(mantissa: int) -> int:
    """Logarithm of 1 + mantissa/128."""
    return round(FRACTION * math.log2(1 + mantissa / MANTISSAS))


def number_log(number: int) -> int:
    """Logarithm of a number below 256."""
    first = number.bit_length() - 1
    return first * FRACTION + log2((number << (MANTISSA_BITS - first)) - MANTISSAS)


def macro(name: str, lines: list[str]) -> str:
    """A macro of these table entries."""
    return f"#define {name} \\\n" + " \\\n".join(f"    {line}" for line in lines) + "\n"


def octave(first: int) -> list[str]:
    """The entries of 2^first up to 2^(first+1), all of them exact."""
    numbers = range(1 << first, 2 << first)
    return [f"{number} &&& 0xffff: set({number_log(number)});" for number in numbers]


def main() -> None:
    """Prints the file."""
    wide = [
        f"(16w{MANTISSAS + m} << (first - {MANTISSA_BITS})) &&& (16w0xffff << (first - {MANTISSA_BITS})): "
        f"set((first << 16) + {log2(m)});"
        for m in range(MANTISSAS)
    ]
    small = [entry for first in range(MANTISSA_BITS) for entry in octave(first)]
    sys.stdout.write(HEAD)
    sys.stdout.write("\n// Entries of a ternary table on 16 bits. `set` is the action that gets the logarithm.\n\n")
    sys.stdout.write("// 2^first up to 2^(first+1). first: 7 .. 15.\n" + macro("LOG2_OCTAVE(set, first)", wide))
    sys.stdout.write(
        "\n// 1 .. 255.\n" + macro("LOG2_ENTRIES_TO_255(set)", [*small, f"LOG2_OCTAVE(set, {MANTISSA_BITS})"])
    )
    large = [f"LOG2_OCTAVE(set, {first})" for first in range(MANTISSA_BITS + 1, 16)]
    sys.stdout.write(
        "\n// 1 .. 65535.\n" + macro("LOG2_ENTRIES(set)", ["LOG2_ENTRIES_TO_255(set)", *large]),
    )
    sys.stdout.write("\n// Entries of an exact table on 1 .. 16. `set` gets the offset plus or minus the logarithm.\n")
    for name, sign in [("PLUS", "+"), ("MINUS", "-")]:
        few = [f"{number}: set(offset {sign} 32w{number_log(number)});" for number in range(1, 17)]
        sys.stdout.write(macro(f"{name}_LOG2_ENTRIES(set, offset)", few))
    sys.stdout.write("""
// The logarithm of a number of 16 bits.
control Log2(in bit<16> number, out bit<32> logarithm) {
    action set_logarithm(bit<32> value) {
        logarithm = value;
    }
    table logarithms {
        key = { number: ternary; }
        actions = { set_logarithm; }
        const default_action = set_logarithm(LOG2_OF_0);
        const entries = { LOG2_ENTRIES(set_logarithm) }
        size = 2048;
    }
    apply {
        logarithms.apply();
    }
}
""")


if __name__ == "__main__":
    main()
