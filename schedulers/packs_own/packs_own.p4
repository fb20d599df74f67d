// PACKS with a window for each user. A user that lies about its ranks, or sends many packets, changes its own
// quantiles alone.
//
// Up to 8 strict-priority queues. One rule decides whether a packet is admitted and which queue it goes to, by the recent
// ranks of its user. include/packs_mapping.p4 has the rule.
//
// Eight windows for each port: user u has window u modulo 8, so users 1 to 7 and the packets without a user (user 0) have
// one each. Users whose numbers differ by a multiple of 8 share one.
#include <core.p4>
#include <v1model.p4>

#define WINDOWS 4096
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/window.p4"
#include "include/packs_mapping.p4"

control PacksOwnIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    Window() window;
    PacksMapping() mapping;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    queue_sizes_t sizes;
    bit<8> headroom;
    bit<8> window_size;
    bit<32> sample_every;

    bit<32> own_window;
    bit<8> smaller;
    bit<32> length;
    bit<2> verdict;

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
        sizes = { size_1, size_2, size_3, size_4, size_5, size_6, size_7, size_8 };
        headroom = headroom_256;
        window_size = window_ranks;
        sample_every = sampling;
    }
    // 8 queues of 10 packets (PACKS 6.1), k = 0, the window of their Tofino 2 build.
    table packs_own_params {
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
            packs_own_params.apply();
            own_window = (bit<32>) (standard_metadata.egress_spec ++ meta.user[2:0]);
            window.apply(own_window, meta.rank, window_size, sample_every, smaller);
            mapping.apply(standard_metadata.egress_spec, smaller, window_size, sizes, headroom,
                          length, standard_metadata.priority, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), PacksOwnIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
