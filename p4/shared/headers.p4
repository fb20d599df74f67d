// Packet headers of the lab.

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

// Follows Ethernet in a worker packet: queue length of one of the ports 0 .. ports - 1.
header worker_t {
    bit<16> ports;
    bit<16> port;
    bit<32> queue_length;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_len;
    bit<16> identification;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> hdr_checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

// What the checksum of an IPv4 header without options covers.
#define IPV4_CHECKED_FIELDS \
    hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.flags, \
    hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr

// The first four bytes of TCP and of UDP.
header l4_ports_t {
    bit<16> src_port;
    bit<16> dst_port;
}

// The rest of a UDP header.
header udp_rest_t {
    bit<16> length;
    bit<16> checksum;
}

// How urgent a datagram is, as its sender says: the smaller, the more urgent.
header rank_t {
    bit<32> rank;
}

struct headers_t {
#ifdef TARGET_HEADERS
    TARGET_HEADERS
#endif
    ethernet_t ethernet;
#ifdef WORKER_PACKETS
    worker_t   worker;
#endif
    ipv4_t     ipv4;
    l4_ports_t l4_ports;
    udp_rest_t udp_rest;
    rank_t     rank;
}
