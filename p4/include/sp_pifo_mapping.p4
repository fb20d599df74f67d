// The queue mapping of SP-PIFO (SP-PIFO paper; PACKS paper, section 2.1).
//
//   n strict-priority queues, queue 1 the most urgent;  b_i: bound of queue i, 0 at the start;  r: the packet's rank
//   scan from queue n to queue 1:  take the first queue i with b_i <= r;  push-up: b_i = r if the queue is not full
//   none (r < b_1), an inversion:  take queue 1;  push-down: every bound falls by b_1 - r

#include "../shared/queue_sizes.p4"

// The step of the scan for queue i, which has the priority queue_priority.
//
// raised_bound holds b_i plus all push-downs so far (`lowered`): a push-down is then one addition for all queues. Both sums
// wrap around together. The top bit is 0 until the first push-up: until then, b_i is 0.
//
// A queue of size 0 is not there. Its bound is cleared, so a queue that is added later starts with the bound 0. For a
// moment the bounds are then not in order; the push-down therefore uses the smallest bound (`lowest`), not b_1.
control SpPifoQueue(in bit<9> port, in bit<3> queue_priority, in bit<16> size, in bit<32> rank, in bit<32> lowered,
                    inout bit<1> chosen, inout bit<32> lowest, inout bit<32> length, inout bit<3> priority,
                    inout bit<2> verdict) {
    ReadLength() read_length;
    register<bit<33>>(MAX_PORTS) raised_bound;
    bit<33> raised;
    bit<32> bound;

    apply {
        if (size == 0) {
            raised_bound.write((bit<32>) port, 0);
        } else if (chosen == 0) {
            read_length.apply(port, queue_priority, length);
            priority = queue_priority;
            verdict = FULL;
            if (length < (bit<32>) size) {
                verdict = ADMITTED;
            }
            raised_bound.read(raised, (bit<32>) port);
            bound = 0;
            if (raised[32:32] == 1) {
                bound = raised[31:0] - lowered;
            }
            if (bound <= rank) {
                chosen = 1;
                if (verdict == ADMITTED) {
                    raised_bound.write((bit<32>) port, 1w1 ++ (rank + lowered));
                }
            } else if (bound < lowest) {
                lowest = bound;
            }
        }
    }
}

// sizes: packets, for the tail drop of each queue;  length: of the queue that the packet is for.
control SpPifoMapping(in bit<9> port, in bit<32> rank, in queue_sizes_t sizes,
                      out bit<32> length, out bit<3> priority, out bit<2> verdict) {
    SpPifoQueue() queue_1;
    SpPifoQueue() queue_2;
    SpPifoQueue() queue_3;
    SpPifoQueue() queue_4;
    SpPifoQueue() queue_5;
    SpPifoQueue() queue_6;
    SpPifoQueue() queue_7;
    SpPifoQueue() queue_8;
    // By all push-downs so far.
    register<bit<32>>(MAX_PORTS) lowered_by;
    bit<32> lowered;
    bit<32> lowest;
    bit<1> chosen;

    apply {
        lowered_by.read(lowered, (bit<32>) port);
        lowest = 0xffffffff;
        chosen = 0;
        length = 0;
        priority = 0;
        verdict = FULL;
        queue_8.apply(port, 0, sizes.size_8, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_7.apply(port, 1, sizes.size_7, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_6.apply(port, 2, sizes.size_6, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_5.apply(port, 3, sizes.size_5, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_4.apply(port, 4, sizes.size_4, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_3.apply(port, 5, sizes.size_3, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_2.apply(port, 6, sizes.size_2, rank, lowered, chosen, lowest, length, priority, verdict);
        queue_1.apply(port, 7, sizes.size_1, rank, lowered, chosen, lowest, length, priority, verdict);
        if (chosen == 0) {
            // The scan ended at queue 1.
            lowered_by.write((bit<32>) port, lowered + (lowest - rank));
        }
    }
}
