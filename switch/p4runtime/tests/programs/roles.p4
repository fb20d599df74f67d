// Tables of two roles, and one of none.
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {}

parser RolesParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control RolesVerify(inout headers_t hdr, inout metadata_t meta) { apply {} }
control RolesCompute(inout headers_t hdr, inout metadata_t meta) { apply {} }

control RolesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(4, CounterType.packets) seen;
    @p4runtime_role("policy")
    register<bit<8>>(4) notes;
    direct_counter(CounterType.packets) refused;
    action_selector(HashAlgorithm.crc16, 16, 8) paths;

    action forward(bit<9> port) {
        std.egress_spec = port;
        seen.count(0);
        notes.write(0, 1);
    }
    action drop() { mark_to_drop(std); }

    @p4runtime_role("forwarding")
    table routes {
        key = {
            hdr.ethernet.dst_addr: exact;
            hdr.ethernet.src_addr: selector;
        }
        actions = { forward; }
        implementation = paths;
    }
    @p4runtime_role("policy")
    table acl {
        key = { hdr.ethernet.src_addr: exact; }
        actions = { drop; }
        counters = refused;
    }
    table defaults {
        key = { std.ingress_port: exact; }
        actions = { forward; }
    }
    apply {
        defaults.apply();
        routes.apply();
        acl.apply();
    }
}

control RolesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }

control RolesDeparser(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); }
}

V1Switch(RolesParser(), RolesVerify(), RolesIngress(), RolesEgress(), RolesCompute(), RolesDeparser()) main;
