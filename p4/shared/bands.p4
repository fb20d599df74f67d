// FDPA's rate bands (FDPA paper, section III): from a user's rate to a band, from a band to a priority.
#ifndef P4SCHED_BANDS_P4
#define P4SCHED_BANDS_P4

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

// The first band whose upper edge the rate does not exceed. Rate and edges are weighted bytes in one estimator interval.
control SelectBand(in bit<32> rate, in band_edges_t edges, out bit<8> band) {
    apply {
        if (rate <= edges.edge_1) { band = 1; }
        else if (rate <= edges.edge_2) { band = 2; }
        else if (rate <= edges.edge_3) { band = 3; }
        else if (rate <= edges.edge_4) { band = 4; }
        else if (rate <= edges.edge_5) { band = 5; }
        else if (rate <= edges.edge_6) { band = 6; }
        else if (rate <= edges.edge_7) { band = 7; }
        else { band = 8; }
    }
}

#endif
