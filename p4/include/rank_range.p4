// The range of recent ranks, on which RIFO places a packet (RIFO, section III-B).
//
//   Min, Max: smallest and largest rank since the range began;  T: tracking range
//   after T arrivals, the next arrival begins a new range:  Min = Max = r

// Number of ranges. There is one for each port, unless a program defines another number before it includes this file.
#ifndef RANGES
#define RANGES MAX_PORTS
#endif

// place: number of the range, below RANGES;  lowest: Min;  highest: Max, both with the packet's own rank;
// tracking_range: T.
control RankRange(in bit<32> place, in bit<32> rank, in bit<32> tracking_range, out bit<32> lowest, out bit<32> highest) {
    register<bit<32>>(RANGES) min_rank;
    register<bit<32>>(RANGES) max_rank;
    // Arrivals in this range so far; 0 before its first.
    register<bit<32>>(RANGES) arrivals;
    bit<32> count;

    apply {
        arrivals.read(count, place);
        min_rank.read(lowest, place);
        max_rank.read(highest, place);
        if (count == 0) {
            lowest = rank;
            highest = rank;
        } else {
            if (rank < lowest) {
                lowest = rank;
            }
            if (rank > highest) {
                highest = rank;
            }
        }
        count = count + 1;
        if (count >= tracking_range) {
            count = 0;
        }
        arrivals.write(place, count);
        min_rank.write(place, lowest);
        max_rank.write(place, highest);
    }
}
