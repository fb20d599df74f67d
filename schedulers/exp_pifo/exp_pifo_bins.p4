// The lookup table of Exp-PIFO: how many places the first bit of the distance is below that of the range.
//
// The programs of all targets share it.

// A row of the table: the first bit of the range is `first`, that of the distance is `down` places lower.
#define BIN(first, down) \
    ((32w1 << first) &&& (32w0xffffffff << first), \
     (32w1 << (first - down)) &&& (32w0xffffffff << (first - down))): set_bin(down);
#define BINS_TO_1(first) BIN(first, 0) BIN(first, 1)
#define BINS_TO_3(first) BINS_TO_1(first) BIN(first, 2) BIN(first, 3)
#define BINS(first) BINS_TO_3(first) BIN(first, 4) BIN(first, 5) BIN(first, 6)
#define BINS_OF_4(first) BINS(first) BINS(first + 1) BINS(first + 2) BINS(first + 3)

// The lookup table. range: high - low;  distance: r - low;  bin: counted from the least urgent one.
control ExponentialBin(in bit<32> range, in bit<32> distance, out bit<16> bin) {
    action set_bin(bit<16> down) {
        bin = down;
    }
    table bins {
        key = { range: ternary; distance: ternary; }
        actions = { set_bin; }
        const default_action = set_bin(7);
        const entries = {
            BIN(0, 0)
            BINS_TO_1(1)
            BINS_TO_1(2) BIN(2, 2)
            BINS_TO_3(3)
            BINS_TO_3(4) BIN(4, 4)
            BINS_TO_3(5) BIN(5, 4) BIN(5, 5)
            BINS(6)
            BINS(7)
            BINS_OF_4(8)
            BINS_OF_4(12)
            BINS_OF_4(16)
            BINS_OF_4(20)
            BINS_OF_4(24)
            BINS_OF_4(28)
        }
        size = 256;
    }
    apply {
        bins.apply();
    }
}
