// Every frame says what shall happen to it, and brings back what it saw.
#include <core.p4>
#include <v1model.p4>

const bit<8> OP_DROP = 0;
const bit<8> OP_FORWARD = 1;
const bit<8> OP_MULTICAST = 2;
const bit<8> OP_RECIRCULATE = 3;      // for ever
const bit<8> OP_CLONE = 4;            // every clone again
const bit<8> OP_DROP_AT_EGRESS = 5;
const bit<8> OP_DIGEST = 6;
const bit<8> OP_CLONE_AT_INGRESS = 7; // and forward
const bit<8> OP_PASS_TWICE = 8;       // recirculates once

header probe_t {
    bit<8>  op;
    bit<8>  port;
    bit<8>  priority;
    bit<8>  user;
    bit<16> rank;
    bit<32> depth_at_ingress;
    bit<32> depth_at_egress;
    bit<16> enq_depth;
    bit<16> deq_depth;
    bit<32> enq_timestamp;
    bit<32> deq_timedelta;
    bit<16> setting;
    bit<8>  passes;
}

struct headers_t {
    probe_t probe;
}

struct metadata_t {
    bit<16> user;
    bit<16> rank;
}

struct sample_t {
    bit<8>  user;
    bit<16> rank;
}

parser ProbeParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.probe);
        transition accept;
    }
}

control ProbeVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

// Only the traffic manager writes it.
@queue_depth
register<bit<32>>(64) depths;

control ProbeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action set(bit<16> value) {
        hdr.probe.setting = value;
    }
    table settings {
        actions = { set; }
        default_action = set(1);
    }

    apply {
        settings.apply();
        hdr.probe.passes = hdr.probe.passes + 1;
        meta.user = (bit<16>) hdr.probe.user;
        meta.rank = hdr.probe.rank;
        depths.read(hdr.probe.depth_at_ingress, (bit<32>) (hdr.probe.port ++ hdr.probe.priority[2:0]));
        standard.priority = hdr.probe.priority[2:0];
        if (hdr.probe.op == OP_DROP) {
            mark_to_drop(standard);
        } else if (hdr.probe.op == OP_MULTICAST) {
            standard.mcast_grp = (bit<16>) hdr.probe.port;
        } else {
            standard.egress_spec = (bit<9>) hdr.probe.port;
            if (hdr.probe.op == OP_DIGEST) {
                digest<sample_t>(1, {hdr.probe.user, hdr.probe.rank});
            } else if (hdr.probe.op == OP_CLONE_AT_INGRESS) {
                clone(CloneType.I2E, 5);
            }
        }
        depths.write((bit<32>) (hdr.probe.port ++ hdr.probe.priority[2:0]), 1000);
    }
}

control ProbeEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        hdr.probe.enq_depth = (bit<16>) standard.enq_qdepth;
        hdr.probe.deq_depth = (bit<16>) standard.deq_qdepth;
        hdr.probe.enq_timestamp = standard.enq_timestamp;
        hdr.probe.deq_timedelta = standard.deq_timedelta;
        depths.read(hdr.probe.depth_at_egress, (bit<32>) (hdr.probe.port ++ hdr.probe.priority[2:0]));
        if (hdr.probe.op == OP_RECIRCULATE || (hdr.probe.op == OP_PASS_TWICE && hdr.probe.passes == 1)) {
            recirculate_preserving_field_list(0);
        } else if (hdr.probe.op == OP_CLONE) {
            clone(CloneType.E2E, 5);
        } else if (hdr.probe.op == OP_DROP_AT_EGRESS) {
            mark_to_drop(standard);
        }
    }
}

control ProbeCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control ProbeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.probe);
    }
}

V1Switch(ProbeParser(), ProbeVerify(), ProbeIngress(), ProbeEgress(), ProbeCompute(), ProbeDeparser()) main;
