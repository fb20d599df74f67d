// Queue depths known at ingress, and the counters of what was admitted.
//
// v1model shows a queue's depth at egress only. The portable way: ingress bumps the cell of (port, priority) when it
// admits a packet, egress sets it to the depth that the dequeued packet left behind. A traffic manager that honours
// @queue_depth keeps the cells exact by itself, as a ghost thread does on Tofino 2.
#ifndef P4SCHED_QUEUE_DEPTH_P4
#define P4SCHED_QUEUE_DEPTH_P4

@queue_depth
register<bit<32>>(MAX_QUEUES) queue_depths;

control AdmitToQueue(inout metadata_t meta, inout standard_metadata_t standard_metadata, in bit<16> limit) {
    counter(MAX_PORTS, CounterType.packets_and_bytes) port_admitted;
    counter(MAX_PORTS, CounterType.packets_and_bytes) port_dropped;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) band_admitted;
    bit<32> depth;
    bit<32> queue;

    apply {
        queue = (bit<32>) (standard_metadata.egress_spec ++ standard_metadata.priority);
        queue_depths.read(depth, queue);
        // limit: room of the queue in packets; 0 leaves it to the queue itself.
        if (limit != 0 && depth >= (bit<32>) limit) {
            port_dropped.count((bit<32>) standard_metadata.egress_spec);
            meta.discard = true;
            mark_to_drop(standard_metadata);
        } else {
            queue_depths.write(queue, depth + 1);
            port_admitted.count((bit<32>) standard_metadata.egress_spec);
            band_admitted.count(queue);
        }
    }
}

control LeaveQueue(in metadata_t meta, in standard_metadata_t standard_metadata) {
    counter(MAX_USERS, CounterType.packets_and_bytes) user_departures;

    apply {
        queue_depths.write((bit<32>) (standard_metadata.egress_port ++ standard_metadata.priority),
                           (bit<32>) standard_metadata.deq_qdepth);
        user_departures.count((bit<32>) meta.user);
    }
}

#endif
