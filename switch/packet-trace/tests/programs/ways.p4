// A way for each value of the header's first byte.
#include <core.p4>
#include <v1model.p4>

header request_t {
    bit<8>  op;
    bit<8>  port;
    bit<16> value;
    bit<16> sum;
}

header tail_t {
    bit<8> n;
}

struct headers_t {
    request_t request;
    tail_t    tail;
}

struct meta_t {
    @field_list(1) bit<8> passes;
}

const bit<8> FORWARD = 0;
const bit<8> TAIL = 1;
const bit<8> DROP = 2;
const bit<8> MULTICAST = 3;
const bit<8> CLONE = 4;
const bit<8> RESUBMIT = 5;
const bit<8> RECIRCULATE = 6;
const bit<8> CLONE_AT_EGRESS = 7;
const bit<8> DROP_AT_EGRESS = 8;
const bit<8> REMEMBER = 9;
const bit<8> REFUSED = 10;
const bit<8> SHORT = 11;

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.request);
        verify(hdr.request.op != REFUSED, error.NoMatch);
        transition select(hdr.request.op) {
            TAIL: tail;
            SHORT: over;
            default: accept;
        }
    }
    state tail {
        packet.extract(hdr.tail);
        transition accept;
    }
    state over {
        packet.advance(8);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.request.isValid(), { hdr.request.op, hdr.request.port, hdr.request.value }, hdr.request.sum,
                        HashAlgorithm.csum16);
    }
}

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    register<bit<16>>(4) last;
    counter(4, CounterType.packets) seen;

    action forward(bit<9> port) {
        sm.egress_spec = port;
        hdr.request.value = hdr.request.value + 1;
    }
    action drop() {
        mark_to_drop(sm);
    }
    table routes {
        key = { hdr.request.port: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }

    apply {
        if (hdr.request.isValid()) {
            routes.apply();
        }
        if (hdr.request.op == DROP) {
            mark_to_drop(sm);
        } else if (hdr.request.op == MULTICAST) {
            sm.mcast_grp = hdr.request.value;
        } else if (hdr.request.op == CLONE) {
            clone(CloneType.I2E, (bit<32>)hdr.request.value);
        } else if (hdr.request.op == RESUBMIT && meta.passes == 0) {
            meta.passes = 1;
            resubmit_preserving_field_list(1);
        } else if (hdr.request.op == REMEMBER) {
            bit<16> value;
            last.read(value, (bit<32>)hdr.request.port);
            last.write((bit<32>)hdr.request.port, hdr.request.value);
            seen.count((bit<32>)hdr.request.port);
            log_msg("before it was {}", { value });
            assert(value == 0);
            digest<bit<16>>(1, hdr.request.value);
            hdr.tail.setValid();
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.request.op == RECIRCULATE && meta.passes == 0) {
            meta.passes = 1;
            recirculate_preserving_field_list(1);
        } else if (hdr.request.op == CLONE_AT_EGRESS && sm.instance_type == 0) {
            clone(CloneType.E2E, 5);
        } else if (hdr.request.op == DROP_AT_EGRESS) {
            mark_to_drop(sm);
        }
    }
}

control C(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.request.isValid(), { hdr.request.op, hdr.request.port, hdr.request.value }, hdr.request.sum,
                        HashAlgorithm.csum16);
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
