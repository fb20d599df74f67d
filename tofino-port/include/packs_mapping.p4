// The queue mapping of PACKS in the form for many queues (section 5 of the paper): one rule admits a packet and chooses its
// queue. The rule looks at what all queues hold together, not at each of them.
//
//   n strict-priority queues, queue 1 the most urgent;  B_i: size of queue i;  B: sum of all B_i;  b: packets in all queues
//   q: ranks in the window that are strictly smaller than the packet's rank;  |W|: size of the window
//   k = K/256: headroom
//   take the first queue i with  q / |W|  <=  1 / (1 - k)  (B - b) / B  i / n
//   without division:  q B (256 - K) n  <=  |W| (B - b) 256 i
//   without multiplication:  log q + log B + log (256 - K) + log n - log |W| - log (B - b) - log 256  <=  log i
//   no such queue: drop
//
// Whether queue i has room is up to the traffic manager. The ghost thread knows the sum of a port only after the length of the
// queue, so ingress would have to read them in this order too, and the sum decides which queue it is.

#include "../../p4/shared/queue_sizes.p4"
#include "log_share.p4"

// smaller: q;  window_size: |W|, at most 16;  sizes: B_i, together less than 65536, all that there are in front;  headroom: K;
// total_length: b. Chooses meta.queue. The sizes are lost.
control PacksMapping(inout metadata_t meta, in bit<9> port, in bit<8> smaller, in bit<32> window_size,
                     inout queue_sizes_t sizes, in bit<16> headroom, out bit<32> total_length, out bit<2> verdict) {
    ReadPortLength() read_total;
    AddShare() add_share;
    Log2() log_total;
    Log2() log_free;
    bit<16> total_size;
    bit<16> free;
    // Logarithms: of the left side without q and B; of B; of B - b; of the left side. The last one is the place of the packet
    // among the queues: up to log i it is for queue i.
    bit<32> needed;
    bit<32> total_log;
    bit<32> available;
    bit<32> place;
    // Bit i - 1: there is no queue i.
    bit<8> missing;

    // The open compiler puts statements of `apply` together, so what needs another stage is an action of its own. The sums stay
    // where the sizes were: sources and result of an addition are in one group of containers, which has room for 12.
    action add_pairs() {
        sizes.size_1 = sizes.size_1 + sizes.size_2;
        sizes.size_3 = sizes.size_3 + sizes.size_4;
        sizes.size_5 = sizes.size_5 + sizes.size_6;
        sizes.size_7 = sizes.size_7 + sizes.size_8;
    }
    action add_halves() {
        sizes.size_1 = sizes.size_1 + sizes.size_3;
        sizes.size_5 = sizes.size_5 + sizes.size_7;
    }
    action add_all() {
        total_size = sizes.size_1 + sizes.size_5;
    }
    action subtract_total_length() {
        free = total_size |-| total_length[15:0];
    }
    action add_total_log() {
        needed = needed + total_log;
    }
    action subtract_available() {
        place = needed - available;
    }
    action for_queues(bit<32> log, bit<8> not_there) {
        needed = log;
        missing = not_there;
    }
    table queue_logs {
        key = {
            sizes.size_2: ternary;
            sizes.size_3: ternary;
            sizes.size_4: ternary;
            sizes.size_5: ternary;
            sizes.size_6: ternary;
            sizes.size_7: ternary;
            sizes.size_8: ternary;
        }
        actions = { for_queues; }
        const default_action = for_queues(196608, 0);
        const entries = {
            (0, _, _, _, _, _, _): for_queues(0, 0xfe);
            (_, 0, _, _, _, _, _): for_queues(65536, 0xfc);
            (_, _, 0, _, _, _, _): for_queues(103872, 0xf8);
            (_, _, _, 0, _, _, _): for_queues(131072, 0xf0);
            (_, _, _, _, 0, _, _): for_queues(152170, 0xe0);
            (_, _, _, _, _, 0, _): for_queues(169408, 0xc0);
            (_, _, _, _, _, _, 0): for_queues(183983, 0x80);
        }
        size = 8;
    }
    // q = 0: the most urgent queue, whatever is free.
    action most_urgent() {
        place = -32w1;
    }
    action add(bit<32> log) {
        place = place + log;
    }
    table quantile_logs {
        key = { smaller: exact; }
        actions = { most_urgent; add; }
        const default_action = most_urgent();
        const entries = { PLUS_LOG2_ENTRIES(add, 32w0) }
        size = 16;
    }
    action queue_1() {
        meta.queue[2:0] = 7;
        verdict[0:0] = missing[0:0];
    }
    action queue_2() {
        meta.queue[2:0] = 6;
        verdict[0:0] = missing[1:1];
    }
    action queue_3() {
        meta.queue[2:0] = 5;
        verdict[0:0] = missing[2:2];
    }
    action queue_4() {
        meta.queue[2:0] = 4;
        verdict[0:0] = missing[3:3];
    }
    action queue_5() {
        meta.queue[2:0] = 3;
        verdict[0:0] = missing[4:4];
    }
    action queue_6() {
        meta.queue[2:0] = 2;
        verdict[0:0] = missing[5:5];
    }
    action queue_7() {
        meta.queue[2:0] = 1;
        verdict[0:0] = missing[6:6];
    }
    action queue_8() {
        meta.queue[2:0] = 0;
        verdict[0:0] = missing[7:7];
    }
    action no_queue() {
        meta.queue[2:0] = 0;
        verdict[0:0] = 1;
    }
    // Edges: log i. A place is a number with a sign; beyond 16 there is no queue.
    table queues {
        key = {
            place[31:20]: ternary @name("place_high");
            place[19:0]: range @name("place_low");
        }
        actions = { queue_1; queue_2; queue_3; queue_4; queue_5; queue_6; queue_7; queue_8; no_queue; }
        const default_action = no_queue();
        const entries = {
            (0x800 &&& 0x800, _): queue_1();
            (0, 0 .. 0): queue_1();
            (0, 1 .. 65536): queue_2();
            (0, 65537 .. 103872): queue_3();
            (0, 103873 .. 131072): queue_4();
            (0, 131073 .. 152170): queue_5();
            (0, 152171 .. 169408): queue_6();
            (0, 169409 .. 183983): queue_7();
            (0, 183984 .. 196608): queue_8();
        }
        size = 16;
    }
    apply {
        read_total.apply(port, total_length);
        // Before the sums take the place of the sizes.
        queue_logs.apply();
        add_pairs();
        add_halves();
        add_all();
        add_share.apply(window_size, headroom, needed);
        log_total.apply(total_size, total_log);
        subtract_total_length();
        log_free.apply(free, available);
        add_total_log();
        subtract_available();
        quantile_logs.apply();
        // Or REFUSED, in its lower bit.
        verdict = ADMITTED;
        queues.apply();
    }
}
