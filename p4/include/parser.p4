// Parser, checksums and deparser of every v1model program.

parser LabParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
#ifdef WORKER_PACKETS
            ETHERTYPE_WORKER: parse_worker;
#endif
            default: accept;
        }
    }
#ifdef WORKER_PACKETS
    state parse_worker {
        packet.extract(hdr.worker);
        transition accept;
    }
#endif
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        // Ports are read only where they are at a fixed place: no options, first fragment.
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_TCP): parse_ports;
            (5, 0, PROTOCOL_UDP): parse_ports;
            default: accept;
        }
    }
    state parse_ports {
        packet.extract(hdr.l4_ports);
        meta.l4_src_port = hdr.l4_ports.src_port;
        meta.l4_dst_port = hdr.l4_ports.dst_port;
        transition select(hdr.ipv4.protocol, hdr.l4_ports.dst_port) {
            (PROTOCOL_UDP, RANK_PORT &&& RANK_PORT_MASK): parse_udp_rest;
            default: accept;
        }
    }
    state parse_udp_rest {
        packet.extract(hdr.udp_rest);
        // A datagram too short for a rank ends here, and has none.
        transition select(hdr.udp_rest.length) {
            0 &&& 0xfff8: accept;
            8 &&& 0xfffc: accept;
            default: parse_rank;
        }
    }
    state parse_rank {
        packet.extract(hdr.rank);
        transition accept;
    }
}

control LabVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { IPV4_CHECKED_FIELDS }, hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control LabComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { IPV4_CHECKED_FIELDS }, hdr.ipv4.hdr_checksum, HashAlgorithm.csum16);
    }
}

control LabDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
#ifdef WORKER_PACKETS
        packet.emit(hdr.worker);
#endif
        packet.emit(hdr.ipv4);
        packet.emit(hdr.l4_ports);
        packet.emit(hdr.udp_rest);
        packet.emit(hdr.rank);
    }
}
