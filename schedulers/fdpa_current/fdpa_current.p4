// FDPA in which the current interval counts: a user that was quiet leaves band 1 as soon as it has sent what band 1 is for.
//
//   charge = length of the packet / weight of the user
//   rate   = max(sum of the user's charges in the last complete interval, their sum in the current one)
//   band   = first q with rate <= edge_q
//   user 0, which is all traffic that no entry classifies: band 1
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/select_band.p4"
#include "include/rate_estimator.p4"

control CurrentBands(in metadata_t meta, in standard_metadata_t standard_metadata, in bit<32> interval,
                     in band_edges_t edges, out bit<8> band) {
    AverageRate() average;
    SelectBand() select_band;
    bit<32> now;
    bit<32> charge;
    bit<32> rate;
    bit<32> current;

    apply {
        band = 1;
        if (meta.user != 0) {
            now = (bit<32>) standard_metadata.ingress_global_timestamp;
            charge = weighted(standard_metadata.packet_length, meta.scale);
            average.apply((bit<32>) meta.user, now, interval, charge, rate, current);
            if (current > rate) {
                rate = current;
            }
            select_band.apply(rate, edges, band);
        }
    }
}

control FdpaCurrentIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    CurrentBands() bands;
    SelectQueue() select_queue;
    ReadLength() read_length;
    TailDrop() tail_drop;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<32> interval;
    band_edges_t edges;
    queue_sizes_t sizes;

    bit<8> band;
    bit<16> size;
    bit<32> length;
    bit<2> verdict;

    //   interval_us       estimator interval, microseconds
    //   edge_1 .. edge_7  upper edge of each band, weighted bytes in one interval, none below the one before; 0xffffffff
    //                     when not used
    //   depth_1 .. _8     size of each band's queue, packets; 0 leaves it to the queue itself
    @action_restriction("interval_us != 0;"
                        "edge_1 <= edge_2 && edge_2 <= edge_3 && edge_3 <= edge_4 &&"
                        "edge_4 <= edge_5 && edge_5 <= edge_6 && edge_6 <= edge_7")
    action set_bands(bit<32> interval_us,
                     bit<32> edge_1, bit<32> edge_2, bit<32> edge_3, bit<32> edge_4,
                     bit<32> edge_5, bit<32> edge_6, bit<32> edge_7,
                     bit<16> depth_1, bit<16> depth_2, bit<16> depth_3, bit<16> depth_4,
                     bit<16> depth_5, bit<16> depth_6, bit<16> depth_7, bit<16> depth_8) {
        interval = interval_us;
        edges = { edge_1, edge_2, edge_3, edge_4, edge_5, edge_6, edge_7 };
        sizes = { depth_1, depth_2, depth_3, depth_4, depth_5, depth_6, depth_7, depth_8 };
    }
    // Until a controller sets the edges, no rate exceeds them: every user is in band 1.
    table fdpa_current_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_bands; }
        default_action = set_bands(60000,
            0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
            20, 20, 20, 20, 20, 20, 20, 20);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            fdpa_current_params.apply();
            bands.apply(meta, standard_metadata, interval, edges, band);
            select_queue.apply(band, sizes, standard_metadata.priority, size);
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            verdict = ADMITTED;
            tail_drop.apply(length, size, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), FdpaCurrentIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
