// Every kind of match, priorities, constant entries, hit and miss, what ran.
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action mark(bit<8> r) { hdr.frame.r = r; }
    action drop() { mark_to_drop(sm); }

    table exact_t {
        key = { hdr.frame.a : exact; hdr.frame.b : exact @name("second"); }
        actions = { mark; drop; NoAction; }
        default_action = NoAction();
    }
    table lpm_t {
        key = { hdr.frame.a : lpm; }
        actions = { mark; NoAction; }
        default_action = mark(0x99);
    }
    table ternary_t {
        key = { hdr.frame.a : ternary; hdr.frame.b : ternary; }
        actions = { mark; NoAction; }
        default_action = NoAction();
    }
    table range_t {
        key = { hdr.frame.a : range; }
        actions = { mark; NoAction; }
        default_action = NoAction();
    }
    table optional_t {
        key = { hdr.frame.a : optional; hdr.frame.b : exact; }
        actions = { mark; NoAction; }
        default_action = NoAction();
    }
    table const_t {
        key = { hdr.frame.a : ternary; }
        actions = { mark; }
        const entries = {
            0x10 &&& 0xf0 : mark(0x01);
            _ : mark(0x02);
        }
        default_action = mark(0x03);
    }
    table run_t {
        key = { hdr.frame.a : exact; }
        actions = { mark; NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        switch (hdr.frame.op) {
            1: { if (!exact_t.apply().hit) { hdr.frame.r = 0xdd; } }
            2: { lpm_t.apply(); }
            3: { ternary_t.apply(); }
            4: { range_t.apply(); }
            5: { optional_t.apply(); }
            6: { const_t.apply(); }
            7: {
                switch (run_t.apply().action_run) {
                    mark: { hdr.frame.b = 0x11; }
                    default: { hdr.frame.b = 0x22; }
                }
            }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
