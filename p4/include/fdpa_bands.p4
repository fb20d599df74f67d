// The band of a packet in FDPA (FDPA paper, sections III and V).
//
//   charge = length of the packet / weight of the user
//   rate   = sum of the user's charges in the last complete interval   (or: token buckets, one for each edge)
//   band   = first q with rate <= edge_q                               (or: the band of the flowlet under way)
//   user 0, which is all traffic that no entry classifies: band 1

#include "select_band.p4"
#include "rate_estimator.p4"
#include "weighted.p4"

control FdpaBands(in headers_t hdr, in metadata_t meta, in standard_metadata_t standard_metadata, in fdpa_params_t params,
                  out bit<8> band) {
    AverageRate() average;
    TokenBucketBand() buckets;
    SelectBand() select_band;
    FlowletBand() flowlets;
    bit<32> now;
    bit<32> charge;
    bit<32> rate;
    bit<32> bytes;

    apply {
        band = 1;
        if (meta.user != 0) {
            now = (bit<32>) standard_metadata.ingress_global_timestamp;
            charge = weighted(standard_metadata.packet_length, meta.scale);
            if (params.token_bucket == 1) {
                buckets.apply((bit<32>) meta.user, now, charge, params.token_rates, params.burst, band);
            } else {
                average.apply((bit<32>) meta.user, now, params.interval, charge, rate, bytes);
                select_band.apply(rate, params.edges, band);
            }
            if (params.flowlet_gap != 0) {
                flowlets.apply(hdr, meta, now, params.flowlet_gap, band);
            }
        }
    }
}
