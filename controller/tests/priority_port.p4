// A packet to 10.8.0.N leaves by port N. What 10.8.0.2 sends is the most urgent, all else the least.
#include <core.p4>
#include <v1model.p4>

const bit<32> URGENT_SOURCE = 0x0a080002;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<96> others;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.ipv4.isValid()) {
            standard.egress_spec = hdr.ipv4.dst[8:0];
            standard.priority = hdr.ipv4.src == URGENT_SOURCE ? 3w7 : 3w0;
        } else {
            mark_to_drop(standard);
        }
    }
}

control Nothing(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Update(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Forward(), Nothing(), Update(), Deparse()) main;
