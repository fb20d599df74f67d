// The admission rule of RIFO (algorithm 1 of the paper), with shifts in place of two of its products (section IV).
//
//   r: the packet's rank;  Min, Max: range of the recent ranks
//   L: length of the one queue;  B: its size;  k = K/256: headroom
//   admit iff  L <= k B  or  Max = Min  or  (Max - r) / (Max - Min)  >=  (B - L) / B
//   here:      256 L <= K B;  (Max - r) 2^a  >=  (Max - Min) 2^b,  where 2^a and 2^b are B and B - L rounded up to powers of two
//
// a >= b, so only the right side is shifted:  Max - r  >  (Max - Min - 1) >> (a - b). This is the same for whole numbers.
// The chip compares 32 bits with zero only. x > y is a saturating difference: x - y is not 0.

#include "product.p4"

// The power of two that a number from 1 to 65535 is rounded up to: its exponent.
control RoundUp(in bit<32> number, out bit<8> exponent) {
    action round(bit<8> next) {
        exponent = next;
    }
    table powers_of_two {
        key = { number[15:0]: ternary @name("number"); }
        actions = { round; }
        const default_action = round(0);
        const entries = {
            0x8000 &&& 0xffff: round(15);
            0x8000 &&& 0x8000: round(16);
            0x4000 &&& 0xffff: round(14);
            0x4000 &&& 0xc000: round(15);
            0x2000 &&& 0xffff: round(13);
            0x2000 &&& 0xe000: round(14);
            0x1000 &&& 0xffff: round(12);
            0x1000 &&& 0xf000: round(13);
            0x0800 &&& 0xffff: round(11);
            0x0800 &&& 0xf800: round(12);
            0x0400 &&& 0xffff: round(10);
            0x0400 &&& 0xfc00: round(11);
            0x0200 &&& 0xffff: round(9);
            0x0200 &&& 0xfe00: round(10);
            0x0100 &&& 0xffff: round(8);
            0x0100 &&& 0xff00: round(9);
            0x0080 &&& 0xffff: round(7);
            0x0080 &&& 0xff80: round(8);
            0x0040 &&& 0xffff: round(6);
            0x0040 &&& 0xffc0: round(7);
            0x0020 &&& 0xffff: round(5);
            0x0020 &&& 0xffe0: round(6);
            0x0010 &&& 0xffff: round(4);
            0x0010 &&& 0xfff0: round(5);
            0x0008 &&& 0xffff: round(3);
            0x0008 &&& 0xfff8: round(4);
            0x0004 &&& 0xffff: round(2);
            0x0004 &&& 0xfffc: round(3);
            0x0002 &&& 0xffff: round(1);
            0x0002 &&& 0xfffe: round(2);
            0x0001 &&& 0xffff: round(0);
        }
    }
    apply {
        powers_of_two.apply();
    }
}

// not_lowest: ~Min;  highest: Max;  length: L;  size: B;  headroom: K;  full: the queue has no room.
control RifoAdmission(in bit<32> rank, in bit<32> not_lowest, in bit<32> highest, in bit<32> length, in bit<32> size,
                      in bit<8> headroom, in bool full, out bit<2> verdict) {
    Product() product;
    RoundUp() round_size;
    RoundUp() round_free;
    bit<32> guaranteed;
    bit<32> waiting;
    bit<32> beyond;
    bit<32> free;
    bit<8> size_exponent;
    bit<8> free_exponent;
    bit<8> shift;
    // Max - Min - 1.
    bit<32> range;
    bit<32> share;
    bit<32> score;
    bit<32> surplus;

#define SHIFT(n) action shift_##n() { share = range >> n; }
    SHIFT(0)
    SHIFT(1)
    SHIFT(2)
    SHIFT(3)
    SHIFT(4)
    SHIFT(5)
    SHIFT(6)
    SHIFT(7)
    SHIFT(8)
    SHIFT(9)
    SHIFT(10)
    SHIFT(11)
    SHIFT(12)
    SHIFT(13)
    SHIFT(14)
    SHIFT(15)
    SHIFT(16)
    // The chip shifts by constants only: an action for each shift. A queue without room has some other difference.
    table shift_range {
        key = { shift: exact; }
        actions = {
            shift_0; shift_1; shift_2; shift_3; shift_4; shift_5; shift_6; shift_7; shift_8; shift_9; shift_10; shift_11;
            shift_12; shift_13; shift_14; shift_15; shift_16;
        }
        const default_action = shift_0();
        const entries = {
            1: shift_1();
            2: shift_2();
            3: shift_3();
            4: shift_4();
            5: shift_5();
            6: shift_6();
            7: shift_7();
            8: shift_8();
            9: shift_9();
            10: shift_10();
            11: shift_11();
            12: shift_12();
            13: shift_13();
            14: shift_14();
            15: shift_15();
            16: shift_16();
        }
    }

    action measure_room() {
        waiting = length << 8;
        free = size |-| length;
    }
    action measure_ranks() {
        range = highest + not_lowest;
        score = highest - rank;
    }
    action compare() {
        surplus = score |-| share;
        beyond = waiting |-| guaranteed;
    }
    apply {
        measure_room();
        round_size.apply(size, size_exponent);
        round_free.apply(free, free_exponent);
        product.apply(headroom, size, guaranteed);
        shift = size_exponent - free_exponent;
        measure_ranks();
        shift_range.apply();
        compare();

        if (full) {
            // The rule admits any rank: no room is free.
            verdict = FULL;
        } else if (beyond == 0) {
            verdict = ADMITTED;
        } else if (range == 0xffffffff) {
            // Max = Min.
            verdict = ADMITTED;
        } else if (surplus != 0) {
            verdict = ADMITTED;
        } else {
            verdict = REFUSED;
        }
    }
}
