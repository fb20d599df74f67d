// The admission rule of RIFO (algorithm 1 of the paper).
//
//   r: the packet's rank;  Min, Max: range of the recent ranks, with this packet
//   L: length of the one queue;  B: its size;  k = K/256: headroom
//   admit iff  L <= k B  or  Max = Min  or  (Max - r) / (Max - Min)  >=  (B - L) / B

// lowest: Min;  highest: Max;  length: L;  size: B;  headroom: K.
// verdict: ADMITTED or REFUSED.
control RifoAdmission(in bit<32> rank, in bit<32> lowest, in bit<32> highest, in bit<32> length, in bit<16> size,
                      in bit<8> headroom, out bit<2> verdict) {
    apply {
        verdict = REFUSED;
        // Task 1: the headroom admits every packet.
        if (length << 8 <= (bit<32>) headroom * (bit<32>) size) {
            verdict = ADMITTED;
        // Task 2: all recent ranks are equal.
        } else if (highest == lowest) {
            verdict = ADMITTED;
        } else {
            // Task 3: the score of the rank against the room in the queue.
            bit<64> room = (bit<64>) ((bit<32>) size |-| length);
            bit<64> score = (bit<64>) (highest - rank) * (bit<64>) size;
            bit<64> threshold = (bit<64>) (highest - lowest) * room;
            if (score >= threshold) {
                verdict = ADMITTED;
            }
        }
    }
}
