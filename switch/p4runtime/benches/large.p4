// Tables of the sizes that the benches fill: an exact one, prefixes, and value and mask with a range.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

// The addresses and ports of an IPv4 packet without options.
header flow_t {
    bit<32> src;
    bit<32> dst;
    bit<16> source_port;
    bit<16> port;
}

struct headers_t {
    ethernet_t ethernet;
    flow_t flow;
}

struct metadata_t {}

parser LargeParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.flow);
        transition accept;
    }
}

control LargeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    table exact_flows {
        key = { hdr.flow.dst: exact; }
        actions = { forward; NoAction; }
        default_action = NoAction();
        size = 1048576;
    }
    table prefixes {
        key = { hdr.flow.dst: lpm; }
        actions = { forward; NoAction; }
        default_action = NoAction();
        size = 524288;
    }
    table classes {
        key = {
            hdr.flow.src: ternary;
            hdr.flow.dst: ternary;
            hdr.flow.port: range;
        }
        actions = { forward; NoAction; }
        default_action = NoAction();
        size = 16384;
    }
    // The type of the frame says which of the tables is asked.
    apply {
        if (hdr.ethernet.kind == 1) {
            exact_flows.apply();
        } else if (hdr.ethernet.kind == 2) {
            prefixes.apply();
        } else {
            classes.apply();
        }
    }
}

control LargeEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control LargeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(LargeParser(), NoChecksum(), LargeIngress(), LargeEgress(), NoChecksum(), LargeDeparser()) main;
