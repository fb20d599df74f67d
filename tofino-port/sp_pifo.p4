// SP-PIFO (Alcoz et al., "SP-PIFO: Approximating Push-In First-Out Behaviors using Strict-Priority Queues", NSDI 2020).
// For Tofino 1. programs/sp_pifo.md says what is in which stage.
//
// Up to 8 strict-priority queues. Each has a bound, and the bounds follow the ranks of the packets.
// include/sp_pifo_mapping.p4 has the rule. The traffic manager drops at a full queue.
#include <core.p4>
#include <tna.p4>

#define RESUBMIT_PUSH_DOWN
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/sp_pifo_mapping.p4"

control SpPifoIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                      in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                      inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                      inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    SpPifoMapping() mapping;
    ChooseQueue() choose_queue;
    CarryOut() carry_out;

    queue_sizes_t sizes;

    bit<3> priority;

    //   size_1 .. size_8  queue sizes, packets; 0: there is no such queue, and no less urgent one. Queue i has priority 8 - i.
    //                     The traffic manager must be told the same sizes: the program only asks which queues there are.
    @action_restriction("size_1 != 0;"
                        "size_3 != 0 -> size_2 != 0; size_4 != 0 -> size_3 != 0; size_5 != 0 -> size_4 != 0;"
                        "size_6 != 0 -> size_5 != 0; size_7 != 0 -> size_6 != 0; size_8 != 0 -> size_7 != 0")
    action set_sp_pifo(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                       bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8) {
        sizes = { size_1, size_2, size_3, size_4, size_5, size_6, size_7, size_8 };
    }
    // 8 queues of 10 packets (PACKS paper, section 6.1).
    table sp_pifo_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_sp_pifo; }
        default_action = set_sp_pifo(10, 10, 10, 10, 10, 10, 10, 10);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
        if (!meta.discard) {
            // Every packet is counted in its first pass.
            if (ig_intr_md.resubmit_flag == 0) {
                users.apply(hdr, meta);
                ranking.apply(hdr, meta, ig_tm_md);
            }
            sp_pifo_params.apply();
            mapping.apply(ig_tm_md.ucast_egress_port, meta.rank, sizes, ig_intr_md.resubmit_flag, hdr.push_down.cost, meta.cost,
                          priority);
            if (meta.cost != 0) {
                ig_dprsr_md.resubmit_type = PUSH_DOWN;
            } else {
                choose_queue.apply(meta, ig_tm_md.ucast_egress_port, priority);
                carry_out.apply(hdr, meta, ig_dprsr_md, ig_tm_md, ADMITTED);
            }
        }
    }
}

Pipeline(LabIngressParser(), SpPifoIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
