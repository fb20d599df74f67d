// Carries out and counts the verdict of a program with ranks.

// The packet is for the queue (egress_spec, priority). length: the packets that the decision saw waiting.
control CarryOut(inout metadata_t meta, inout standard_metadata_t standard_metadata, in bit<2> verdict, in bit<32> length) {
    EnterQueue() enter;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) admitted;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) dropped_by_admission;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) dropped_full;
    counter(HISTOGRAM_CELLS, CounterType.packets_and_bytes) depth_histogram;
    bit<32> queue;

    action count_depth(bit<6> bucket) {
        depth_histogram.count((bit<32>) (standard_metadata.egress_spec ++ bucket));
    }
    table depth_buckets {
        key = { length: lpm @name("depth"); }
        actions = { count_depth; }
        default_action = count_depth(0);
        const entries = { HISTOGRAM_ENTRIES(count_depth) }
    }
    apply {
        queue = (bit<32>) (standard_metadata.egress_spec ++ standard_metadata.priority);
        depth_buckets.apply();
        if (verdict == ADMITTED) {
            admitted.count(queue);
        } else if (verdict == REFUSED) {
            dropped_by_admission.count(queue);
        } else {
            dropped_full.count(queue);
        }
        enter.apply(meta, standard_metadata, queue, verdict);
    }
}
