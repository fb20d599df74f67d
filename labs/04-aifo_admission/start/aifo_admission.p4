// The admission rule of AIFO (algorithm 1 of the paper).
//
//   q: ranks in the window that are strictly smaller than the packet's rank;  |W|: size of the window
//   c: length of the one queue;  C: its target;  k = K/256: headroom
//   admit iff  q / |W|  <=  1 / (1 - k)  (C - c) / C

// smaller: q;  window_size: |W|;  length: c;  target: C;  headroom: K.
// verdict: ADMITTED or REFUSED.
control AifoAdmission(in bit<8> smaller, in bit<8> window_size, in bit<32> length, in bit<16> target, in bit<8> headroom,
                      out bit<2> verdict) {
    apply {
        verdict = ADMITTED;
        // Task 1: the queue is longer than its target.
        // TODO: refuse every packet while c > C.

        // Task 2: the quantile rule, without division.
        // TODO: with k = 0 the rule is  q / |W| <= (C - c) / C.  Multiply both sides, then compare.

        // Task 3: headroom.
        // TODO: now with k = K/256.  P4 has no fractions: multiply both sides by 256 (1 - k).
    }
}
