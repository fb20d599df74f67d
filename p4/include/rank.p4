// Where a packet's rank comes from, chosen for each egress port while the switch runs.

#include "stfq.p4"

control Rank(in headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    StartTime() start_time;
    counter(HISTOGRAM_CELLS, CounterType.packets_and_bytes) rank_histogram;
    bit<8> source = RANK_STATIC;

    // rank_source: RANK_STATIC, RANK_HEADER, RANK_TOS or RANK_STFQ.
    @action_restriction("rank_source <= 3")
    action set_rank_source(bit<8> rank_source) {
        source = rank_source;
    }
    table rank_sources {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_rank_source; }
        default_action = set_rank_source(RANK_STATIC);
        size = MAX_PORTS;
    }
    action set_rank(bit<32> rank) {
        meta.rank = rank;
    }
    // Rank of a flow, by any part of its 5-tuple.
    table flow_ranks {
        key = { TERNARY_FIVE_TUPLE }
        actions = { set_rank; }
        default_action = set_rank(0);
        size = 1024;
    }
    action count_rank(bit<6> bucket) {
        rank_histogram.count((bit<32>) (standard_metadata.egress_spec ++ bucket));
    }
    table rank_buckets {
        key = { meta.rank: lpm; }
        actions = { count_rank; }
        default_action = count_rank(0);
        const entries = { HISTOGRAM_ENTRIES(count_rank) }
    }
    apply {
        meta.rank = 0;
        meta.charge_flow = 0;
        rank_sources.apply();
        if (source == RANK_HEADER) {
            // A packet without a rank header is the least urgent.
            meta.rank = 0xffffffff;
            if (hdr.rank.isValid()) {
                meta.rank = hdr.rank.rank;
            }
        } else if (source == RANK_TOS) {
            meta.rank = (bit<32>) hdr.ipv4.tos;
        } else if (source == RANK_STFQ) {
            start_time.apply(hdr, meta, standard_metadata);
        } else {
            flow_ranks.apply();
        }
        rank_buckets.apply();
    }
}
