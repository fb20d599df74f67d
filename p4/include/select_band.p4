// From a user's rate to FDPA's band (FDPA paper, section III).

#include "../shared/bands.p4"

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
