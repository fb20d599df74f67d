// User classification (FDPA paper, section III-B): by source prefix; if none matches, by any part of the 5-tuple.
// The parser has set what a packet has that no entry classifies.

control Users(in headers_t hdr, inout metadata_t meta) {
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) user_prefix_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) user_flow_counter;

    // scale: 256 / weight. Rates are divided by the weight, so that all users have the same band edges.
    @action_restriction("user < 4096; scale != 0")
    action set_user(bit<16> user, bit<16> scale) {
        meta.user = user;
        meta.scale = scale;
        user_prefix_counter.count();
    }
    // An action counts in one direct counter only, so the second table has an action of its own.
    @action_restriction("user < 4096; scale != 0")
    action set_flow_user(bit<16> user, bit<16> scale) {
        meta.user = user;
        meta.scale = scale;
        user_flow_counter.count();
    }
    table users_by_prefix {
        key = { hdr.ipv4.src_addr: lpm; }
        actions = { set_user; @defaultonly NoAction; }
        default_action = NoAction();
        counters = user_prefix_counter;
        size = MAX_USERS;
    }
    table users_by_flow {
        key = { TERNARY_FIVE_TUPLE }
        actions = { set_flow_user; @defaultonly NoAction; }
        default_action = NoAction();
        counters = user_flow_counter;
        size = MAX_USERS;
    }
    apply {
        if (!users_by_prefix.apply().hit) {
            users_by_flow.apply();
        }
    }
}
