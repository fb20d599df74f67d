// Sends every frame out of port 3. Two switches whose ports 3 are connected send it to each other for ever.
#include <core.p4>
#include <v1model.p4>

struct headers_t {}
struct metadata_t {}

parser NoParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control ToPort3(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = 3;
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {}
}

control NoDeparser(packet_out packet, in headers_t hdr) {
    apply {}
}

V1Switch(NoParser(), NoChecksum(), ToPort3(), NoEgress(), NoChecksum(), NoDeparser()) main;
