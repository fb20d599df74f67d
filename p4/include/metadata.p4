// What the blocks of a program tell each other about a packet.
#ifndef P4SCHED_METADATA_P4
#define P4SCHED_METADATA_P4

struct metadata_t {
    // Who sent it: 0 when no entry classifies it.
    bit<16> user;
    // 256 / weight of the user: what a byte costs, in 1/256.
    bit<16> scale;
    // How urgent it is: the smaller, the more urgent.
    bit<32> rank;
    // STFQ only, in virtual bytes: the packet's start time, its flow's cell, and the flow's finish time if it is admitted.
    bit<1>  charge_flow;
    bit<32> flow;
    bit<64> start_time;
    bit<64> finish_time;
    // Zero for other protocols than TCP and UDP.
    bit<16> l4_src_port;
    bit<16> l4_dst_port;
    // No route, a dead TTL, or a full queue: nothing more is done for the packet.
    bool    discard;
}

#endif
