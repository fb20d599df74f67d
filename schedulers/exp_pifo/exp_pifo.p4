// Exp-PIFO, as far as its abstract describes it (Mostafaei et al., "Exp-PIFO: Scalable and Efficient Programmable Packet
// Scheduling", PACMNET 3, CoNEXT3, 2025). README.md says what is the paper's and what is not.
//
//   n strict-priority queues, queue 1 the most urgent;  r: the packet's rank;  low, high: the two cells, 0 at the start
//   low = min(low, r);  high = max(high, r)
//   bins that double:   queue n takes the ranks from about the middle of low .. high up, queue n - 1 half as many below
//                       it, and so on;  queue 1 takes the rest
//   the cells follow:   low += (r - low) / 2^F;  high -= (high - r) / 2^F
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "exp_pifo_bins.p4"

// A cell holds a rank and 16 bits of fraction.
typedef bit<48> cell_t;

// The two cells: the range of the recent ranks. lowest, highest: with the packet's own rank;  forget_shift: F.
control FollowRanks(in bit<32> port, in bit<32> rank, in bit<8> forget_shift, out cell_t lowest, out cell_t highest) {
    register<cell_t>(MAX_PORTS) low;
    register<cell_t>(MAX_PORTS) high;
    cell_t own;

    apply {
        own = rank ++ 16w0;
        low.read(lowest, port);
        high.read(highest, port);
        if (own < lowest) {
            lowest = own;
        }
        if (own > highest) {
            highest = own;
        }
        low.write(port, lowest + ((own - lowest) >> forget_shift));
        high.write(port, highest - ((highest - own) >> forget_shift));
    }
}

control ExpPifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    FollowRanks() follow_ranks;
    ExponentialBin() exponential_bin;
    ReadLength() read_length;
    TailDrop() tail_drop;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> last;
    bit<16> queue_size;
    bit<8> shift;

    cell_t lowest;
    cell_t highest;
    bit<16> bin;
    bit<32> length;
    bit<2> verdict;

    //   queue_count   n, number of queues
    //   size          of a queue, packets
    //   forget_shift  F: a packet draws each cell 1/2^F of the way to its rank
    @action_restriction("queue_count != 0; queue_count <= 8; size != 0; forget_shift <= 32")
    action set_exp_pifo(bit<8> queue_count, bit<16> size, bit<8> forget_shift) {
        last = (bit<16>) queue_count - 1;
        queue_size = size;
        shift = forget_shift;
    }
    // 8 queues of 10 packets (PACKS paper, section 6.1).
    table exp_pifo_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_exp_pifo; }
        default_action = set_exp_pifo(8, 10, 10);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            exp_pifo_params.apply();
            follow_ranks.apply((bit<32>) standard_metadata.egress_spec, meta.rank, shift, lowest, highest);
            exponential_bin.apply(highest[47:16] - lowest[47:16], meta.rank - lowest[47:16], bin);
            standard_metadata.priority = (bit<3>) (7 - (last |-| bin));
            verdict = ADMITTED;
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            tail_drop.apply(length, queue_size, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), ExpPifoIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
