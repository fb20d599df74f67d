// Tables whose entries name entries of `neighbors`, and multicast groups.
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

struct metadata_t {
    bit<16> neighbor;
}

parser ReferencesParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control ReferencesVerify(inout headers_t hdr, inout metadata_t meta) { apply {} }
control ReferencesCompute(inout headers_t hdr, inout metadata_t meta) { apply {} }

control ReferencesIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action_selector(HashAlgorithm.crc16, 16, 8) paths;

    action set_port(bit<9> port) { std.egress_spec = port; }
    action set_neighbor(@refers_to(neighbors, neighbor_id) bit<16> neighbor) { meta.neighbor = neighbor; }
    action copy(@refers_to(builtin::multicast_group_table, multicast_group_id) bit<16> group) { std.mcast_grp = group; }

    table routes {
        key = { hdr.ethernet.dst_addr: exact; }
        actions = { set_neighbor; copy; }
    }
    table balanced {
        key = {
            hdr.ethernet.dst_addr: exact;
            hdr.ethernet.src_addr: selector;
        }
        actions = { set_neighbor; }
        implementation = paths;
    }
    table neighbors {
        key = {
            meta.neighbor: exact @name("neighbor_id");
            std.ingress_port: exact @name("port");
        }
        actions = { set_port; }
    }
    table watched {
        key = { meta.neighbor: optional @refers_to("neighbors", "neighbor_id"); }
        actions = { NoAction; }
    }
    apply {
        routes.apply();
        balanced.apply();
        neighbors.apply();
        watched.apply();
    }
}

control ReferencesEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }

control ReferencesDeparser(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); }
}

V1Switch(ReferencesParser(), ReferencesVerify(), ReferencesIngress(), ReferencesEgress(), ReferencesCompute(),
         ReferencesDeparser()) main;
