// SP-PIFO (Alcoz et al., "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority Queues", NSDI 2020;
// PACKS paper, section 2.1).
//
//   n strict-priority queues, queue 1 the most urgent, each with a bound b_i
//   scan from the least urgent queue; take the first i with b_i <= r;  push-up: b_i = r if the queue had room
//   none (r < b_1): queue 1, and push-down: every bound falls by b_1 - r
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

// One step of the scan. The register holds b_i plus all that push-downs have taken off so far (`lowered`), so that a
// push-down is one addition. Sums wrap around together. Its top bit is 0 until the first push-up: b_i is 0 until then.
// A queue that there is not yet starts anew, and takes the first packets of any rank when it comes. lowest: the smallest
// bound seen, which is b_1 but for a while after a queue came.
control SpPifoQueue(in bit<32> port, in bit<16> room, in bit<32> rank, in bit<32> lowered, in bit<3> queue_priority,
                    inout bit<1> chosen, inout bit<3> priority, inout bit<2> verdict, inout bit<32> depth,
                    inout bit<32> lowest) {
    register<bit<33>>(MAX_PORTS) raised_bound;
    bit<33> raised;
    bit<32> bound;

    apply {
        if (room == 0) {
            raised_bound.write(port, 0);
        } else if (chosen == 0) {
            queue_depths.read(depth, (port << 3) + (bit<32>) queue_priority);
            priority = queue_priority;
            verdict = FULL;
            if (depth < (bit<32>) room) {
                verdict = ADMITTED;
            }
            raised_bound.read(raised, port);
            bound = 0;
            if (raised[32:32] == 1) {
                bound = raised[31:0] - lowered;
            }
            if (bound <= rank) {
                chosen = 1;
                if (verdict == ADMITTED) {
                    raised_bound.write(port, 1w1 ++ (rank + lowered));
                }
            } else if (bound < lowest) {
                lowest = bound;
            }
        }
    }
}

control SpPifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    SpPifoQueue() queue_1;
    SpPifoQueue() queue_2;
    SpPifoQueue() queue_3;
    SpPifoQueue() queue_4;
    SpPifoQueue() queue_5;
    SpPifoQueue() queue_6;
    SpPifoQueue() queue_7;
    SpPifoQueue() queue_8;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;
    register<bit<32>>(MAX_PORTS) lowered_by;

    bit<16> room_1 = 0;
    bit<16> room_2 = 0;
    bit<16> room_3 = 0;
    bit<16> room_4 = 0;
    bit<16> room_5 = 0;
    bit<16> room_6 = 0;
    bit<16> room_7 = 0;
    bit<16> room_8 = 0;

    bit<32> port;
    bit<32> lowered;
    bit<32> lowest = 0xffffffff;
    bit<32> depth = 0;
    bit<1> chosen = 0;
    bit<3> priority = 0;
    bit<2> verdict = FULL;

    //   size_1 .. size_8  queue sizes, packets; 0: there is no such queue. Queue i has priority 8 - i.
    @action_restriction("size_1 != 0 || size_2 != 0 || size_3 != 0 || size_4 != 0 ||"
                        "size_5 != 0 || size_6 != 0 || size_7 != 0 || size_8 != 0")
    action set_sp_pifo(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                       bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8) {
        room_1 = size_1;
        room_2 = size_2;
        room_3 = size_3;
        room_4 = size_4;
        room_5 = size_5;
        room_6 = size_6;
        room_7 = size_7;
        room_8 = size_8;
    }
    // 8 queues of 10 packets (PACKS paper, section 6.1).
    table sp_pifo_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_sp_pifo; }
        default_action = set_sp_pifo(10, 10, 10, 10, 10, 10, 10, 10);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            sp_pifo_params.apply();
            port = (bit<32>) standard_metadata.egress_spec;
            lowered_by.read(lowered, port);
            queue_8.apply(port, room_8, meta.rank, lowered, 0, chosen, priority, verdict, depth, lowest);
            queue_7.apply(port, room_7, meta.rank, lowered, 1, chosen, priority, verdict, depth, lowest);
            queue_6.apply(port, room_6, meta.rank, lowered, 2, chosen, priority, verdict, depth, lowest);
            queue_5.apply(port, room_5, meta.rank, lowered, 3, chosen, priority, verdict, depth, lowest);
            queue_4.apply(port, room_4, meta.rank, lowered, 4, chosen, priority, verdict, depth, lowest);
            queue_3.apply(port, room_3, meta.rank, lowered, 5, chosen, priority, verdict, depth, lowest);
            queue_2.apply(port, room_2, meta.rank, lowered, 6, chosen, priority, verdict, depth, lowest);
            queue_1.apply(port, room_1, meta.rank, lowered, 7, chosen, priority, verdict, depth, lowest);
            if (chosen == 0) {
                // An inversion: less than every bound. The scan ended at queue 1.
                lowered_by.write(port, lowered + (lowest - meta.rank));
            }
            standard_metadata.priority = priority;
            carry_out.apply(meta, standard_metadata, verdict, depth);
            charge_flow.apply(meta);
        }
    }
}

control SpPifoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
    apply {
        leave.apply(meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), SpPifoIngress(), SpPifoEgress(), LabComputeChecksum(), LabDeparser()) main;
