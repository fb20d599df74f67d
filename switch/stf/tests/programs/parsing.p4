// Select with masks and ranges, lookahead, a stack, a field of variable length, a union, verify.
#define HEADERS
#define METADATA
#define CHECKSUMS
#include "frame.p4"

header label_t {
    bit<7> value;
    bit<1> last;
}
header options_t {
    bit<8> length;
    varbit<64> data;
}
header one_t { bit<8> x; }
header two_t { bit<16> y; }
header_union choice_t {
    one_t one;
    two_t two;
}
struct metadata_t { }
struct headers_t {
    frame_t frame;
    label_t[3] labels;
    options_t options;
    choice_t choice;
}

error { BadOptions }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.op, hdr.frame.a) {
            (1, _): labels;
            (2, 0x10 &&& 0xf0): options;
            (3, 1 .. 2): choose;
            default: accept;
        }
    }
    state labels {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.last) {
            1: accept;
            default: labels;
        }
    }
    state options {
        bit<8> length = packet.lookahead<bit<8>>();
        verify(length <= 8, error.BadOptions);
        packet.extract(hdr.options, (bit<32>) length * 8);
        transition accept;
    }
    state choose {
        transition select(hdr.frame.a) {
            1: one;
            2: two;
        }
    }
    state one {
        packet.extract(hdr.choice.one);
        transition accept;
    }
    state two {
        packet.extract(hdr.choice.two);
        transition accept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.BadOptions) {
            hdr.frame.r = 0xe1;
        } else if (sm.parser_error == error.StackOutOfBounds) {
            hdr.frame.r = 0xe2;
        } else if (sm.parser_error == error.PacketTooShort) {
            hdr.frame.r = 0xe3;
        } else if (hdr.frame.op == 1 && hdr.frame.b == 1) {
            hdr.labels.pop_front(1);
        } else if (hdr.frame.op == 1 && hdr.frame.b == 2) {
            hdr.labels.push_front(1);
            hdr.labels[0].setValid();
            hdr.labels[0].value = 0x7f;
            hdr.labels[0].last = 0;
        } else if (hdr.choice.one.isValid()) {
            hdr.choice.two.setValid();
            hdr.choice.two.y = 0xabcd;
        } else if (hdr.choice.two.isValid()) {
            hdr.choice.two.setInvalid();
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
