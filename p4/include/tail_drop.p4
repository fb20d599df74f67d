// Tail drop at a limit that ingress enforces, and the counters of what was admitted.
#ifndef P4SCHED_TAIL_DROP_P4
#define P4SCHED_TAIL_DROP_P4

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

#endif
