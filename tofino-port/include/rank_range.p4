// The range of recent ranks, on which RIFO places a packet (RIFO, section III-B).
//
//   Min, Max: smallest and largest rank since the range began;  T: tracking range
//   after T arrivals, the next arrival begins a new range:  Min = Max = r
//
// The cell of Min holds its complement, so that one addition gives Max - Min - 1: Max + ~Min.

// inverse_rank: ~r;  not_lowest: ~Min;  highest: Max, both with the packet's own rank;  tracking_range: T.
control RankRange(in bit<9> port, in bit<32> rank, in bit<32> inverse_rank, in bit<32> tracking_range,
                  out bit<32> not_lowest, out bit<32> highest) {
    Register<bit<32>, bit<9>>(MAX_PORTS) min_rank;
    Register<bit<32>, bit<9>>(MAX_PORTS) max_rank;
    // Arrivals in this range so far; 0 before its first.
    Register<bit<32>, bit<9>>(MAX_PORTS) arrivals;
    bit<32> last;
    bit<32> count;

    RegisterAction<bit<32>, bit<9>, bit<32>>(arrivals) count_arrival = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if (value >= last) {
                value = 0;
            } else {
                value = value + 1;
            }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(min_rank) begin_min = {
        void apply(inout bit<32> value, out bit<32> now) {
            value = inverse_rank;
            now = value;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(min_rank) track_min = {
        void apply(inout bit<32> value, out bit<32> now) {
            if (value < inverse_rank) {
                value = inverse_rank;
            }
            now = value;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(max_rank) begin_max = {
        void apply(inout bit<32> value, out bit<32> now) {
            value = rank;
            now = value;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(max_rank) track_max = {
        void apply(inout bit<32> value, out bit<32> now) {
            if (value < rank) {
                value = rank;
            }
            now = value;
        }
    };

    apply {
        last = tracking_range - 1;
        count = count_arrival.execute(port);
        if (count == 0) {
            not_lowest = begin_min.execute(port);
            highest = begin_max.execute(port);
        } else {
            not_lowest = track_min.execute(port);
            highest = track_max.execute(port);
        }
    }
}
