// What the blocks of a program tell each other about a packet.

struct metadata_t {
    // Who sent the packet: 0 when no entry classifies it.
    bit<16> user;
    // 256 / weight of the user: what a byte costs, in 1/256.
    bit<16> scale;
    // How urgent the packet is: the smaller, the more urgent.
    bit<32> rank;
    // STFQ only, in virtual bytes: the packet's start time, its flow's cell, and the flow's finish time if it is admitted.
    bit<1>  charge_flow;
    bit<32> flow;
    bit<64> start_time;
    bit<64> finish_time;
    // Zero for other protocols than TCP and UDP.
    bit<16> l4_src_port;
    bit<16> l4_dst_port;
    // Ingress is done with the packet: it has no route, its TTL has run out, it was dropped, or it is a worker packet.
    bool    discard;
#ifdef TARGET_METADATA
    TARGET_METADATA
#endif
}

// The 5-tuple of a packet, for a hash and for a table's key.
#define FIVE_TUPLE \
    hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, meta.l4_dst_port
#define TERNARY_FIVE_TUPLE \
    hdr.ipv4.src_addr: ternary; \
    hdr.ipv4.dst_addr: ternary; \
    hdr.ipv4.protocol: ternary; \
    meta.l4_src_port: ternary; \
    meta.l4_dst_port: ternary;
