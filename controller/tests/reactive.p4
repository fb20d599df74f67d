// A program that asks the controller: where to send packets to a new destination, and who a new source is.
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 509;

header ethernet_t {
    bit<48> destination;
    bit<48> source;
    bit<16> type;
}

header ipv4_t {
    bit<64> first;
    bit<32> second;
    bit<32> source;
    bit<32> destination;
}

@controller_header("packet_in")
header packet_in_t {
    bit<9> port;
    bit<7> padding;
}

struct headers_t {
    packet_in_t packet_in;
    ethernet_t  ethernet;
    ipv4_t      ipv4;
}

struct metadata_t { }

struct sender_t {
    bit<32> source;
    bit<9>  port;
}

parser ReactiveParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control Unchecked(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Reactive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action ask() {
        standard_metadata.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.port = standard_metadata.ingress_port;
        hdr.packet_in.padding = 0;
    }
    action forward(bit<9> port, bit<48> mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.destination = mac;
    }
    table destinations {
        key = { hdr.ipv4.destination: exact; }
        actions = { ask; forward; }
        default_action = ask();
    }
    action report() {
        digest<sender_t>(1, { hdr.ipv4.source, standard_metadata.ingress_port });
    }
    table senders {
        key = { hdr.ipv4.source: exact; }
        actions = { report; NoAction; }
        default_action = report();
    }
    apply {
        senders.apply();
        destinations.apply();
    }
}

control Nothing(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control ReactiveDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(ReactiveParser(), Unchecked(), Reactive(), Nothing(), Unchecked(), ReactiveDeparser()) main;
