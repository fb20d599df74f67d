// The admission rule of RIFO (algorithm 1 of the paper).
//
//   r: the packet's rank;  Min, Max: range of the recent ranks
//   L: length of the one queue;  B: its size;  k = K/256: headroom
//   admit iff  L <= k B  or  Max = Min  or  (Max - r) / (Max - Min)  >=  (B - L) / B
//   without division:  256 L <= K B;  (Max - r) B  >=  (Max - Min) (B - L)
//
// The threshold is the free share of the queue. Equation 2 of the paper speaks of the occupied share, but its example,
// figure 6 and its program use the free share.

// lowest: Min;  highest: Max;  length: L;  size: B;  headroom: K.
control RifoAdmission(in bit<32> rank, in bit<32> lowest, in bit<32> highest, in bit<32> length, in bit<16> size,
                      in bit<8> headroom, out bit<2> verdict) {
    apply {
        verdict = REFUSED;
        if (length << 8 <= (bit<32>) headroom * (bit<32>) size || highest == lowest) {
            verdict = ADMITTED;
        } else {
            bit<64> free = (bit<64>) ((bit<32>) size |-| length);
            bit<64> score = (bit<64>) (highest - rank) * (bit<64>) size;
            if (score >= (bit<64>) (highest - lowest) * free) {
                verdict = ADMITTED;
            }
        }
    }
}
