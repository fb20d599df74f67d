// The queue mapping of SP-PIFO.
//
//   n strict-priority queues, queue 1 the most urgent;  b_i: bound of queue i, 0 at the start;  r: the packet's rank
//   scan from queue n to queue 1:  take the first queue i with b_i <= r;  push-up: b_i = r if the queue is not full
//   none (r < b_1), an inversion:  take queue 1;  push-down: every bound falls by b_1 - r

#include "../shared/queue_sizes.p4"

// b_i: the cell of (port, priority). Queue i has priority 8 - i.
register<bit<32>>(MAX_QUEUES) bounds;

// A step of the scan, for one queue. size: packets; 0: there is no such queue.
// chosen: 1 if a queue before has taken the packet;  bound: b_i of this queue;  verdict: ADMITTED or FULL.
control ScanQueue(in bit<9> port, in bit<3> queue_priority, in bit<16> size, in bit<32> rank, inout bit<1> chosen,
                  inout bit<32> bound, inout bit<32> length, inout bit<3> priority, inout bit<2> verdict) {
    ReadLength() read_length;
    bit<32> cell;

    apply {
        if (size != 0 && chosen == 0) {
            // If no queue takes the packet, this stays as the scan leaves it: the values of queue 1.
            cell = (bit<32>) (port ++ queue_priority);
            bounds.read(bound, cell);
            priority = queue_priority;
            read_length.apply(port, queue_priority, length);
            verdict = ADMITTED;
            // Task 2: tail drop.
            if (length >= (bit<32>) size) {
                verdict = FULL;
            }
            // Task 1: does this queue take the packet?
            if (bound <= rank) {
                chosen = 1;
                // Task 3: push-up.
                if (verdict == ADMITTED) {
                    bounds.write(cell, rank);
                }
            }
        }
    }
}

// One bound falls.
control LowerBound(in bit<9> port, in bit<3> queue_priority, in bit<32> cost) {
    bit<32> bound;

    apply {
        // Task 4: push-down.
        bounds.read(bound, (bit<32>) (port ++ queue_priority));
        bounds.write((bit<32>) (port ++ queue_priority), bound - cost);
    }
}

// sizes: packets, for the tail drop of each queue;  length: of the queue that the packet is for.
control SpPifoMapping(in bit<9> port, in bit<32> rank, in queue_sizes_t sizes,
                      out bit<32> length, out bit<3> priority, out bit<2> verdict) {
    ScanQueue() scan;
    LowerBound() lower;
    bit<1> chosen;
    bit<32> bound;
    bit<32> cost;

    apply {
        chosen = 0;
        bound = 0;
        length = 0;
        priority = 0;
        verdict = FULL;
        scan.apply(port, 0, sizes.size_8, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 1, sizes.size_7, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 2, sizes.size_6, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 3, sizes.size_5, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 4, sizes.size_4, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 5, sizes.size_3, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 6, sizes.size_2, rank, chosen, bound, length, priority, verdict);
        scan.apply(port, 7, sizes.size_1, rank, chosen, bound, length, priority, verdict);
        if (chosen == 0) {
            // The scan ended at queue 1, and bound is b_1.
            // Task 4: push-down.
            cost = bound - rank;
            lower.apply(port, 7, cost);
            lower.apply(port, 6, cost);
            lower.apply(port, 5, cost);
            lower.apply(port, 4, cost);
            lower.apply(port, 3, cost);
            lower.apply(port, 2, cost);
            lower.apply(port, 1, cost);
            lower.apply(port, 0, cost);
        }
    }
}
