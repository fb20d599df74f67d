// FIFO with tail drop: the baseline of every paper. For Tofino 1.
#include <core.p4>
#include <tna.p4>

#define LENGTH_REPORTS
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/tail_drop.p4"
#include "include/egress.p4"

control FifoIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    TakeLength() take_length;
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ChooseQueue() choose_queue;
    AdmitToQueue() admit;

    bit<32> size;

    // depth: size of the queue, packets; 0 leaves it to the queue itself.
    action set_depth(bit<16> depth) {
        size = (bit<32>) depth;
    }
    table fifo_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_depth; }
        default_action = set_depth(0);
        size = MAX_PORTS;
    }

    apply {
        if (BRINGS_LENGTH) {
            take_length.apply(hdr, meta, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
            if (!meta.discard) {
                choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 0);
                users.apply(hdr, meta);
                ranking.apply(hdr, meta, ig_tm_md);
                fifo_params.apply();
                admit.apply(hdr, meta, ig_dprsr_md, ig_tm_md, size);
            }
        }
    }
}

Pipeline(LabIngressParser(), FifoIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
