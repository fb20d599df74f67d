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
        verdict = REFUSED;
        // Task 1: the queue is longer than its target.
        if (length <= (bit<32>) target) {
            bit<64> free = (bit<64>) target - (bit<64>) length;
            // Task 2: the quantile rule, without division.
            bit<64> needed = (bit<64>) smaller * (bit<64>) target;
            bit<64> offered = (bit<64>) window_size * free;
            // Task 3: headroom.
            needed = needed * (256 - (bit<64>) headroom);
            offered = offered << 8;
            if (needed <= offered) {
                verdict = ADMITTED;
            }
        }
    }
}
