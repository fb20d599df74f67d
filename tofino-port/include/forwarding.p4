// IPv4 routing: from the destination address to a port and the next hop's MAC address.
//
// Equal-cost multipath: a route may name a group instead of a port. A hash of the 5-tuple gives one of 64 buckets, and a
// table gives the port of (group, bucket). So a flow keeps its path until the controller changes the table. The controller
// gives each path some of the group's buckets: up to 64 paths, in any proportion.
// Only the first fragment of a datagram has TCP or UDP ports. The others may take another path.

control Forwarding(inout headers_t hdr, inout metadata_t meta, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // The lower 6 bits of the checksum: one of ECMP_BUCKETS.
    Hash<bit<6>>(HashAlgorithm_t.CRC32) path_hash;
    bit<16> ecmp_group;
    bit<6> ecmp_bucket;

    action drop() {
        ig_dprsr_md.drop_ctl = 1;
        meta.discard = true;
    }
    action forward(bit<9> port, bit<48> dst_mac) {
        ig_tm_md.ucast_egress_port = port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action choose_path(bit<16> group) {
        ecmp_group = group;
    }
    table ipv4_routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; choose_path; drop; }
        default_action = drop();
        size = MAX_ROUTES;
    }
    table ecmp_paths {
        key = {
            ecmp_group: exact;
            ecmp_bucket: exact;
        }
        actions = { forward; drop; }
        default_action = drop();
        size = MAX_ECMP_PATHS;
    }
    apply {
        // A packet with options has a checksum that this program can neither verify nor update.
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1 && !meta.checksum_error) {
            ecmp_bucket = path_hash.get({ FIVE_TUPLE });
            switch (ipv4_routes.apply().action_run) {
                choose_path: {
                    ecmp_paths.apply();
                }
            }
        } else {
            drop();
        }
    }
}
