// The arrival rate of a user and the flowlets of FDPA (paper, sections III-B and V), on the chip.
//
// Time is counted in units of 65.536 microseconds (2^16 ns).
//
// The average rate: the bytes in the last complete interval. All intervals begin at multiples of their length, which is the power
// of two of nanoseconds next to `interval` (between 2^16 and 2^32 ns). So an interval has a number: the time, shifted. A
// register cannot be asked for more than its old value and one difference: a user's rate is 0 in the interval after one without
// packets. p4/ divides what was counted before a pause by the length of the pause.
//
// The token buckets are left out: what a bucket gains is the time times its rate, a product of two run-time values for each of
// seven edges and each packet.

// The number of the interval under way. interval: microseconds.
control NumberInterval(in bit<32> now, in bit<32> interval, out bit<32> number) {
#define EVERY(n) action every_##n() { number = now >> n; }
    EVERY(0)
    EVERY(1)
    EVERY(2)
    EVERY(3)
    EVERY(4)
    EVERY(5)
    EVERY(6)
    EVERY(7)
    EVERY(8)
    EVERY(9)
    EVERY(10)
    EVERY(11)
    EVERY(12)
    EVERY(13)
    EVERY(14)
    EVERY(15)
    EVERY(16)
    // every_n counts intervals of 65.536 2^n microseconds, for 48 2^n up to 96 2^n of them.
    table interval_lengths {
        key = { interval: ternary; }
        actions = {
            every_0; every_1; every_2; every_3; every_4; every_5; every_6; every_7; every_8; every_9; every_10; every_11;
            every_12; every_13; every_14; every_15; every_16;
        }
        const default_action = every_16();
        const entries = {
            0x00000000 &&& 0xffffffc0: every_0();
            0x00000040 &&& 0xffffffe0: every_0();
            0x00000060 &&& 0xffffffe0: every_1();
            0x00000080 &&& 0xffffffc0: every_1();
            0x000000c0 &&& 0xffffffc0: every_2();
            0x00000100 &&& 0xffffff80: every_2();
            0x00000180 &&& 0xffffff80: every_3();
            0x00000200 &&& 0xffffff00: every_3();
            0x00000300 &&& 0xffffff00: every_4();
            0x00000400 &&& 0xfffffe00: every_4();
            0x00000600 &&& 0xfffffe00: every_5();
            0x00000800 &&& 0xfffffc00: every_5();
            0x00000c00 &&& 0xfffffc00: every_6();
            0x00001000 &&& 0xfffff800: every_6();
            0x00001800 &&& 0xfffff800: every_7();
            0x00002000 &&& 0xfffff000: every_7();
            0x00003000 &&& 0xfffff000: every_8();
            0x00004000 &&& 0xffffe000: every_8();
            0x00006000 &&& 0xffffe000: every_9();
            0x00008000 &&& 0xffffc000: every_9();
            0x0000c000 &&& 0xffffc000: every_10();
            0x00010000 &&& 0xffff8000: every_10();
            0x00018000 &&& 0xffff8000: every_11();
            0x00020000 &&& 0xffff0000: every_11();
            0x00030000 &&& 0xffff0000: every_12();
            0x00040000 &&& 0xfffe0000: every_12();
            0x00060000 &&& 0xfffe0000: every_13();
            0x00080000 &&& 0xfffc0000: every_13();
            0x000c0000 &&& 0xfffc0000: every_14();
            0x00100000 &&& 0xfff80000: every_14();
            0x00180000 &&& 0xfff80000: every_15();
            0x00200000 &&& 0xfff00000: every_15();
        }
    }
    apply {
        interval_lengths.apply();
    }
}

struct charges_t {
    bit<32> interval_bytes;
    bit<32> last_rate;
}

// number: of the interval under way.
control AverageRate(in bit<16> user, in bit<32> number, in bit<32> charge, out bit<32> rate) {
    Register<bit<32>, bit<16>>(MAX_USERS) last_interval;
    Register<charges_t, bit<16>>(MAX_USERS) charges;
    bit<32> age;

    RegisterAction<bit<32>, bit<16>, bit<32>>(last_interval) enter_interval = {
        void apply(inout bit<32> last, out bit<32> passed) {
            passed = number - last;
            last = number;
        }
    };
    RegisterAction<charges_t, bit<16>, bit<32>>(charges) go_on = {
        void apply(inout charges_t cell, out bit<32> last_rate) {
            cell.interval_bytes = cell.interval_bytes |+| charge;
            last_rate = cell.last_rate;
        }
    };
    RegisterAction<charges_t, bit<16>, bit<32>>(charges) begin_next = {
        void apply(inout charges_t cell, out bit<32> last_rate) {
            cell.last_rate = cell.interval_bytes;
            cell.interval_bytes = charge;
            last_rate = cell.last_rate;
        }
    };
    RegisterAction<charges_t, bit<16>, bit<32>>(charges) begin_after_pause = {
        void apply(inout charges_t cell, out bit<32> last_rate) {
            cell.last_rate = 0;
            cell.interval_bytes = charge;
            last_rate = cell.last_rate;
        }
    };

    apply {
        age = enter_interval.execute(user);
        if (age == 0) {
            rate = go_on.execute(user);
        } else if (age == 1) {
            rate = begin_next.execute(user);
        } else {
            rate = begin_after_pause.execute(user);
        }
    }
}

// Flowlets (FDPA paper, section V): a flow keeps its band until it pauses for a gap, so a burst is not reordered. before: now,
// less the gap.
control FlowletBand(in headers_t hdr, in metadata_t meta, in bit<32> now, in bit<32> before, inout bit<8> band) {
    Hash<bit<12>>(HashAlgorithm_t.CRC32) hash_flow;
    Register<bit<32>, bit<12>>(MAX_FLOWLETS) flowlet_last_seen;
    Register<bit<8>, bit<12>>(MAX_FLOWLETS) flowlet_band;
    bit<12> cell;
    bit<1> under_way;

    RegisterAction<bit<32>, bit<12>, bit<1>>(flowlet_last_seen) see = {
        void apply(inout bit<32> last_seen, out bit<1> recent) {
            recent = 0;
            if (last_seen > before) {
                recent = 1;
            }
            last_seen = now;
        }
    };
    RegisterAction<bit<8>, bit<12>, bit<8>>(flowlet_band) keep = {
        void apply(inout bit<8> kept, out bit<8> same) {
            same = kept;
        }
    };
    RegisterAction<bit<8>, bit<12>, bit<8>>(flowlet_band) begin = {
        void apply(inout bit<8> kept) {
            kept = band;
        }
    };

    apply {
        cell = hash_flow.get({ FIVE_TUPLE });
        under_way = see.execute(cell);
        if (under_way == 1) {
            band = keep.execute(cell);
        } else {
            begin.execute(cell);
        }
    }
}
