// The band of a packet in FDPA (FDPA paper, section III).
//
//   charge = length of the packet / weight of the user
//   rate   = sum of the user's charges in the last complete interval
//   band   = first q with rate <= edge_q;  band 8 if there is none
//   user 0, which is all traffic that no entry classifies: band 1

#include "../shared/bands.p4"

// The first band whose upper edge the rate does not exceed. Rate and edges are weighted bytes in one interval.
control RateToBand(in bit<32> rate, in band_edges_t edges, out bit<8> band) {
    apply {
        // Task 1: from a rate to a band.
        // TODO: compare the rate with edges.edge_1, edges.edge_2, ... edges.edge_7.
        band = 1;
    }
}

// The rate of a user. now, interval: microseconds;  charge: of this packet;  rate: weighted bytes in one interval.
control AverageRate(in bit<32> user, in bit<32> now, in bit<32> interval, in bit<32> charge, out bit<32> rate) {
    // When the user's interval began, the charges in it so far, and the rate of the interval before it.
    register<bit<32>>(MAX_USERS) interval_start;
    register<bit<32>>(MAX_USERS) interval_bytes;
    register<bit<32>>(MAX_USERS) last_rate;
    bit<32> start;
    bit<32> bytes;
    bit<32> elapsed;

    apply {
        // Task 3: the rate of the last complete interval.
        // TODO: as it is, the rate is the charge of the packet before this one.
        interval_bytes.read(rate, user);
        interval_bytes.write(user, charge);

        // Task 4: pauses.
        // TODO: a user that paused for several intervals has a lower rate.

    }
}

control FdpaBands(in headers_t hdr, in metadata_t meta, in standard_metadata_t standard_metadata, in fdpa_params_t params,
                  out bit<8> band) {
    AverageRate() average;
    RateToBand() rate_to_band;
    bit<32> charge;
    bit<32> rate;

    apply {
        band = 1;
        if (meta.user != 0) {
            // Task 2: what a packet costs.
            // TODO: divide by the weight of the user. meta.scale is 256 over the weight.
            charge = standard_metadata.packet_length;
            average.apply((bit<32>) meta.user, (bit<32>) standard_metadata.ingress_global_timestamp, params.interval, charge,
                          rate);
            rate_to_band.apply(rate, params.edges, band);
        }
    }
}
