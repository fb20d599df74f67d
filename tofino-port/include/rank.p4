// Where a packet's rank comes from, chosen for each egress port while the switch runs.
//
// There is no start-time fair queueing here, so RANK_STFQ is refused. Its rank is the larger of two registers, the virtual time
// of the port and the finish time of the flow. The virtual time follows the packets that leave, and a register of egress is
// out of reach. The finish time is read for the rank and written when the packet is admitted, and one packet has one access.

control Rank(in headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // Packets only: with bytes, it would need five times the SRAM.
    Counter<bit<32>, bit<15>>(HISTOGRAM_CELLS, CounterType_t.PACKETS) rank_histogram;
    bit<8> source;
    bit<32> tos_rank;
    bit<15> cell;

    // rank_source: RANK_STATIC, RANK_HEADER or RANK_TOS.
    @action_restriction("rank_source <= 2")
    action set_rank_source(bit<8> rank_source) {
        source = rank_source;
    }
    table rank_sources {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
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
        cell[5:0] = bucket;
    }
    table rank_buckets {
        key = { meta.rank: ternary; }
        actions = { count_rank; }
        default_action = count_rank(0);
        const entries = { HISTOGRAM_ENTRIES(count_rank) }
    }
    // The complement by a subtraction: for that, the open compiler leaves the fields in one piece. With ~, it did not, and its
    // assembler refused the result.
    action take_header() {
        meta.rank = hdr.rank.rank;
        meta.inverse_rank = 0xffffffff - hdr.rank.rank;
    }
    // A packet without a rank header is the least urgent.
    action take_least_urgent() {
        meta.rank = 0xffffffff;
        meta.inverse_rank = 0;
    }
    action take_tos() {
        meta.rank = tos_rank;
        meta.inverse_rank = 0xffffffff - tos_rank;
    }
    action take_static() {
        meta.inverse_rank = 0xffffffff - meta.rank;
    }
    apply {
        tos_rank = (bit<32>) hdr.ipv4.tos;
        cell[14:6] = ig_tm_md.ucast_egress_port;
        flow_ranks.apply();
        rank_sources.apply();
        if (source == RANK_HEADER) {
            if (hdr.rank.isValid()) {
                take_header();
            } else {
                take_least_urgent();
            }
        } else if (source == RANK_TOS) {
            take_tos();
        } else {
            take_static();
        }
        rank_buckets.apply();
        rank_histogram.count(cell);
    }
}
