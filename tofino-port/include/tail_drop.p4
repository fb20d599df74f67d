// Tail drop for a program without an admission rule, and the counters of what was admitted.

// The packet is for the queue meta.queue. size: of that queue, in packets; 0 leaves it to the queue itself.
control AdmitToQueue(inout headers_t hdr, inout metadata_t meta, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md, in bit<32> size) {
    EnterQueue() enter;
    Counter<bit<64>, bit<9>>(MAX_PORTS, CounterType_t.PACKETS_AND_BYTES) port_admitted;
    Counter<bit<64>, bit<9>>(MAX_PORTS, CounterType_t.PACKETS_AND_BYTES) port_dropped;
    Counter<bit<64>, bit<12>>(MAX_QUEUES, CounterType_t.PACKETS_AND_BYTES) band_admitted;
#ifdef LENGTH_REPORTS
    CountArrival() count_arrival;
    TailDrop() tail_drop;
    bit<32> length;
    bool full;
#endif
    bit<2> verdict;

    apply {
        verdict = ADMITTED;
#ifdef LENGTH_REPORTS
        count_arrival.apply(meta, size, length);
        tail_drop.apply(length, size, full);
        if (full) {
            verdict = FULL;
        }
#endif
        if (verdict == ADMITTED) {
            port_admitted.count(ig_tm_md.ucast_egress_port);
        } else {
            port_dropped.count(ig_tm_md.ucast_egress_port);
        }
        if (verdict == ADMITTED) {
            band_admitted.count(meta.queue);
        }
        enter.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
    }
}
