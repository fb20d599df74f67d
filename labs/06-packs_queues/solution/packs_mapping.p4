// The queue mapping of PACKS (algorithm 1 of the paper): one rule admits a packet and chooses its queue.
//
//   n strict-priority queues, queue 1 the most urgent;  b_i: length of queue i;  B_i: its size;  B: sum of all B_i
//   q: ranks in the window that are strictly smaller than the packet's rank;  |W|: size of the window
//   k = K/256: headroom
//   take the first queue i with  q / |W|  <=  1 / (1 - k)  sum_{j<=i}(B_j - b_j) / B   and   b_i < B_i
//   no such queue: drop

#include "../shared/queue_sizes.p4"

// The step of the scan for queue i, which has the priority queue_priority. A queue of size 0 is not there.
// size: B_i;  needed: the left side of your condition;  free: sum_{j<=i}(B_j - b_j);  total_length: sum_{j<=i} b_j
// verdict: REFUSED at the start; FULL if the condition holds for a queue without room; ADMITTED.
control PacksQueue(in bit<9> port, in bit<3> queue_priority, in bit<16> size, in bit<64> needed, in bit<8> window_size,
                   inout bit<32> free, inout bit<32> total_length, inout bit<3> priority, inout bit<2> verdict) {
    ReadLength() read_length;
    bit<32> length;
    bit<64> offered;

    apply {
        if (size != 0) {
            read_length.apply(port, queue_priority, length);
            total_length = total_length + length;
            // Task 1: the condition of this queue.
            free = free + ((bit<32>) size |-| length);
            offered = ((bit<64>) window_size * (bit<64>) free) << 8;
            if (verdict != ADMITTED && needed <= offered) {
                // Task 2: a full queue.
                priority = queue_priority;
                verdict = FULL;
                if (length < (bit<32>) size) {
                    verdict = ADMITTED;
                }
            }
        }
    }
}

// smaller: q;  window_size: |W|;  sizes: B_i;  headroom: K;  total_length: sum of all b_i.
control PacksMapping(in bit<9> port, in bit<8> smaller, in bit<8> window_size, in queue_sizes_t sizes, in bit<8> headroom,
                     out bit<32> total_length, out bit<3> priority, out bit<2> verdict) {
    PacksQueue() scan;
    bit<32> total_size;
    bit<64> needed;
    bit<32> free;

    apply {
        total_size = (bit<32>) sizes.size_1 + (bit<32>) sizes.size_2 + (bit<32>) sizes.size_3 + (bit<32>) sizes.size_4
                   + (bit<32>) sizes.size_5 + (bit<32>) sizes.size_6 + (bit<32>) sizes.size_7 + (bit<32>) sizes.size_8;
        // Task 1: the left side of the condition.
        needed = (bit<64>) smaller * (bit<64>) total_size;
        // Task 3: headroom.
        needed = needed * (256 - (bit<64>) headroom);
        free = 0;
        total_length = 0;
        priority = 0;
        verdict = REFUSED;
        scan.apply(port, 7, sizes.size_1, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 6, sizes.size_2, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 5, sizes.size_3, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 4, sizes.size_4, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 3, sizes.size_5, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 2, sizes.size_6, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 1, sizes.size_7, needed, window_size, free, total_length, priority, verdict);
        scan.apply(port, 0, sizes.size_8, needed, window_size, free, total_length, priority, verdict);
    }
}
