// The sliding window of recent ranks, of which AIFO and PACKS take quantiles (AIFO 4.2 and 4.4, PACKS 5).
//
//   W: the last |W| ranks, in a circular array of |W| of the 32 cells;  S: sampling
//   every S-th rank replaces the oldest one, before the comparison;  every rank is compared
//   q: ranks in W that are strictly smaller than the packet's rank
//
// A cell holds the complement of a rank. A cell that was never written holds 0, so it stands for the largest rank and is
// smaller than no rank. A rank is smaller than r if its complement is larger than the complement of r.

// Number of windows. There is one for each port, unless a program defines another number before it includes this file.
#ifndef WINDOWS
#define WINDOWS MAX_PORTS
#endif

control WindowCell(in bit<32> place, in bit<32> inverse, in bit<8> number, in bit<8> window_size, in bit<8> written,
                   inout bit<8> smaller) {
    register<bit<32>>(WINDOWS) entry;
    bit<32> held;

    apply {
        if (number == written) {
            // An equal rank is not smaller.
            entry.write(place, inverse);
        } else if (number < window_size) {
            entry.read(held, place);
            if (held > inverse) {
                smaller = smaller + 1;
            }
        }
    }
}

// place: number of the window, below WINDOWS;  window_size: |W|;  sample_every: S;  smaller: q.
control Window(in bit<32> place, in bit<32> rank, in bit<8> window_size, in bit<32> sample_every, out bit<8> smaller) {
    register<bit<32>>(WINDOWS) unwritten;
    register<bit<8>>(WINDOWS) oldest;
    WindowCell() cell_0;
    WindowCell() cell_1;
    WindowCell() cell_2;
    WindowCell() cell_3;
    WindowCell() cell_4;
    WindowCell() cell_5;
    WindowCell() cell_6;
    WindowCell() cell_7;
    WindowCell() cell_8;
    WindowCell() cell_9;
    WindowCell() cell_10;
    WindowCell() cell_11;
    WindowCell() cell_12;
    WindowCell() cell_13;
    WindowCell() cell_14;
    WindowCell() cell_15;
    WindowCell() cell_16;
    WindowCell() cell_17;
    WindowCell() cell_18;
    WindowCell() cell_19;
    WindowCell() cell_20;
    WindowCell() cell_21;
    WindowCell() cell_22;
    WindowCell() cell_23;
    WindowCell() cell_24;
    WindowCell() cell_25;
    WindowCell() cell_26;
    WindowCell() cell_27;
    WindowCell() cell_28;
    WindowCell() cell_29;
    WindowCell() cell_30;
    WindowCell() cell_31;
    bit<32> inverse;
    bit<32> count;
    bit<8> next;
    bit<8> written;

    apply {
        inverse = ~rank;
        smaller = 0;
        // No cell has this number.
        written = 0xff;
        unwritten.read(count, place);
        count = count + 1;
        if (count >= sample_every) {
            count = 0;
            oldest.read(next, place);
            if (next >= window_size) {
                next = 0;
            }
            written = next;
            next = next + 1;
            if (next >= window_size) {
                next = 0;
            }
            oldest.write(place, next);
        }
        unwritten.write(place, count);
        cell_0.apply(place, inverse, 0, window_size, written, smaller);
        cell_1.apply(place, inverse, 1, window_size, written, smaller);
        cell_2.apply(place, inverse, 2, window_size, written, smaller);
        cell_3.apply(place, inverse, 3, window_size, written, smaller);
        cell_4.apply(place, inverse, 4, window_size, written, smaller);
        cell_5.apply(place, inverse, 5, window_size, written, smaller);
        cell_6.apply(place, inverse, 6, window_size, written, smaller);
        cell_7.apply(place, inverse, 7, window_size, written, smaller);
        cell_8.apply(place, inverse, 8, window_size, written, smaller);
        cell_9.apply(place, inverse, 9, window_size, written, smaller);
        cell_10.apply(place, inverse, 10, window_size, written, smaller);
        cell_11.apply(place, inverse, 11, window_size, written, smaller);
        cell_12.apply(place, inverse, 12, window_size, written, smaller);
        cell_13.apply(place, inverse, 13, window_size, written, smaller);
        cell_14.apply(place, inverse, 14, window_size, written, smaller);
        cell_15.apply(place, inverse, 15, window_size, written, smaller);
        cell_16.apply(place, inverse, 16, window_size, written, smaller);
        cell_17.apply(place, inverse, 17, window_size, written, smaller);
        cell_18.apply(place, inverse, 18, window_size, written, smaller);
        cell_19.apply(place, inverse, 19, window_size, written, smaller);
        cell_20.apply(place, inverse, 20, window_size, written, smaller);
        cell_21.apply(place, inverse, 21, window_size, written, smaller);
        cell_22.apply(place, inverse, 22, window_size, written, smaller);
        cell_23.apply(place, inverse, 23, window_size, written, smaller);
        cell_24.apply(place, inverse, 24, window_size, written, smaller);
        cell_25.apply(place, inverse, 25, window_size, written, smaller);
        cell_26.apply(place, inverse, 26, window_size, written, smaller);
        cell_27.apply(place, inverse, 27, window_size, written, smaller);
        cell_28.apply(place, inverse, 28, window_size, written, smaller);
        cell_29.apply(place, inverse, 29, window_size, written, smaller);
        cell_30.apply(place, inverse, 30, window_size, written, smaller);
        cell_31.apply(place, inverse, 31, window_size, written, smaller);
    }
}
