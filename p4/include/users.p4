// User classification (FDPA paper, section III-B): by source prefix; if none matches, by any part of the 5-tuple.

control Users(in headers_t hdr, inout metadata_t meta) {
    direct_counter(CounterType.packets_and_bytes) user_prefix_counter;
    direct_counter(CounterType.packets_and_bytes) user_flow_counter;

    // scale: 256 / weight. Rates are divided by the weight, so that all users have the same band edges.
    @action_restriction("user < 4096; scale != 0")
    action set_user(bit<16> user, bit<16> scale) {
        meta.user = user;
        meta.scale = scale;
    }
    table users_by_prefix {
        key = { hdr.ipv4.src_addr: lpm; }
        actions = { set_user; NoAction; }
        default_action = NoAction();
        counters = user_prefix_counter;
        size = MAX_USERS;
    }
    table users_by_flow {
        key = { TERNARY_FIVE_TUPLE }
        actions = { set_user; NoAction; }
        default_action = NoAction();
        counters = user_flow_counter;
        size = MAX_USERS;
    }
    apply {
        meta.user = 0;
        meta.scale = 256;
        if (!users_by_prefix.apply().hit) {
            users_by_flow.apply();
        }
    }
}
