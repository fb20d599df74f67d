// Carries out and counts the verdict of a program with ranks.

// The packet is for the queue meta.queue.
control CarryOut(inout headers_t hdr, inout metadata_t meta, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md, in bit<2> verdict) {
    EnterQueue() enter;
    Counter<bit<64>, bit<12>>(MAX_QUEUES, CounterType_t.PACKETS_AND_BYTES) admitted;
    Counter<bit<64>, bit<12>>(MAX_QUEUES, CounterType_t.PACKETS_AND_BYTES) dropped_by_admission;
    Counter<bit<64>, bit<12>>(MAX_QUEUES, CounterType_t.PACKETS_AND_BYTES) dropped_full;

    apply {
        if (verdict == ADMITTED) {
            admitted.count(meta.queue);
        } else if (verdict == REFUSED) {
            dropped_by_admission.count(meta.queue);
        } else {
            dropped_full.count(meta.queue);
        }
        enter.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
    }
}

// length: the packets that the decision saw waiting.
control CountDepth(in bit<9> port, in bit<32> length) {
    // Packets only: with bytes, it would need five times the SRAM.
    Counter<bit<32>, bit<15>>(HISTOGRAM_CELLS, CounterType_t.PACKETS) depth_histogram;
    bit<15> cell;

    action count_depth(bit<6> bucket) {
        cell[5:0] = bucket;
    }
    table depth_buckets {
        key = { length: ternary @name("depth"); }
        actions = { count_depth; }
        default_action = count_depth(0);
        const entries = { HISTOGRAM_ENTRIES(count_depth) }
    }
    apply {
        cell[14:6] = port;
        depth_buckets.apply();
        depth_histogram.count(cell);
    }
}
