// Registers, counters, direct counters, meters, hashes, random numbers in a range.
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<8>>(4) cells;
    counter(4, CounterType.packets_and_bytes) seen;
    direct_counter(CounterType.packets_and_bytes) hits;
    meter(2, MeterType.packets) rates;
    action pass() { hits.count(); }
    table watched {
        key = { hdr.frame.a : exact; }
        actions = { pass; NoAction; }
        default_action = NoAction();
        counters = hits;
    }
    apply {
        sm.egress_spec = 1;
        bit<32> index = (bit<32>) hdr.frame.a;
        switch (hdr.frame.op) {
            1: {
                bit<8> before;
                cells.read(before, index);
                cells.write(index, before + hdr.frame.b);
                hdr.frame.r = before;
            }
            2: { seen.count(index); }
            3: { watched.apply(); }
            4: { rates.execute_meter(index, hdr.frame.r); }
            5: {
                hash(hdr.frame.r, HashAlgorithm.crc16, 8w0x40, { hdr.frame.a, hdr.frame.b }, 8w0x10);
            }
            6: { random(hdr.frame.r, hdr.frame.a, hdr.frame.a); }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
