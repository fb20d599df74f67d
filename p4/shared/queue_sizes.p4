// The sizes of the strict-priority queues of a port, packets. Queue i has priority 8 - i.
#ifndef QUEUE_SIZES
#define QUEUE_SIZES
struct queue_sizes_t {
    bit<16> size_1;
    bit<16> size_2;
    bit<16> size_3;
    bit<16> size_4;
    bit<16> size_5;
    bit<16> size_6;
    bit<16> size_7;
    bit<16> size_8;
}
#endif
