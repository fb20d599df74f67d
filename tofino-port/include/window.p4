// The sliding window of recent ranks, of which AIFO and PACKS take quantiles (AIFO 4.2 and 4.4, PACKS 5).
//
//   W: the last |W| ranks, in a circular array of |W| of the 16 cells;  S: sampling
//   every S-th rank replaces the oldest one, before the comparison;  every rank is compared
//   q: ranks in W that are strictly smaller than the packet's rank
//
// A cell holds the complement of a rank. A cell that was never written holds 0, so it stands for the largest rank and is
// smaller than no rank. A rank is smaller than r if its complement is larger than the complement of r.
//
// Four cells are in one stage, with one stateful ALU each: it stores the rank, or it compares. Four more stages add up the
// bits, each one stage behind its cells.

// Cells that the program has registers for.
#define MAX_WINDOW 16

// The bit is in a byte of its own: the open compiler packs bits into one container, which is written once in a stage.
// The number that is written is at most |W|. One instruction stores or compares: of two instructions, the open compiler makes
// two tables, which it may put in two stages, each with a register of its own.
control WindowCell(in bit<9> port, in bit<32> inverse, in bit<32> window_size, in bit<32> written, inout bit<8> smaller)
                  (bit<32> number) {
    Register<bit<32>, bit<9>>(MAX_PORTS) entry;
    RegisterAction<bit<32>, bit<9>, bit<8>>(entry) store_or_compare = {
        void apply(inout bit<32> value, out bit<8> is_smaller) {
            is_smaller = 0;
            if (written == number) {
                // An equal rank is not smaller.
                value = inverse;
            } else if (value > inverse) {
                is_smaller = 1;
            }
        }
    };

    apply {
        if (window_size[7:0] >= number[7:0]) {
            smaller = store_or_compare.execute(port);
        }
    }
}

// Adds up the bits of one stage.
control CountSmaller(in bit<8> first, in bit<8> second, in bit<8> third, in bit<8> fourth, inout bit<8> smaller) {
    action add(bit<8> ones) {
        smaller = smaller + ones;
    }
    table ones {
        key = {
            first: exact;
            second: exact;
            third: exact;
            fourth: exact;
        }
        actions = { add; }
        const default_action = add(0);
        const entries = {
            (0, 0, 0, 1): add(1);
            (0, 0, 1, 0): add(1);
            (0, 1, 0, 0): add(1);
            (1, 0, 0, 0): add(1);
            (0, 0, 1, 1): add(2);
            (0, 1, 0, 1): add(2);
            (0, 1, 1, 0): add(2);
            (1, 0, 0, 1): add(2);
            (1, 0, 1, 0): add(2);
            (1, 1, 0, 0): add(2);
            (0, 1, 1, 1): add(3);
            (1, 0, 1, 1): add(3);
            (1, 1, 0, 1): add(3);
            (1, 1, 1, 0): add(3);
            (1, 1, 1, 1): add(4);
        }
        size = 16;
    }
    apply {
        ones.apply();
    }
}

struct tagger_t {
    // Arrivals since a rank was written.
    bit<32> unwritten;
    // Number of the cell that was written last, 1 .. |W|; 0 before the first one.
    bit<32> last;
}

// inverse: the complement of the packet's rank;  window_size: |W|;  sample_every: S;  smaller: q.
control Window(in bit<9> port, in bit<32> inverse, in bit<32> window_size, in bit<32> sample_every, out bit<8> smaller) {
    Register<tagger_t, bit<9>>(MAX_PORTS) tagger;
    // Which cell the packet's rank goes to; 0: none. v1model's programs start over as soon as the last cell is written; here
    // it is seen at the next write. The two differ only when |W| changes in between.
    RegisterAction<tagger_t, bit<9>, bit<32>>(tagger) tag = {
        void apply(inout tagger_t cell, out bit<32> number) {
            number = 0;
            if (cell.unwritten + 1 >= sample_every) {
                cell.unwritten = 0;
                if (cell.last >= window_size) {
                    cell.last = 1;
                } else {
                    cell.last = cell.last + 1;
                }
                number = cell.last;
            } else {
                cell.unwritten = cell.unwritten + 1;
            }
        }
    };
    WindowCell(1) cell_0;
    WindowCell(2) cell_1;
    WindowCell(3) cell_2;
    WindowCell(4) cell_3;
    WindowCell(5) cell_4;
    WindowCell(6) cell_5;
    WindowCell(7) cell_6;
    WindowCell(8) cell_7;
    WindowCell(9) cell_8;
    WindowCell(10) cell_9;
    WindowCell(11) cell_10;
    WindowCell(12) cell_11;
    WindowCell(13) cell_12;
    WindowCell(14) cell_13;
    WindowCell(15) cell_14;
    WindowCell(16) cell_15;
    CountSmaller() count_0;
    CountSmaller() count_4;
    CountSmaller() count_8;
    CountSmaller() count_12;
    bit<32> written;
    bit<8> smaller_0;
    bit<8> smaller_1;
    bit<8> smaller_2;
    bit<8> smaller_3;
    bit<8> smaller_4;
    bit<8> smaller_5;
    bit<8> smaller_6;
    bit<8> smaller_7;
    bit<8> smaller_8;
    bit<8> smaller_9;
    bit<8> smaller_10;
    bit<8> smaller_11;
    bit<8> smaller_12;
    bit<8> smaller_13;
    bit<8> smaller_14;
    bit<8> smaller_15;

    // Together, so that they take one table.
    action clear() {
        smaller = 0;
        smaller_0 = 0;
        smaller_1 = 0;
        smaller_2 = 0;
        smaller_3 = 0;
        smaller_4 = 0;
        smaller_5 = 0;
        smaller_6 = 0;
        smaller_7 = 0;
        smaller_8 = 0;
        smaller_9 = 0;
        smaller_10 = 0;
        smaller_11 = 0;
        smaller_12 = 0;
        smaller_13 = 0;
        smaller_14 = 0;
        smaller_15 = 0;
    }
    apply {
        clear();
        written = tag.execute(port);
        cell_0.apply(port, inverse, window_size, written, smaller_0);
        cell_1.apply(port, inverse, window_size, written, smaller_1);
        cell_2.apply(port, inverse, window_size, written, smaller_2);
        cell_3.apply(port, inverse, window_size, written, smaller_3);
        cell_4.apply(port, inverse, window_size, written, smaller_4);
        cell_5.apply(port, inverse, window_size, written, smaller_5);
        cell_6.apply(port, inverse, window_size, written, smaller_6);
        cell_7.apply(port, inverse, window_size, written, smaller_7);
        cell_8.apply(port, inverse, window_size, written, smaller_8);
        cell_9.apply(port, inverse, window_size, written, smaller_9);
        cell_10.apply(port, inverse, window_size, written, smaller_10);
        cell_11.apply(port, inverse, window_size, written, smaller_11);
        cell_12.apply(port, inverse, window_size, written, smaller_12);
        cell_13.apply(port, inverse, window_size, written, smaller_13);
        cell_14.apply(port, inverse, window_size, written, smaller_14);
        cell_15.apply(port, inverse, window_size, written, smaller_15);
        count_0.apply(smaller_0, smaller_1, smaller_2, smaller_3, smaller);
        count_4.apply(smaller_4, smaller_5, smaller_6, smaller_7, smaller);
        count_8.apply(smaller_8, smaller_9, smaller_10, smaller_11, smaller);
        count_12.apply(smaller_12, smaller_13, smaller_14, smaller_15, smaller);
    }
}
