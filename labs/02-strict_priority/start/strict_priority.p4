// Strict priority: the rank of a packet says its queue, and a quota keeps urgent packets from starving the others.
//
//   eight ranks share a queue: ranks 0 to 7 go to queue 1, which is the most urgent; 8 to 15 to queue 2; ...;
//   56 and all above to queue 8
//   quota: of each 16 packets that arrive at a port, at most 8 are sent to queue 1, also if it is full;
//   the others of these ranks go to queue 8

#include "../shared/queue_sizes.p4"

// Packets of the port's block of 16 so far, and how many of them went to queue 1.
register<bit<32>>(MAX_PORTS) arrivals;
register<bit<32>>(MAX_PORTS) urgent_arrivals;

// size: of the queue with this priority, in packets.
control SizeOf(in bit<3> priority, in queue_sizes_t sizes, out bit<16> size) {
    apply {
        if (priority == 7) { size = sizes.size_1; }
        else if (priority == 6) { size = sizes.size_2; }
        else if (priority == 5) { size = sizes.size_3; }
        else if (priority == 4) { size = sizes.size_4; }
        else if (priority == 3) { size = sizes.size_5; }
        else if (priority == 2) { size = sizes.size_6; }
        else if (priority == 1) { size = sizes.size_7; }
        else { size = sizes.size_8; }
    }
}

// length: of the queue that the packet is for;  priority: 7 is the most urgent;  verdict: ADMITTED or FULL.
control SpPifoMapping(in bit<9> port, in bit<32> rank, in queue_sizes_t sizes,
                      out bit<32> length, out bit<3> priority, out bit<2> verdict) {
    ReadLength() read_length;
    SizeOf() size_of;
    bit<16> size;
    bit<32> count;
    bit<32> urgent;

    apply {
        // Task 1: from a rank to a priority.
        // TODO: ranks 0 to 7 have priority 7, ranks 8 to 15 have priority 6, ... rank 56 and all above have priority 0.
        priority = 0;

        // Task 3: the quota of queue 1.
        // TODO: count the packets in blocks of 16. Of each block, 8 are sent to queue 1, also if it is full; the others get priority 0.

        // Task 2: tail drop.
        read_length.apply(port, priority, length);
        size_of.apply(priority, sizes, size);
        verdict = ADMITTED;
        // TODO: FULL if the queue has no room.

    }
}
