// Exp-PIFO, as far as its abstract describes it, for Tofino 1. exp_pifo.p4 has the rule, README.md what differs here.
//
//   low, high: the range of the recent ranks. A cell has one access for each packet, and its instruction has no shift.
//   After 2^F arrivals, the next one begins a new range:  low = high = r
//   r - low and high - low follow from the cells before the packet:
//       distance = r |-| low;  range = distance + (high |-| r),  where |-| is a difference of at least 0
#include <core.p4>
#include <tna.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "exp_pifo_bins.p4"

// distance: r - low;  range: high - low, both with the packet's own rank;  forget_shift: F.
control FollowRanks(in bit<9> port, in bit<32> rank, in bit<8> forget_shift, out bit<32> distance, out bit<32> range) {
    Register<bit<32>, bit<9>>(MAX_PORTS) low;
    Register<bit<32>, bit<9>>(MAX_PORTS) high;
    // Arrivals in this range so far; 0 before its first.
    Register<bit<32>, bit<9>>(MAX_PORTS) arrivals;
    // 2^F - 1
    bit<32> last;
    bit<32> count;
    bit<32> lowest;
    bit<32> highest;
    bit<32> above;

    action set_last(bit<32> value) {
        last = value;
    }
#define LAST(shift) shift: set_last((bit<32>) ((33w1 << shift) - 33w1));
#define LAST_OF_4(shift) LAST(shift) LAST(shift + 1) LAST(shift + 2) LAST(shift + 3)
    table ranges {
        key = { forget_shift: exact; }
        actions = { set_last; }
        const default_action = set_last(0xffffffff);
        const entries = {
            LAST_OF_4(0)
            LAST_OF_4(4)
            LAST_OF_4(8)
            LAST_OF_4(12)
            LAST_OF_4(16)
            LAST_OF_4(20)
            LAST_OF_4(24)
            LAST_OF_4(28)
        }
        size = 32;
    }
    RegisterAction<bit<32>, bit<9>, bit<32>>(arrivals) count_arrival = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if (value >= last) {
                value = 0;
            } else {
                value = value + 1;
            }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(low) begin_low = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = rank;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(low) track_low = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if (rank < value) {
                value = rank;
            }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(high) begin_high = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = rank;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(high) track_high = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if (rank > value) {
                value = rank;
            }
        }
    };
    action measure() {
        distance = rank |-| lowest;
        above = highest |-| rank;
    }
    action add() {
        range = distance + above;
    }
    apply {
        ranges.apply();
        count = count_arrival.execute(port);
        if (count == 0) {
            lowest = begin_low.execute(port);
            highest = begin_high.execute(port);
        } else {
            lowest = track_low.execute(port);
            highest = track_high.execute(port);
        }
        measure();
        add();
    }
}

control ExpPifoIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                       in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                       inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                       inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    FollowRanks() follow_ranks;
    ExponentialBin() exponential_bin;
    ChooseQueue() choose_queue;
    CarryOut() carry_out;

    // n - 1
    bit<16> last;
    bit<8> shift;

    bit<32> distance;
    bit<32> range;
    bit<16> bin;
    // Of the queue, 0 for queue 1.
    bit<16> place;

    //   queue_count   n, number of queues
    //   size          of a queue, packets: the traffic manager keeps to it
    //   forget_shift  F: a range lasts for 2^F arrivals
    @action_restriction("queue_count != 0; queue_count <= 8; size != 0; forget_shift <= 32")
    action set_exp_pifo(bit<8> queue_count, bit<16> size, bit<8> forget_shift) {
        last = (bit<16>) queue_count - 1;
        shift = forget_shift;
    }
    // 8 queues of 10 packets (PACKS paper, section 6.1).
    table exp_pifo_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_exp_pifo; }
        default_action = set_exp_pifo(8, 10, 10);
        size = MAX_PORTS;
    }
    action place_bin() {
        place = last |-| bin;
    }
    // From priority 7 to priority 7 - place, as one operation on the whole field: the same bits.
    action leave_queue_1() {
        meta.queue = meta.queue ^ place[11:0];
    }

    apply {
        forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, ig_tm_md);
            exp_pifo_params.apply();
            follow_ranks.apply(ig_tm_md.ucast_egress_port, meta.rank, shift, distance, range);
            exponential_bin.apply(range, distance, bin);
            place_bin();
            choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 7);
            leave_queue_1();
            carry_out.apply(hdr, meta, ig_dprsr_md, ig_tm_md, ADMITTED);
        }
    }
}

Pipeline(LabIngressParser(), ExpPifoIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
