// One of each thing that P4Runtime can address. The tests of this folder's parent read the compiled form beside it:
//   p4c-bm2-ss --p4runtime-files everything.p4info.txtpb -o everything.json everything.p4
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 510;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> unused;
}

header ethernet_t {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> total_len;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src_addr;
    bit<32> dst_addr;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
}

struct metadata_t {
    bit<16> user;
    bit<2>  color;
    bit<2>  flow_color;
    bit<1>  special;
}

struct learn_t {
    bit<48> address;
    bit<9>  port;
}

parser EverythingParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                        inout standard_metadata_t standard_metadata) {
    value_set<bit<16>>(2) special_types;

    state start {
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
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            special_types: parse_special;
            default: accept;
        }
    }
    state parse_special {
        meta.special = 1;
        transition accept;
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control EverythingVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control EverythingIngress(inout headers_t hdr, inout metadata_t meta,
                          inout standard_metadata_t standard_metadata) {
    counter(8, CounterType.packets_and_bytes) arrivals;
    meter(8, MeterType.bytes) policer;
    register<bit<32>>(8) cells;
    @queue_depth register<bit<32>>(4096) queue_depths;
    direct_counter(CounterType.packets_and_bytes) host_counter;
    direct_counter(CounterType.packets_and_bytes) acl_counter;
    direct_meter<bit<2>>(MeterType.packets) acl_meter;
    action_selector(HashAlgorithm.crc32, 32w64, 32w14) paths_selector;
    action_profile(4) classes_profile;

    action drop() {
        mark_to_drop(standard_metadata);
    }
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }
    action forward_as(bit<9> port, bit<16> user) {
        standard_metadata.egress_spec = port;
        meta.user = user;
    }
    action multicast(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }
    action mirror(bit<32> session) {
        clone(CloneType.I2E, session);
    }
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src_addr, standard_metadata.ingress_port });
    }
    action permit() {
        acl_meter.read(meta.flow_color);
    }
    action set_user(bit<16> user) {
        meta.user = user;
    }

    table hosts {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward; forward_as; multicast; drop; @tableonly mirror; @defaultonly learn; }
        default_action = learn();
        counters = host_counter;
        size = 16;
    }
    table routes {
        key = { hdr.ipv4.dst_addr : lpm; }
        actions = { forward; drop; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    table acl {
        key = {
            hdr.ipv4.src_addr : ternary;
            hdr.ipv4.total_len : range;
            hdr.ipv4.protocol : optional;
        }
        actions = { permit; drop; NoAction; }
        const default_action = NoAction();
        counters = acl_counter;
        meters = acl_meter;
    }
    table paths {
        key = {
            hdr.ipv4.diffserv : exact;
            hdr.ipv4.src_addr : selector;
        }
        actions = { forward; drop; NoAction; }
        implementation = paths_selector;
    }
    table classes {
        key = { hdr.ipv4.ttl : exact; }
        actions = { set_user; NoAction; }
        implementation = classes_profile;
    }
    table fixed_users {
        key = { hdr.ipv4.protocol : exact; }
        actions = { set_user; NoAction; }
        const entries = {
            6 : set_user(600);
            17 : set_user(1700);
        }
    }
    table aging {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { NoAction; }
        support_timeout = true;
    }
    table parameters {
        actions = { set_user; NoAction; }
        default_action = set_user(7);
    }

    apply {
        bit<3> slot = (bit<3>) standard_metadata.ingress_port;
        arrivals.count((bit<32>) slot);
        policer.execute_meter((bit<32>) slot, meta.color);
        bit<32> seen;
        cells.read(seen, (bit<32>) slot);
        cells.write((bit<32>) slot, seen + 1);
        queue_depths.write(0, seen);
        parameters.apply();
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            aging.apply();
            hosts.apply();
            if (hdr.ipv4.isValid()) {
                routes.apply();
                acl.apply();
                paths.apply();
                classes.apply();
                fixed_users.apply();
            }
            if (meta.special == 1) {
                standard_metadata.egress_spec = 3;
            }
        }
    }
}

control EverythingEgress(inout headers_t hdr, inout metadata_t meta,
                         inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = standard_metadata.ingress_port;
            hdr.packet_in.reason = 5;
        }
    }
}

control EverythingCompute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control EverythingDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(EverythingParser(), EverythingVerify(), EverythingIngress(), EverythingEgress(), EverythingCompute(),
         EverythingDeparser()) main;
