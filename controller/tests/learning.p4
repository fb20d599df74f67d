// A program for Tofino 1 that tells the controller who sent a frame, and counts the frames of each sender.
#include <core.p4>
#include <tna.p4>

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
    bit<9> port;
}

struct sender_t {
    bit<48> source;
    bit<9>  port;
}

parser LearningParser(packet_in packet, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        meta.port = ig_intr_md.ingress_port;
        transition accept;
    }
}

control Learning(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                 in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                 inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<bit<32>, bit<8>>(256) frames;
    RegisterAction<bit<32>, bit<8>, bit<32>>(frames) count = {
        void apply(inout bit<32> value) {
            value = value + 1;
        }
    };

    apply {
        count.execute(hdr.ethernet.source[7:0]);
        ig_dprsr_md.digest_type = 1;
        ig_dprsr_md.drop_ctl = 1;
    }
}

control LearningDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                         in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Digest<sender_t>() senders;

    apply {
        if (ig_dprsr_md.digest_type == 1) {
            senders.pack({ hdr.ethernet.source, meta.port });
        }
        packet.emit(hdr);
    }
}

parser NothingParser(packet_in packet, out headers_t hdr, out metadata_t meta, out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        transition accept;
    }
}

control Nothing(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
                in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply { }
}

control NothingDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(LearningParser(), Learning(), LearningDeparser(), NothingParser(), Nothing(), NothingDeparser()) pipe;
Switch(pipe) main;
