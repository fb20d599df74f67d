// FDPA: Fair Dynamic Priority Assignment (Cascone et al., "Towards Approximate Fair Bandwidth Sharing via Dynamic
// Priority Queuing").
//
// The arrival rate of a user selects a band, and the band a strict-priority queue: the faster a user sends, the less
// urgent are its packets. Band 1 is about the user's fair share. TCP slows down when its packets wait or are lost in a late
// band, so all users settle around the same rate. A controller counts the active users and sets the edges of the bands.
// include/fdpa_bands.p4 has the rule.
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/tail_drop.p4"
#include "include/fdpa_bands.p4"

control FdpaIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    FdpaBands() bands;
    SelectQueue() select_queue;
    AdmitToQueue() admit;

    fdpa_params_t params;

    bit<8> band;
    bit<16> size;

    // All parameters in one action, so that one write changes them together.
    //   interval_us       estimator interval, microseconds
    //   edge_1 .. edge_7  upper edge of each band, weighted bytes in one interval, none below the one before; 0xffffffff
    //                     when not used
    //   token_bucket      1: token buckets instead of the average rate
    //   rate_1 .. rate_7  the same edges as token rates, bytes in 65536 microseconds
    //   burst_bytes       size of every bucket; its tokens are sixteenths of a byte in 32 bits
    //   flowlet_gap_us    a flow keeps its band until it pauses this long; 0: never keeps it
    //   depth_1 .. _8     size of each band's queue, packets; 0 leaves it to the queue itself
    @action_restriction("interval_us != 0;"
                        "edge_1 <= edge_2 && edge_2 <= edge_3 && edge_3 <= edge_4 &&"
                        "edge_4 <= edge_5 && edge_5 <= edge_6 && edge_6 <= edge_7;"
                        "rate_1 <= rate_2 && rate_2 <= rate_3 && rate_3 <= rate_4 &&"
                        "rate_4 <= rate_5 && rate_5 <= rate_6 && rate_6 <= rate_7;"
                        "burst_bytes < 0x10000000; token_bucket == 1 -> burst_bytes != 0")
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
        params = {
            interval_us,
            { edge_1, edge_2, edge_3, edge_4, edge_5, edge_6, edge_7 },
            token_bucket,
            { rate_1, rate_2, rate_3, rate_4, rate_5, rate_6, rate_7 },
            burst_bytes,
            flowlet_gap_us,
            { depth_1, depth_2, depth_3, depth_4, depth_5, depth_6, depth_7, depth_8 }
        };
    }
    // Until a controller sets the edges, no rate exceeds them: every user is in band 1.
    table fdpa_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_bands; }
        default_action = set_bands(60000,
            0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            fdpa_params.apply();
            bands.apply(hdr, meta, standard_metadata, params, band);
            select_queue.apply(band, params.sizes, standard_metadata.priority, size);
            admit.apply(meta, standard_metadata, size);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), FdpaIngress(), LeaveQueue(), LabComputeChecksum(), LabDeparser()) main;
