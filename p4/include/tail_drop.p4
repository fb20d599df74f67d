// Tail drop for FIFO and FDPA, which have no admission rule, and the counters of what was admitted.

// The packet is for the queue (egress_spec, priority). size: of that queue, in packets; 0 leaves it to the queue itself.
control AdmitToQueue(inout metadata_t meta, inout standard_metadata_t standard_metadata, in bit<16> size) {
    ReadLength() read_length;
    TailDrop() tail_drop;
    EnterQueue() enter;
    counter(MAX_PORTS, CounterType.packets_and_bytes) port_admitted;
    counter(MAX_PORTS, CounterType.packets_and_bytes) port_dropped;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) band_admitted;
    bit<32> queue;
    bit<32> length;
    bit<2> verdict;

    apply {
        queue = (bit<32>) (standard_metadata.egress_spec ++ standard_metadata.priority);
        read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
        verdict = ADMITTED;
        tail_drop.apply(length, size, verdict);
        if (verdict == ADMITTED) {
            port_admitted.count((bit<32>) standard_metadata.egress_spec);
            band_admitted.count(queue);
        } else {
            port_dropped.count((bit<32>) standard_metadata.egress_spec);
        }
        enter.apply(meta, standard_metadata, queue, verdict);
    }
}
