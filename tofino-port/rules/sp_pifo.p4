// SP-PIFO's rule alone, for the resource tables of the papers (controller/p4sched/reproducing/resources.py): sp_pifo.p4
// without routes, users, sources of ranks, histograms and counters. A packet's rank is in its header, and it leaves where it
// came from.
#include <core.p4>
#include <tna.p4>

#define RESUBMIT_PUSH_DOWN
#include "../include/lab.p4"
#include "../include/sp_pifo_mapping.p4"
#include "egress.p4"

control SpPifoRule(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                   in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    SpPifoMapping() mapping;
    ChooseQueue() choose_queue;
    EnterQueue() enter;

    queue_sizes_t sizes;
    bit<3> priority;

    action set_sp_pifo(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                       bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8) {
        sizes = { size_1, size_2, size_3, size_4, size_5, size_6, size_7, size_8 };
    }
    table sp_pifo_params {
        key = { ig_intr_md.ingress_port: exact; }
        actions = { set_sp_pifo; }
        default_action = set_sp_pifo(10, 10, 10, 10, 10, 10, 10, 10);
        size = MAX_PORTS;
    }
    action take_rank() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        meta.rank = hdr.rank.rank;
    }

    apply {
        take_rank();
        sp_pifo_params.apply();
        mapping.apply(ig_intr_md.ingress_port, meta.rank, sizes, ig_intr_md.resubmit_flag, hdr.push_down.cost, meta.cost,
                      priority);
        if (meta.cost != 0) {
            ig_dprsr_md.resubmit_type = PUSH_DOWN;
        } else {
            choose_queue.apply(meta, ig_intr_md.ingress_port, priority);
            enter.apply(hdr, meta, ig_dprsr_md, ig_tm_md, ADMITTED);
        }
    }
}

Pipeline(LabIngressParser(), SpPifoRule(), LabIngressDeparser(),
         LabEgressParser(), RuleEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
