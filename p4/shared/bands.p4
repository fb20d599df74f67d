// FDPA's bands (FDPA paper, section III): their edges, and from a band to a queue.

#include "queue_sizes.p4"

// Upper edges of bands 1 to 7; band 8 is open. An edge that is not used is 0xffffffff.
struct band_edges_t {
    bit<32> edge_1;
    bit<32> edge_2;
    bit<32> edge_3;
    bit<32> edge_4;
    bit<32> edge_5;
    bit<32> edge_6;
    bit<32> edge_7;
}

// What the control plane sets. fdpa.p4 gives the units.
struct fdpa_params_t {
    bit<32>       interval;
    band_edges_t  edges;
    bit<1>        token_bucket;
    band_edges_t  token_rates;
    bit<32>       burst;
    bit<32>       flowlet_gap;
    queue_sizes_t sizes;
}

// The queue of a band: band q has priority 8 - q.
control SelectQueue(in bit<8> band, in queue_sizes_t sizes, out bit<3> priority, out bit<16> size) {
    apply {
        if (band == 1) { size = sizes.size_1; priority = 7; }
        else if (band == 2) { size = sizes.size_2; priority = 6; }
        else if (band == 3) { size = sizes.size_3; priority = 5; }
        else if (band == 4) { size = sizes.size_4; priority = 4; }
        else if (band == 5) { size = sizes.size_5; priority = 3; }
        else if (band == 6) { size = sizes.size_6; priority = 2; }
        else if (band == 7) { size = sizes.size_7; priority = 1; }
        else { size = sizes.size_8; priority = 0; }
    }
}
