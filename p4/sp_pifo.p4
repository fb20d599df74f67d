// SP-PIFO (Alcoz et al., "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority Queues", NSDI 2020).
//
// Up to 8 strict-priority queues. Each has a bound, and the bounds follow the ranks of the packets.
// include/sp_pifo_mapping.p4 has the rule.
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/sp_pifo_mapping.p4"

control SpPifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    SpPifoMapping() mapping;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    queue_sizes_t sizes;

    bit<32> length;
    bit<2> verdict;

    //   size_1 .. size_8  queue sizes, packets; 0: there is no such queue. Queue i has priority 8 - i.
    @action_restriction("size_1 != 0 || size_2 != 0 || size_3 != 0 || size_4 != 0 ||"
                        "size_5 != 0 || size_6 != 0 || size_7 != 0 || size_8 != 0")
    action set_sp_pifo(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                       bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8) {
        sizes = { size_1, size_2, size_3, size_4, size_5, size_6, size_7, size_8 };
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
            mapping.apply(standard_metadata.egress_spec, meta.rank, sizes, length, standard_metadata.priority, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), SpPifoIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
