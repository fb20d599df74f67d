// The admission rule of AIFO (algorithm 1 of the paper).
//
//   q: ranks in the window that are strictly smaller than the packet's rank;  |W|: size of the window
//   c: length of the one queue;  C: its target;  k = K/256: headroom
//   admit iff  q / |W|  <=  1 / (1 - k)  (C - c) / C
//   without division:  q C (256 - K)  <=  |W| (C - c) 256
//   without multiplication:  log q + log C + log (256 - K)  <=  log |W| + log (C - c) + log 256
//   a queue longer than its target (c > C) admits nothing

#include "log_share.p4"

// smaller: q;  window_size: |W|, at most 16;  length: c;  target: C;  headroom: K;  full: the queue has no room.
control AifoAdmission(in bit<8> smaller, in bit<32> window_size, in bit<32> length, in bit<32> target, in bit<16> headroom,
                      in bool full, out bit<2> verdict) {
    Log2() log_target;
    AddShare() add_share;
    Log2() log_free;
    // Both saturate at 0.
    bit<32> free;
    bit<32> beyond;
    // Logarithms: of what the packet needs for each q, of what is free, and of how many q that is enough for.
    bit<32> needed;
    bit<32> available;
    bit<32> margin;

    action compare() {
        free = target |-| length;
        beyond = length |-| target;
    }
    action always() {
        margin = 0;
    }
    action subtract(bit<32> inverse_log) {
        margin = margin + inverse_log;
    }
    table quantile_logs {
        key = { smaller: exact; }
        actions = { always; subtract; }
        const default_action = always();
        const entries = { MINUS_LOG2_ENTRIES(subtract, 32w0) }
        size = 16;
    }
    apply {
        compare();
        log_target.apply(target[15:0], needed);
        add_share.apply(window_size, headroom, needed);
        log_free.apply(free[15:0], available);
        margin = available - needed;
        quantile_logs.apply();
        if (beyond != 0 || margin[31:31] == 1) {
            verdict = REFUSED;
        } else if (full) {
            verdict = FULL;
        } else {
            verdict = ADMITTED;
        }
    }
}
