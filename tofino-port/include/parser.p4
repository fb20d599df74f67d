// Parsers, checksums and deparsers of every program.
//
// In front of a frame, the chip puts intrinsic metadata and 64 bits (Tofino 2: 192 bits) of metadata for each port.

parser LabIngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                        out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        packet.extract(ig_intr_md);
        meta.user = 0;
        meta.rank = 0;
        meta.l4_src_port = 0;
        meta.l4_dst_port = 0;
        meta.discard = false;
        meta.checksum_error = false;
#ifdef RESUBMIT_PUSH_DOWN
        transition select(ig_intr_md.resubmit_flag) {
            1: parse_push_down;
            default: skip_port_metadata;
        }
    }
    // The second pass of a packet: in place of the port's metadata.
    state parse_push_down {
        packet.extract(hdr.push_down);
        meta.user = hdr.push_down.user;
        meta.scale = hdr.push_down.scale;
        transition parse_ethernet;
    }
    state skip_port_metadata {
#endif
        // User 0, whom no entry classifies, has weight 1. A field other than 0 cannot be written a second time.
        meta.scale = 256;
        packet.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
#ifdef LENGTH_REPORTS
            RECIRCULATION_PORT_TNA: parse_length_report;
#endif
            default: parse_ethernet;
        }
    }
#ifdef LENGTH_REPORTS
    state parse_length_report {
        packet.extract(hdr.length_report);
        transition accept;
    }
#endif
    state parse_ethernet {
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
        // Of a header without options. A packet with options is dropped anyway (forwarding.p4).
        ipv4_checksum.add(hdr.ipv4);
        // True if the checksum is wrong.
        meta.checksum_error = ipv4_checksum.verify();
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

control LabIngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                           in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() ipv4_checksum;
#ifdef RESUBMIT_PUSH_DOWN
    Resubmit() second_pass;
#endif

    apply {
#ifdef RESUBMIT_PUSH_DOWN
        if (ig_dprsr_md.resubmit_type == PUSH_DOWN) {
            second_pass.emit<push_down_t>({ meta.cost, meta.user, meta.scale });
        }
#endif
        // Forwarding has changed the TTL. All that is forwarded has no options.
        hdr.ipv4.hdr_checksum = ipv4_checksum.update({ IPV4_CHECKED_FIELDS });
        packet.emit(hdr.bridge);
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

#ifdef LENGTH_REPORTS
const MirrorType_t MIRROR_LENGTH_REPORT = 1;
#endif

// Egress parses no further than it has to.
struct egress_headers_t {
    bridge_t        bridge;
#ifdef LENGTH_REPORTS
    length_report_t length_report;
#endif
#ifdef WORKER_PACKETS
    ethernet_t      ethernet;
    worker_t        worker;
#endif
}

struct egress_metadata_t {
    // Packets that the departure leaves behind.
    bit<32>    length;
#ifdef LENGTH_REPORTS
    // What the report of this departure says, and the mirror session that it goes through.
    bit<8>     report_kind;
    bit<16>    report_queue;
    MirrorId_t report_session;
#endif
}

parser LabEgressParser(packet_in packet, out egress_headers_t hdr, out egress_metadata_t meta,
                       out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition select(packet.lookahead<bit<8>>()) {
#ifdef LENGTH_REPORTS
            KIND_LENGTH_REPORT: parse_length_report;
#endif
            default: parse_bridge;
        }
    }
#ifdef LENGTH_REPORTS
    state parse_length_report {
        packet.extract(hdr.length_report);
        transition accept;
    }
#endif
    state parse_bridge {
        packet.extract(hdr.bridge);
        transition select(hdr.bridge.kind) {
#ifdef WORKER_PACKETS
            KIND_WORKER: parse_worker;
#endif
            default: accept;
        }
    }
#ifdef WORKER_PACKETS
    state parse_worker {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.worker);
        transition accept;
    }
#endif
}

control LabEgressDeparser(packet_out packet, inout egress_headers_t hdr, in egress_metadata_t meta,
                          in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
#ifdef LENGTH_REPORTS
    Mirror() report;
#endif

    apply {
        // The header of ingress is left out: the frame leaves as ingress made it.
#ifdef LENGTH_REPORTS
        if (eg_dprsr_md.mirror_type == MIRROR_LENGTH_REPORT) {
            report.emit<length_report_t>(meta.report_session, { meta.report_kind, meta.report_queue, meta.length });
        }
        packet.emit(hdr.length_report);
#endif
#ifdef WORKER_PACKETS
        packet.emit(hdr.ethernet);
        packet.emit(hdr.worker);
#endif
    }
}
