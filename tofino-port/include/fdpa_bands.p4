// The band of a packet in FDPA (FDPA paper, sections III and V) on the chip.
//
//   charge = length of the packet / weight of the user, with the weight rounded to a power of two
//   rate   = sum of the user's charges in the last complete interval
//   band   = first q with rate <= edge_q                               (or: the band of the flowlet under way)
//   user 0, which is all traffic that no entry classifies: band 1
//
// The edges are run-time values, so no range match can hold them. Seven saturating differences in one stage compare the rate
// with all of them: rate - edge is 0 if the edge is not exceeded.

#include "rate_estimator.p4"

// Upper edges of bands 1 to 7; band 8 is open. An edge that is not used is 0xffffffff.
struct band_edges_t {
    bit<32> edge_1;
    bit<32> edge_2;
    bit<32> edge_3;
    bit<32> edge_4;
    bit<32> edge_5;
    bit<32> edge_6;
    bit<32> edge_7;
}

// What of the parameters the chip has a use for. fdpa.p4 gives the units.
struct fdpa_params_t {
    bit<32>      interval;
    band_edges_t edges;
    bit<32>      flowlet_gap;
}

// What `length` bytes cost a user. scale: 256 / weight, rounded to the power of two 2^n with 3/4 2^n <= scale < 3/2 2^n.
control Charge(in bit<32> length, in bit<16> scale, out bit<32> charge) {
#define LESS(n) action less_##n() { charge = length >> n; }
#define MORE(n) action more_##n() { charge = length << n; }
    LESS(8)
    LESS(7)
    LESS(6)
    LESS(5)
    LESS(4)
    LESS(3)
    LESS(2)
    LESS(1)
    MORE(0)
    MORE(1)
    MORE(2)
    MORE(3)
    MORE(4)
    MORE(5)
    MORE(6)
    MORE(7)
    MORE(8)
    table weights {
        key = { scale: ternary; }
        actions = {
            less_8; less_7; less_6; less_5; less_4; less_3; less_2; less_1; more_0; more_1; more_2; more_3; more_4; more_5;
            more_6; more_7; more_8;
        }
        const default_action = more_0();
        const entries = {
            0x0001 &&& 0xffff: less_8();
            0x0002 &&& 0xffff: less_7();
            0x0003 &&& 0xffff: less_6();
            0x0004 &&& 0xfffe: less_6();
            0x0006 &&& 0xfffe: less_5();
            0x0008 &&& 0xfffc: less_5();
            0x000c &&& 0xfffc: less_4();
            0x0010 &&& 0xfff8: less_4();
            0x0018 &&& 0xfff8: less_3();
            0x0020 &&& 0xfff0: less_3();
            0x0030 &&& 0xfff0: less_2();
            0x0040 &&& 0xffe0: less_2();
            0x0060 &&& 0xffe0: less_1();
            0x0080 &&& 0xffc0: less_1();
            0x00c0 &&& 0xffc0: more_0();
            0x0100 &&& 0xff80: more_0();
            0x0180 &&& 0xff80: more_1();
            0x0200 &&& 0xff00: more_1();
            0x0300 &&& 0xff00: more_2();
            0x0400 &&& 0xfe00: more_2();
            0x0600 &&& 0xfe00: more_3();
            0x0800 &&& 0xfc00: more_3();
            0x0c00 &&& 0xfc00: more_4();
            0x1000 &&& 0xf800: more_4();
            0x1800 &&& 0xf800: more_5();
            0x2000 &&& 0xf000: more_5();
            0x3000 &&& 0xf000: more_6();
            0x4000 &&& 0xe000: more_6();
            0x6000 &&& 0xe000: more_7();
            0x8000 &&& 0xc000: more_7();
            0xc000 &&& 0xc000: more_8();
        }
    }
    apply {
        weights.apply();
    }
}

// The first band whose upper edge the rate does not exceed.
control SelectBand(in bit<32> rate, in band_edges_t edges, out bit<8> band) {
    bit<32> over_1;
    bit<32> over_2;
    bit<32> over_3;
    bit<32> over_4;
    bit<32> over_5;
    bit<32> over_6;
    bit<32> over_7;

    // A condition does not compute, so an action does.
    action compare() {
        over_1 = rate |-| edges.edge_1;
        over_2 = rate |-| edges.edge_2;
        over_3 = rate |-| edges.edge_3;
        over_4 = rate |-| edges.edge_4;
        over_5 = rate |-| edges.edge_5;
        over_6 = rate |-| edges.edge_6;
        over_7 = rate |-| edges.edge_7;
    }
    apply {
        compare();
        if (over_1 == 0) { band = 1; }
        else if (over_2 == 0) { band = 2; }
        else if (over_3 == 0) { band = 3; }
        else if (over_4 == 0) { band = 4; }
        else if (over_5 == 0) { band = 5; }
        else if (over_6 == 0) { band = 6; }
        else if (over_7 == 0) { band = 7; }
        else { band = 8; }
    }
}

// The queue of a band: band q has priority 8 - q.
control SelectQueue(in bit<8> band, inout metadata_t meta) {
    apply {
        if (band == 1) { meta.queue[2:0] = 7; }
        else if (band == 2) { meta.queue[2:0] = 6; }
        else if (band == 3) { meta.queue[2:0] = 5; }
        else if (band == 4) { meta.queue[2:0] = 4; }
        else if (band == 5) { meta.queue[2:0] = 3; }
        else if (band == 6) { meta.queue[2:0] = 2; }
        else if (band == 7) { meta.queue[2:0] = 1; }
        else { meta.queue[2:0] = 0; }
    }
}

// now: nanoseconds.
control FdpaBands(in headers_t hdr, in metadata_t meta, in bit<48> now, in fdpa_params_t params, out bit<8> band) {
    Charge() charging;
    NumberInterval() number_interval;
    AverageRate() average;
    SelectBand() select_band;
    FlowletBand() flowlets;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) widen;
    bit<32> units;
    bit<32> length;
    bit<32> number;
    bit<32> charge;
    bit<32> gap;
    bit<32> before;
    bit<32> rate;

    // Actions of their own, for what the next action computes with.
    action convert_gap() {
        gap = params.flowlet_gap >> 6;
    }
    // The ALUs of 16 bits and of 32 bits do not read each other's containers, a hash unit reads both.
    action widen_length() {
        length = widen.get({ hdr.ipv4.total_len });
    }
    apply {
        band = 1;
        units = now[47:16];
        // The chip tells the length of a frame at egress only. An Ethernet header has 14 bytes.
        widen_length();
        length = length + 14;
        number_interval.apply(units, params.interval, number);
        convert_gap();
        before = units |-| gap;
        if (meta.user != 0) {
            charging.apply(length, meta.scale, charge);
            average.apply(meta.user, number, charge, rate);
            select_band.apply(rate, params.edges, band);
            if (params.flowlet_gap != 0) {
                flowlets.apply(hdr, meta, units, before, band);
            }
        }
    }
}
