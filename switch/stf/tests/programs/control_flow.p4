// Functions, directions of parameters, return, exit, controls in controls, loops over a stack by hand.
#include "frame.p4"

bit<8> larger(in bit<8> left, in bit<8> right) {
    if (left > right) {
        return left;
    }
    return right;
}

control Swap(inout bit<8> left, inout bit<8> right) {
    apply {
        bit<8> kept = left;
        left = right;
        right = kept;
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Swap() swap;
    action twice(inout bit<8> value, in bit<8> add) { value = value + add + add; }
    action leave() { exit; }
    apply {
        sm.egress_spec = 1;
        if (hdr.frame.op == 1) {
            hdr.frame.r = larger(hdr.frame.a, hdr.frame.b);
        } else if (hdr.frame.op == 2) {
            swap.apply(hdr.frame.a, hdr.frame.b);
        } else if (hdr.frame.op == 3) {
            twice(hdr.frame.r, hdr.frame.a);
        } else if (hdr.frame.op == 4) {
            hdr.frame.r = 1;
            leave();
            hdr.frame.r = 2;
        } else if (hdr.frame.op == 5) {
            hdr.frame.r = 1;
            return;
        }
        hdr.frame.b = hdr.frame.b | 0x80;
    }
}

// exit ends ingress, not the packet
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.frame.a = hdr.frame.a | 0x80;
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
