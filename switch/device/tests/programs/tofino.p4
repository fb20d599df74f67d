// Everything that P4Runtime sees of a program for Tofino.
#include <core.p4>
#include <tna.p4>

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> _pad;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> _pad;
}

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
}

struct metadata_t {
    bit<10> session;
}

struct learn_t {
    bit<48> source;
    bit<9> port;
}

// First half: packets seen. Second half: the last type.
struct seen_t {
    bit<32> packets;
    bit<32> type;
}

const PortId_t CPU_PORT = 510;

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: from_controller;
            default: parse_ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<seen_t, bit<3>>(8) seen;
    RegisterAction<seen_t, bit<3>, bit<32>>(seen) see = {
        void apply(inout seen_t value) {
            value.packets = value.packets + 1;
            value.type = (bit<32>) hdr.ethernet.type;
        }
    };
    Counter<bit<32>, bit<3>>(8, CounterType_t.PACKETS_AND_BYTES) arrivals;
    Meter<bit<3>>(8, MeterType_t.PACKETS) pace;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;

    action forward(PortId_t port, QueueId_t queue) {
        hits.count();
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.qid = queue;
    }
    action replicate(MulticastGroupId_t group) {
        hits.count();
        ig_tm_md.mcast_grp_a = group;
    }
    action mirror(MirrorId_t session) {
        hits.count();
        meta.session = session;
        ig_dprsr_md.mirror_type = 1;
    }
    action learn() {
        hits.count();
        ig_dprsr_md.digest_type = 1;
    }
    action to_controller() {
        hits.count();
        ig_tm_md.ucast_egress_port = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = ig_intr_md.ingress_port;
    }
    action drop() {
        hits.count();
        ig_dprsr_md.drop_ctl = 1;
    }
    table hosts {
        key = { hdr.ethernet.destination: exact; }
        actions = { forward; replicate; mirror; learn; to_controller; @defaultonly drop; }
        const default_action = drop();
        counters = hits;
        size = 64;
    }

    apply {
        see.execute(ig_intr_md.ingress_port[2:0]);
        arrivals.count(ig_intr_md.ingress_port[2:0]);
        hdr.ethernet.source[7:0] = pace.execute(ig_intr_md.ingress_port[2:0]);
        if (hdr.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            hosts.apply();
        }
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                        in ingress_intrinsic_metadata_t ig_intr_md) {
    Mirror() mirror;
    Digest<learn_t>() stations;

    apply {
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit(meta.session);
        }
        if (ig_dprsr_md.digest_type == 1) {
            stations.pack({hdr.ethernet.source, ig_intr_md.ingress_port});
        }
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
