// Values that the controller calls by name: ports, virtual routers with a name for number 0, and classes of 2 bits.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("", string)
type bit<9> port_id_t;

@p4runtime_translation("", string)
@p4runtime_translation_mappings({ {"", 0}, {"blue", 9} })
type bit<10> vrf_t;

@p4runtime_translation("", string)
type bit<2> class_t;

@controller_header("packet_in")
header packet_in_t {
    port_id_t ingress_port;
    bit<7>    reason;
}

@controller_header("packet_out")
header packet_out_t {
    port_id_t egress_port;
    bit<7>    unused;
}

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
}

struct metadata_t {
    vrf_t   vrf;
    class_t class;
}

struct learn_t {
    port_id_t port;
    vrf_t     vrf;
    bit<48>   address;
}

struct type_t {
    class_t class;
    bit<16> ether_type;
}

const bit<9> CPU_PORT = 510;

parser TranslatedParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    value_set<type_t>(2) special_types;

    state start {
        meta.class = (class_t) 0;
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }
    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition parse_ethernet;
    }
    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select((bit<2>) meta.class, hdr.ethernet.ether_type) {
            special_types: parse_special;
            default: accept;
        }
    }
    state parse_special {
        meta.class = (class_t) 3;
        transition accept;
    }
}

control TranslatedVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TranslatedIngress(inout headers_t hdr, inout metadata_t meta,
                          inout standard_metadata_t standard_metadata) {
    register<vrf_t>(4) last_vrf;
    action_selector(HashAlgorithm.crc32, 32w64, 32w14) paths_selector;

    action set_vrf(vrf_t vrf) {
        meta.vrf = vrf;
    }
    action set_class(class_t class) {
        meta.class = class;
    }
    action forward(port_id_t port) {
        standard_metadata.egress_spec = (bit<9>) port;
    }
    action copy(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }
    action drop() {
        mark_to_drop(standard_metadata);
    }

    table vrfs {
        key = { (port_id_t) standard_metadata.ingress_port : exact @name("in_port"); }
        actions = { set_vrf; }
        default_action = set_vrf((vrf_t) 5);
    }
    table classes {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { set_class; NoAction; }
        default_action = NoAction();
    }
    table routes {
        key = {
            meta.vrf              : exact;
            hdr.ethernet.dst_addr : ternary;
            meta.class            : optional;
        }
        actions = { forward; copy; drop; }
        default_action = drop();
    }
    table paths {
        key = {
            meta.vrf              : exact;
            hdr.ethernet.src_addr : selector;
        }
        actions = { forward; NoAction; }
        implementation = paths_selector;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = (bit<9>) hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            vrfs.apply();
            classes.apply();
            last_vrf.write(0, meta.vrf);
            digest<learn_t>(1, { (port_id_t) standard_metadata.ingress_port, meta.vrf, hdr.ethernet.src_addr });
            routes.apply();
            paths.apply();
            // The digest keeps the value that it was called with.
            meta.vrf = (vrf_t) 10w0;
        }
    }
}

control TranslatedEgress(inout headers_t hdr, inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = (port_id_t) standard_metadata.ingress_port;
            hdr.packet_in.reason = 5;
        }
    }
}

control TranslatedCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TranslatedDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
    }
}

V1Switch(TranslatedParser(), TranslatedVerify(), TranslatedIngress(), TranslatedEgress(), TranslatedCompute(),
         TranslatedDeparser()) main;
