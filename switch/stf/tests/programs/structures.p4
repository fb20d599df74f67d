// Stacks that are pushed and popped, enums, types, tuples, structs and headers that are compared, generic functions,
// blocks with parameters of their own, a parser in a parser, loops, slices that are assigned.
#define HEADERS
#define METADATA
#define CHECKSUMS
#include "frame.p4"

enum bit<8> Op {
    PUSH = 1,
    POP = 2,
    COMPARE = 3,
    GENERIC = 4,
    LOOP = 5,
    SLICE = 6,
    CHOOSE = 7,
    COPY = 8
}

enum Size { SMALL, LARGE }

type bit<8> Level;

header mark_t {
    bit<8> value;
}
struct pair_t {
    bit<8> first;
    bit<8> second;
}
struct metadata_t {
    Level level;
    Size size;
}
struct headers_t {
    frame_t frame;
    mark_t[3] marks;
}

parser Marks(packet_in packet, inout mark_t[3] marks, in bit<8> count) {
    state start {
        transition select (count) {
            0: accept;
            default: one;
        }
    }
    state one {
        packet.extract(marks.next);
        transition select (count) {
            1: accept;
            default: two;
        }
    }
    state two {
        packet.extract(marks.next);
        transition accept;
    }
}

// b says how many marks follow
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Marks() rest;
    state start {
        packet.extract(hdr.frame);
        rest.apply(packet, hdr.marks, hdr.frame.b);
        transition accept;
    }
}

T picked<T>(in bool left, in T one, in T other) {
    if (left) {
        return one;
    }
    return other;
}

control Adds(inout bit<8> value)(bit<8> amount) {
    apply { value = value + amount; }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Adds(3) three;
    Adds(5) five;
    apply {
        sm.egress_spec = 1;
        Op op = (Op) hdr.frame.op;
        if (op == Op.PUSH) {
            hdr.marks.push_front(1);
            hdr.marks[0].setValid();
            hdr.marks[0].value = 0xee;
        } else if (op == Op.POP) {
            hdr.marks.pop_front(1);
        } else if (op == Op.COMPARE) {
            pair_t left = { hdr.frame.a, hdr.frame.r };
            pair_t right = { first = 0x11, second = 0x22 };
            if (left == right) {
                hdr.frame.a = 0xff;
            }
            // headers are equal if neither is there, or both are and hold the same
            if (hdr.marks[0] == hdr.marks[1]) {
                hdr.frame.r = 0xaa;
            }
        } else if (op == Op.GENERIC) {
            hdr.frame.a = picked(hdr.frame.r == 0, hdr.frame.a, 8w0x77);
            three.apply(hdr.frame.r);
            five.apply(hdr.frame.r);
        } else if (op == Op.LOOP) {
            bit<8> sum = 0;
            for (bit<8> number in 8w1..8w4) {
                if (number == 3) {
                    continue;
                }
                sum = sum + number;
            }
            for (bit<8> number = 0; number < 100; number = number + 1) {
                if (number == 2) {
                    break;
                }
                sum = sum + 0x10;
            }
            hdr.frame.r = sum;
        } else if (op == Op.SLICE) {
            hdr.frame.r[7:4] = hdr.frame.a[3:0];
            hdr.frame.r[0:0] = hdr.frame.a[7:7];
        } else if (op == Op.CHOOSE) {
            meta.size = hdr.frame.a < 8 ? Size.SMALL : Size.LARGE;
            meta.level = (Level) hdr.frame.a;
            switch (meta.size) {
                Size.SMALL: { hdr.frame.r = 1; }
                default: { hdr.frame.r = (bit<8>) meta.level; }
            }
            tuple<bit<8>, bit<8>> both = { hdr.frame.r, 0x40 };
            hdr.frame.r = both[0] | both[1];
        } else if (op == Op.COPY) {
            hdr.marks[2] = hdr.marks[0];
            hdr.marks[0].setInvalid();
            hdr.frame.r = hdr.marks[2].isValid() ? 8w1 : 8w0;
        } else {
            // a number without a name in the enum
            hdr.frame.r = (bit<8>) op;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.frame);
        packet.emit(hdr.marks);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
