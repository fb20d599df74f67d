// FDPA: Fair Dynamic Priority Assignment (Cascone et al., "Towards Approximate Fair Bandwidth Sharing via Dynamic
// Priority Queuing"). For Tofino 1. programs/fdpa.md says what is in which stage.
//
// The arrival rate of a user selects a band, and the band a strict-priority queue: the faster a user sends, the less
// urgent are its packets. Band 1 is about the user's fair share. TCP slows down when its packets wait or are lost in a late
// band, so all users settle around the same rate. A controller counts the active users and sets the edges of the bands.
// include/fdpa_bands.p4 has the rule. The traffic manager drops at a full queue.
#include <core.p4>
#include <tna.p4>

#include "include/lab.p4"
#include "include/tail_drop.p4"
#include "include/fdpa_bands.p4"

control FdpaIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Forwarding() forwarding;
    Users() users;
    FdpaBands() bands;
    SelectQueue() select_queue;
    ChooseQueue() choose_queue;
    AdmitToQueue() admit;

    fdpa_params_t params;

    bit<8> band;

    // All parameters in one action, so that one write changes them together.
    //   interval_us       estimator interval, microseconds: the power of two of nanoseconds next to it, from 2^16 to 2^32
    //   edge_1 .. edge_7  upper edge of each band, weighted bytes in one interval, none below the one before; 0xffffffff
    //                     when not used
    //   token_bucket      must be 0: the chip has no token buckets
    //   rate_1 .. rate_7, burst_bytes  of the token buckets, without a meaning
    //   flowlet_gap_us    a flow keeps its band until it pauses this long, in steps of 64; 0: never keeps it
    //   depth_1 .. _8     size of each band's queue, packets, without a meaning: the traffic manager must be told
    @action_restriction("interval_us != 0;"
                        "edge_1 <= edge_2 && edge_2 <= edge_3 && edge_3 <= edge_4 &&"
                        "edge_4 <= edge_5 && edge_5 <= edge_6 && edge_6 <= edge_7;"
                        "token_bucket == 0")
    action set_bands(bit<32> interval_us,
                     bit<32> edge_1, bit<32> edge_2, bit<32> edge_3, bit<32> edge_4,
                     bit<32> edge_5, bit<32> edge_6, bit<32> edge_7,
                     bit<1> token_bucket,
                     bit<32> rate_1, bit<32> rate_2, bit<32> rate_3, bit<32> rate_4,
                     bit<32> rate_5, bit<32> rate_6, bit<32> rate_7,
                     bit<32> burst_bytes,
                     bit<32> flowlet_gap_us,
                     bit<16> depth_1, bit<16> depth_2, bit<16> depth_3, bit<16> depth_4,
                     bit<16> depth_5, bit<16> depth_6, bit<16> depth_7, bit<16> depth_8) {
        params = { interval_us, { edge_1, edge_2, edge_3, edge_4, edge_5, edge_6, edge_7 }, flowlet_gap_us };
    }
    // Until a controller sets the edges, no rate exceeds them: every user is in band 1.
    table fdpa_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_bands; }
        default_action = set_bands(67109,
            0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
        if (!meta.discard) {
            users.apply(hdr, meta);
            fdpa_params.apply();
            choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 0);
            bands.apply(hdr, meta, ig_prsr_md.global_tstamp, params, band);
            select_queue.apply(band, meta);
            admit.apply(hdr, meta, ig_dprsr_md, ig_tm_md, 0);
        }
    }
}

Pipeline(LabIngressParser(), FdpaIngress(), LabIngressDeparser(),
         LabEgressParser(), LeaveQueue(), LabEgressDeparser()) pipe;

Switch(pipe) main;
