// What the rules of AIFO and PACKS have in common:  (1 - k) / |W|,  as a logarithm.
//
//   k = K/256: headroom;  |W|: size of the window

#include "log2.p4"

// sum: increased by  log (256 - K) - log 256 - log |W|,  less 4 units. AIFO's rule has five logarithms and that of PACKS seven, each
// rounded by half a unit: so sums that are equal stay equal.
control AddShare(in bit<32> window_size, in bit<16> headroom, inout bit<32> sum) {
    // 256 - K.
    bit<16> rest;

    action add(bit<32> log) {
        sum = sum + log;
    }
    table window_logs {
        key = { window_size[7:0]: exact @name("window_size"); }
        actions = { add; }
        const default_action = add(0);
        const entries = { MINUS_LOG2_ENTRIES(add, -32w0x80004) }
        size = 16;
    }
    table rest_logs {
        key = { rest: ternary; }
        actions = { add; }
        // K = 0.
        const default_action = add(8 << 16);
        const entries = { LOG2_ENTRIES_TO_255(add) }
        size = 256;
    }
    apply {
        rest = 256 - headroom;
        window_logs.apply();
        rest_logs.apply();
    }
}
