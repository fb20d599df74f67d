// The queue mapping of SP-PIFO on the chip.
//
//   n strict-priority queues, queue 1 the most urgent;  b_i: bound of queue i, 0 at the start;  r: the packet's rank
//   scan from queue n to queue 1:  take the first queue i with b_i <= r;  push-up: b_i = r
//   none (r < b_1), an inversion:  take queue 1;  b_1 = r;  the packet comes back once (resubmit), and in its second pass
//   every other bound falls by the old b_1 - r (push-down), but not below 0

#include "../../p4/shared/queue_sizes.p4"

struct bounds_t {
    bit<32> less_urgent;
    bit<32> more_urgent;
}

// The step of the scan for two queues, whose bounds lie in one cell. size_less, size_more: 0 if there is no such queue;
// less: priority of the less urgent one. In the second pass both bounds fall by `cost`.
//
// taken: 0 if neither queue took the packet, else the bound of the less urgent one afterwards.
// If only the more urgent queue is there, its own bound afterwards.
control SpPifoPair(in bit<9> port, in bit<32> rank, in bit<16> size_less, in bit<16> size_more, in bit<3> less,
                   in bit<1> second_pass, in bit<32> cost, inout bit<32> taken, inout bit<3> priority) {
    Register<bounds_t, bit<9>>(MAX_PORTS) bounds;

    RegisterAction<bounds_t, bit<9>, bit<32>>(bounds) scan_more = {
        void apply(inout bounds_t bound, out bit<32> afterwards) {
            afterwards = 0;
            // Task 1: the more urgent queue alone.
            if (bound.more_urgent <= rank) {
                bound.more_urgent = rank;
                afterwards = bound.more_urgent;
            }
        }
    };
    RegisterAction<bounds_t, bit<9>, bit<32>>(bounds) scan_both = {
        void apply(inout bounds_t bound, out bit<32> afterwards) {
            afterwards = 0;
            // Task 2: two bounds in one access.
            if (bound.less_urgent <= rank) {
                bound.less_urgent = rank;
                afterwards = bound.less_urgent;
            } else if (bound.more_urgent <= rank) {
                bound.more_urgent = rank;
                afterwards = bound.less_urgent;
            }
        }
    };
    RegisterAction<bounds_t, bit<9>, bit<32>>(bounds) lower_both = {
        void apply(inout bounds_t bound) {
            // Task 3: push-down of two bounds.
            bound.less_urgent = bound.less_urgent |-| cost;
            bound.more_urgent = bound.more_urgent |-| cost;
        }
    };
    action scan() {
        taken = scan_both.execute(port);
        priority = less;
    }
    action scan_only_more() {
        taken = scan_more.execute(port);
        priority = less + 1;
    }
    action lower() {
        lower_both.execute(port);
    }
    table step {
        key = {
            second_pass: exact;
            size_less: ternary;
            size_more: ternary;
        }
        actions = { scan; scan_only_more; lower; NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, _, _): lower();
            (0, 0, 0): NoAction();
            (0, 0, _): scan_only_more();
            (0, _, _): scan();
        }
    }
    apply {
        if (taken == 0) {
            step.apply();
        }
    }
}

// The step for queue 2. size: 0 if there is no such queue. taken: 0 if it did not take the packet, else its bound afterwards.
control SpPifoSecond(in bit<9> port, in bit<32> rank, in bit<16> size, in bit<1> second_pass, in bit<32> cost,
                     inout bit<32> taken, inout bit<3> priority) {
    Register<bit<32>, bit<9>>(MAX_PORTS) bound_2;

    RegisterAction<bit<32>, bit<9>, bit<32>>(bound_2) scan = {
        void apply(inout bit<32> bound, out bit<32> afterwards) {
            afterwards = 0;
            // Task 1: queue 2.
            if (bound <= rank) {
                bound = rank;
                afterwards = bound;
            }
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(bound_2) lower = {
        void apply(inout bit<32> bound) {
            // Task 3: push-down of queue 2.
            bound = bound |-| cost;
        }
    };
    apply {
        if (taken == 0) {
            if (second_pass == 1) {
                lower.execute(port);
            } else if (size != 0) {
                taken = scan.execute(port);
                priority = 6;
            }
        }
    }
}

// The end of the scan: queue 1 takes every packet that comes so far. cost: by how much the other bounds must fall.
control SpPifoFirst(in bit<9> port, in bit<32> rank, in bit<1> second_pass, in bit<32> taken, out bit<32> cost) {
    Register<bit<32>, bit<9>>(MAX_PORTS) bound_1;

    // Task 4: queue 1 in one access.
    RegisterAction<bit<32>, bit<9>, bit<32>>(bound_1) take = {
        void apply(inout bit<32> bound, out bit<32> excess) {
            excess = bound |-| rank;
            bound = rank;
        }
    };
    apply {
        cost = 0;
        if (taken == 0 && second_pass == 0) {
            cost = take.execute(port);
        }
    }
}

// sizes: 0 for a queue that is not there, and for all less urgent ones; queue 1 always is. fell_by: the cost that the second
// pass brings. cost: not 0 if the packet must come back.
control SpPifoMapping(in bit<9> port, in bit<32> rank, in queue_sizes_t sizes, in bit<1> second_pass, in bit<32> fell_by,
                      out bit<32> cost, out bit<3> priority) {
    SpPifoPair() queues_8_7;
    SpPifoPair() queues_6_5;
    SpPifoPair() queues_4_3;
    SpPifoSecond() queue_2;
    SpPifoFirst() queue_1;
    bit<32> taken;

    apply {
        taken = 0;
        priority = 0;
        queues_8_7.apply(port, rank, sizes.size_8, sizes.size_7, 0, second_pass, fell_by, taken, priority);
        queues_6_5.apply(port, rank, sizes.size_6, sizes.size_5, 2, second_pass, fell_by, taken, priority);
        queues_4_3.apply(port, rank, sizes.size_4, sizes.size_3, 4, second_pass, fell_by, taken, priority);
        queue_2.apply(port, rank, sizes.size_2, second_pass, fell_by, taken, priority);
        queue_1.apply(port, rank, second_pass, taken, cost);
        if (taken == 0) {
            priority = 7;
        } else {
            // Task 2: which queue of the pair took the packet?
            if (taken != rank) {
                priority = priority + 1;
            }
        }
    }
}
