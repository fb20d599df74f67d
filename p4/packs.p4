// PACKS ("Everything Matters in Programmable Packet Scheduling", NSDI 2025): which packets to admit and how to order
// them, together.
//
//   n strict-priority queues of size B_i with b_i packets waiting, queue 1 the most urgent;  B: sum of B_i
//   W: the last |W| ranks (every S-th one);  q: entries of W strictly smaller than the packet's rank;  k = K/256: headroom
//   the first queue i with  q B (256 - K) <= |W| sum_{j<=i}(B_j - b_j) 256  and  b_i < B_i;  none: drop
#include <core.p4>
#include <v1model.p4>

#include "shared/constants.p4"
#include "shared/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/forwarding.p4"
#include "include/users.p4"
#include "include/queue_depth.p4"
#include "include/rank.p4"
#include "include/admission.p4"
#include "include/window.p4"

// One step of the scan. free: the room in queues 1 to i.
control PacksQueue(in bit<32> queue, in bit<16> room, in bit<64> needed, in bit<8> window_size, in bit<3> queue_priority,
                   inout bit<32> free, inout bit<32> occupancy, inout bit<2> verdict, inout bit<3> priority) {
    bit<32> waiting;
    bit<64> offered;

    apply {
        if (room != 0) {
            queue_depths.read(waiting, queue + (bit<32>) queue_priority);
            occupancy = occupancy + waiting;
            free = free + ((bit<32>) room |-| waiting);
            offered = ((bit<64>) window_size * (bit<64>) free) << 8;
            if (verdict != ADMITTED && needed <= offered) {
                priority = queue_priority;
                verdict = FULL;
                if (waiting < (bit<32>) room) {
                    verdict = ADMITTED;
                }
            }
        }
    }
}

control PacksIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    Window() window;
    PacksQueue() queue_1;
    PacksQueue() queue_2;
    PacksQueue() queue_3;
    PacksQueue() queue_4;
    PacksQueue() queue_5;
    PacksQueue() queue_6;
    PacksQueue() queue_7;
    PacksQueue() queue_8;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> room_1 = 0;
    bit<16> room_2 = 0;
    bit<16> room_3 = 0;
    bit<16> room_4 = 0;
    bit<16> room_5 = 0;
    bit<16> room_6 = 0;
    bit<16> room_7 = 0;
    bit<16> room_8 = 0;
    bit<8> headroom = 0;
    bit<8> window_size = 1;
    bit<32> sample_every = 1;

    bit<32> first;
    bit<8> smaller;
    bit<64> needed;
    bit<32> buffer;
    bit<32> free = 0;
    bit<32> occupancy = 0;
    bit<3> priority = 0;
    bit<2> verdict = REFUSED;

    //   size_1 .. size_8  B_i, packets; 0: there is no such queue. Queue i has priority 8 - i.
    //   headroom_256      K: k in 1/256
    //   window_ranks      |W|, 1 .. 32
    //   sampling          S: every S-th rank enters the window
    @action_restriction("size_1 != 0 || size_2 != 0 || size_3 != 0 || size_4 != 0 ||"
                        "size_5 != 0 || size_6 != 0 || size_7 != 0 || size_8 != 0;"
                        "window_ranks >= 1 && window_ranks <= 32; sampling != 0")
    action set_packs(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                     bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8,
                     bit<8> headroom_256, bit<8> window_ranks, bit<32> sampling) {
        room_1 = size_1;
        room_2 = size_2;
        room_3 = size_3;
        room_4 = size_4;
        room_5 = size_5;
        room_6 = size_6;
        room_7 = size_7;
        room_8 = size_8;
        headroom = headroom_256;
        window_size = window_ranks;
        sample_every = sampling;
    }
    // 8 queues of 10 packets (PACKS 6.1), k = 0, the window of their Tofino 2 build.
    table packs_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_packs; }
        default_action = set_packs(10, 10, 10, 10, 10, 10, 10, 10, 0, 16, 1);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            packs_params.apply();
            window.apply((bit<32>) standard_metadata.egress_spec, meta.rank, window_size, sample_every, smaller);
            first = (bit<32>) standard_metadata.egress_spec << 3;
            buffer = (bit<32>) room_1 + (bit<32>) room_2 + (bit<32>) room_3 + (bit<32>) room_4
                   + (bit<32>) room_5 + (bit<32>) room_6 + (bit<32>) room_7 + (bit<32>) room_8;
            needed = (bit<64>) smaller * (bit<64>) buffer * (256 - (bit<64>) headroom);
            queue_1.apply(first, room_1, needed, window_size, 7, free, occupancy, verdict, priority);
            queue_2.apply(first, room_2, needed, window_size, 6, free, occupancy, verdict, priority);
            queue_3.apply(first, room_3, needed, window_size, 5, free, occupancy, verdict, priority);
            queue_4.apply(first, room_4, needed, window_size, 4, free, occupancy, verdict, priority);
            queue_5.apply(first, room_5, needed, window_size, 3, free, occupancy, verdict, priority);
            queue_6.apply(first, room_6, needed, window_size, 2, free, occupancy, verdict, priority);
            queue_7.apply(first, room_7, needed, window_size, 1, free, occupancy, verdict, priority);
            queue_8.apply(first, room_8, needed, window_size, 0, free, occupancy, verdict, priority);
            standard_metadata.priority = priority;
            carry_out.apply(meta, standard_metadata, verdict, occupancy);
            charge_flow.apply(meta);
        }
    }
}

control PacksEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
    apply {
        leave.apply(meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), PacksIngress(), PacksEgress(), LabComputeChecksum(), LabDeparser()) main;
