// RIFO: range-in first-out ("RIFO: Pushing the Efficiency of Programmable Packet Schedulers").
//
//   Min, Max: range of the ranks since the last reset; both start anew after T arrivals
//   L: length of the one queue;  B: its size;  k = K/256: headroom
//   admit iff  L <= k B  or  Max = Min  or  (Max - r) B >= (Max - Min) (B - L)
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

control RankRange(in bit<32> port, in bit<32> rank, in bit<32> tracking_range, out bit<32> lowest, out bit<32> highest) {
    register<bit<32>>(MAX_PORTS) min_rank;
    register<bit<32>>(MAX_PORTS) max_rank;
    // Arrivals in this range so far; 0 before its first.
    register<bit<32>>(MAX_PORTS) arrivals;
    bit<32> count;

    apply {
        arrivals.read(count, port);
        min_rank.read(lowest, port);
        max_rank.read(highest, port);
        if (count == 0) {
            lowest = rank;
            highest = rank;
        } else {
            if (rank < lowest) {
                lowest = rank;
            }
            if (rank > highest) {
                highest = rank;
            }
        }
        count = count + 1;
        if (count >= tracking_range) {
            count = 0;
        }
        arrivals.write(port, count);
        min_rank.write(port, lowest);
        max_rank.write(port, highest);
    }
}

control RifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    RankRange() rank_range;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> room = 0;
    bit<8> headroom = 0;
    bit<32> tracking_range = 1;

    bit<32> port;
    bit<32> length;
    bit<32> lowest;
    bit<32> highest;
    bit<2> verdict;

    //   capacity_packets  B, packets
    //   headroom_256      K: k in 1/256
    //   tracking_packets  T: the range starts anew after so many arrivals
    @action_restriction("capacity_packets != 0; tracking_packets != 0")
    action set_rifo(bit<16> capacity_packets, bit<8> headroom_256, bit<32> tracking_packets) {
        room = capacity_packets;
        headroom = headroom_256;
        tracking_range = tracking_packets;
    }
    // The paper's defaults: B = 20, k = 0.1, T = 50.
    table rifo_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_rifo; }
        default_action = set_rifo(20, 26, 50);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            rifo_params.apply();
            standard_metadata.priority = 0;
            port = (bit<32>) standard_metadata.egress_spec;
            rank_range.apply(port, meta.rank, tracking_range, lowest, highest);
            queue_depths.read(length, port << 3);
            verdict = REFUSED;
            if (length << 8 <= (bit<32>) headroom * (bit<32>) room || highest == lowest) {
                verdict = ADMITTED;
            } else {
                bit<64> free = (bit<64>) ((bit<32>) room |-| length);
                bit<64> score = (bit<64>) (highest - meta.rank) * (bit<64>) room;
                if (score >= (bit<64>) (highest - lowest) * free) {
                    verdict = ADMITTED;
                }
            }
            if (verdict == ADMITTED && length >= (bit<32>) room) {
                verdict = FULL;
            }
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

control RifoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
    apply {
        leave.apply(meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), RifoIngress(), RifoEgress(), LabComputeChecksum(), LabDeparser()) main;
