// FDPA: Fair Dynamic Priority Assignment (Cascone et al., "Towards Approximate Fair Bandwidth Sharing via Dynamic
// Priority Queuing").
//
// A user's arrival rate selects a band, and the band a strict-priority queue: the faster a user sends, the less urgent
// are its packets. Band 1 ends at the user's fair share. TCP backs off when its packets wait or are lost in a late
// band, so all users settle around the same rate. The edges come from a controller that counts the active users.
//
//   charge = packet length / weight of the user
//   rate   = sum of charges in the last complete interval           (or: token buckets, one for each edge)
//   band   = first q with rate <= edge_q                            (or: the band of the flowlet under way)
//   queue  = priority 8 - band, room depth_band
//   user 0, which is all traffic that no entry classifies: band 1
#include <core.p4>
#include <v1model.p4>

#include "shared/constants.p4"
#include "shared/headers.p4"
#include "shared/bands.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/forwarding.p4"
#include "include/users.p4"
#include "include/rate_estimator.p4"
#include "include/queue_depth.p4"
#include "include/tail_drop.p4"

struct band_rates_t {
    bit<32> rate_1;
    bit<32> rate_2;
    bit<32> rate_3;
    bit<32> rate_4;
    bit<32> rate_5;
    bit<32> rate_6;
    bit<32> rate_7;
}

struct band_depths_t {
    bit<16> depth_1;
    bit<16> depth_2;
    bit<16> depth_3;
    bit<16> depth_4;
    bit<16> depth_5;
    bit<16> depth_6;
    bit<16> depth_7;
    bit<16> depth_8;
}

control TokenBucketBand(in bit<32> user, in bit<32> now, in bit<32> charge, in band_rates_t rates, in bit<32> burst,
                        out bit<8> band) {
    register<bit<32>>(MAX_USERS) last_arrival;
    TokenBucket() bucket_1;
    TokenBucket() bucket_2;
    TokenBucket() bucket_3;
    TokenBucket() bucket_4;
    TokenBucket() bucket_5;
    TokenBucket() bucket_6;
    TokenBucket() bucket_7;
    bit<32> fill;
    bit<1> paid = 0;

    apply {
        last_arrival.read(fill, user);
        last_arrival.write(user, now);
        fill = now - fill;
        band = 8;
        bucket_1.apply(fill, burst, rates.rate_1, user, charge, paid);
        if (paid == 1) { band = 1; }
        bucket_2.apply(fill, burst, rates.rate_2, user, charge, paid);
        if (paid == 1 && band == 8) { band = 2; }
        bucket_3.apply(fill, burst, rates.rate_3, user, charge, paid);
        if (paid == 1 && band == 8) { band = 3; }
        bucket_4.apply(fill, burst, rates.rate_4, user, charge, paid);
        if (paid == 1 && band == 8) { band = 4; }
        bucket_5.apply(fill, burst, rates.rate_5, user, charge, paid);
        if (paid == 1 && band == 8) { band = 5; }
        bucket_6.apply(fill, burst, rates.rate_6, user, charge, paid);
        if (paid == 1 && band == 8) { band = 6; }
        bucket_7.apply(fill, burst, rates.rate_7, user, charge, paid);
        if (paid == 1 && band == 8) { band = 7; }
    }
}

control FdpaIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Charge() charging;
    AverageRate() average;
    TokenBucketBand() buckets;
    SelectBand() select_band;
    FlowletBand() flowlets;
    AdmitToQueue() admit;

    bit<32> interval = 0;
    band_edges_t edges;
    band_rates_t rates;
    band_depths_t depths;
    bit<1> use_buckets = 0;
    bit<32> burst = 0;
    bit<32> flowlet_gap = 0;

    bit<32> now;
    bit<32> charge;
    bit<32> rate;
    bit<8> band = 1;
    bit<16> limit = 0;

    // All parameters in one action, so that one write changes them together.
    //   interval_us       estimator interval, microseconds
    //   edge_1 .. edge_7  upper edge of each band, weighted bytes in one interval, none below the one before; 0xffffffff
    //                     when not used
    //   token_bucket      1: token buckets instead of the average rate
    //   rate_1 .. rate_7  the same edges as token rates, bytes in 65536 microseconds
    //   burst_bytes       room of every bucket; its tokens are sixteenths of a byte in 32 bits
    //   flowlet_gap_us    a flow keeps its band until it pauses this long; 0: never keeps it
    //   depth_1 .. _8     room of each band's queue, packets; 0 leaves it to the queue itself
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
        interval = interval_us;
        edges.edge_1 = edge_1;
        edges.edge_2 = edge_2;
        edges.edge_3 = edge_3;
        edges.edge_4 = edge_4;
        edges.edge_5 = edge_5;
        edges.edge_6 = edge_6;
        edges.edge_7 = edge_7;
        use_buckets = token_bucket;
        rates.rate_1 = rate_1;
        rates.rate_2 = rate_2;
        rates.rate_3 = rate_3;
        rates.rate_4 = rate_4;
        rates.rate_5 = rate_5;
        rates.rate_6 = rate_6;
        rates.rate_7 = rate_7;
        burst = burst_bytes;
        flowlet_gap = flowlet_gap_us;
        depths.depth_1 = depth_1;
        depths.depth_2 = depth_2;
        depths.depth_3 = depth_3;
        depths.depth_4 = depth_4;
        depths.depth_5 = depth_5;
        depths.depth_6 = depth_6;
        depths.depth_7 = depth_7;
        depths.depth_8 = depth_8;
    }
    // Until a controller speaks, the edges are unreachable and every user is in band 1.
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
            now = (bit<32>) standard_metadata.ingress_global_timestamp;
            charging.apply(meta, standard_metadata, charge);
            // What no entry classifies, such as ACKs on their way back, is nobody's: always band 1, and no rate of its own.
            if (meta.user != 0) {
                if (use_buckets == 1) {
                    buckets.apply((bit<32>) meta.user, now, charge, rates, burst, band);
                } else {
                    average.apply((bit<32>) meta.user, now, interval, charge, rate);
                    select_band.apply(rate, edges, band);
                }
                if (flowlet_gap != 0) {
                    flowlets.apply(hdr, meta, now, flowlet_gap, band);
                }
            }

            if (band == 1) { limit = depths.depth_1; standard_metadata.priority = 7; }
            else if (band == 2) { limit = depths.depth_2; standard_metadata.priority = 6; }
            else if (band == 3) { limit = depths.depth_3; standard_metadata.priority = 5; }
            else if (band == 4) { limit = depths.depth_4; standard_metadata.priority = 4; }
            else if (band == 5) { limit = depths.depth_5; standard_metadata.priority = 3; }
            else if (band == 6) { limit = depths.depth_6; standard_metadata.priority = 2; }
            else if (band == 7) { limit = depths.depth_7; standard_metadata.priority = 1; }
            else { limit = depths.depth_8; standard_metadata.priority = 0; }
            admit.apply(meta, standard_metadata, limit);
        }
    }
}

control FdpaEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    apply {
        leave.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), FdpaIngress(), FdpaEgress(), LabComputeChecksum(), LabDeparser()) main;
