// IPv4 routing: from the destination address to a port and the next hop's MAC address.
#ifndef P4SCHED_FORWARDING_P4
#define P4SCHED_FORWARDING_P4

control Forwarding(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
        meta.discard = true;
    }
    action forward(bit<9> port, bit<48> dst_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table ipv4_routes {
        key = { hdr.ipv4.dst_addr: lpm; }
        actions = { forward; drop; }
        default_action = drop();
        size = MAX_ROUTES;
    }
    apply {
        // A packet with options has a checksum that this program can neither verify nor update.
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1 && standard_metadata.checksum_error == 0) {
            ipv4_routes.apply();
        } else {
            drop();
        }
    }
}

#endif
