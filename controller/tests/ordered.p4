// What comes leaves by port 2. Its header says where a discipline puts it.
#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<96> addresses;
    bit<16> type;
    bit<8>  leaf;
    bit<8>  rank;
    bit<8>  below;
    bit<8>  number;
}

struct headers_t {
    order_t order;
}

struct meta_t {}

parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout meta_t meta) {
    apply {}
}

control Forward(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.order.type == 0x88b5) {
            standard.egress_spec = 2;
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

control Write(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
    }
}

V1Switch(Parse(), Verify(), Forward(), Nothing(), Update(), Write()) main;
