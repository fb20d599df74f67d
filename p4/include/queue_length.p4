// Queue lengths at ingress, and how a packet enters and leaves its queue.
//
// v1model shows the length of a queue at egress only, and calls it depth. The portable way: ingress adds 1 to the cell of
// (port, priority) when it admits a packet; egress sets the cell to the length that the packet left behind. A traffic
// manager that honours @queue_depth keeps the cells exact by itself; on Tofino 2 a ghost thread copies one length after
// the other (PACKS 5). In a program built with -D PORTABLE_DEPTH, no traffic manager does.

#ifndef PORTABLE_DEPTH
@queue_depth
#endif
register<bit<32>>(MAX_QUEUES) queue_depths;

// length: of the queue (port, priority), in packets, before the packet at hand.
control ReadLength(in bit<9> port, in bit<3> priority, out bit<32> length) {
    apply {
#ifdef WORKER_PACKETS
        queue_length_ingress.read(length, (bit<32>) port);
#else
        queue_depths.read(length, (bit<32>) (port ++ priority));
#endif
    }
}

// Tail drop. length, size: of the packet's queue, in packets. A size of 0 leaves the tail drop to the queue itself.
control TailDrop(in bit<32> length, in bit<16> size, inout bit<2> verdict) {
    apply {
        if (verdict == ADMITTED && size != 0 && length >= (bit<32>) size) {
            verdict = FULL;
        }
    }
}

// Carries out a verdict: an admitted packet goes to its queue, any other is dropped. queue: the cell of (port, priority).
control EnterQueue(inout metadata_t meta, inout standard_metadata_t standard_metadata, in bit<32> queue,
                   in bit<2> verdict) {
    bit<32> length;

    apply {
        if (verdict == ADMITTED) {
            queue_depths.read(length, queue);
            queue_depths.write(queue, length + 1);
        } else {
            meta.discard = true;
            mark_to_drop(standard_metadata);
        }
    }
}

// Egress.
control LeaveQueue(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(MAX_USERS, CounterType.packets_and_bytes) user_departures;

    apply {
        queue_depths.write((bit<32>) (standard_metadata.egress_port ++ standard_metadata.priority),
                           (bit<32>) standard_metadata.deq_qdepth);
        user_departures.count((bit<32>) meta.user);
    }
}
