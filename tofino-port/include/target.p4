// What a Tofino program has beside the headers and the metadata of p4/shared.
//
// A Tofino is two pipelines with the traffic manager between them. On v1model, the metadata of a packet goes from ingress to
// egress with it; here only bytes do. So ingress puts a header in front of the frame, and egress takes it off again.

// The first byte that egress sees says what comes.
const bit<8> KIND_FRAME = 0;
const bit<8> KIND_WORKER = 1;
const bit<8> KIND_LENGTH_REPORT = 2;

// In front of a frame between ingress and egress.
header bridge_t {
    bit<8>  kind;
    bit<16> user;
}

#ifdef LENGTH_REPORTS
// In front of what is left of a frame that departed (include/length_report.p4).
header length_report_t {
    bit<8>  kind;
    // Cell of (port, priority).
    bit<16> queue;
    // Packets that the departure left behind.
    bit<32> length;
}
#define TARGET_HEADERS \
    bridge_t bridge; \
    length_report_t length_report;
#elif defined(RESUBMIT_PUSH_DOWN)
#include "push_down.p4"
#define TARGET_HEADERS \
    bridge_t bridge; \
    push_down_t push_down;
#else
#define TARGET_HEADERS \
    bridge_t bridge;
#endif

// inverse_rank: the complement of the rank, for the window;  queue: cell of (port, priority) of the packet's queue;
// cost: of SP-PIFO's push-down.
#ifdef RESUBMIT_PUSH_DOWN
#define TARGET_METADATA \
    bool checksum_error; \
    bit<32> inverse_rank; \
    bit<12> queue; \
    bit<32> cost;
#else
#define TARGET_METADATA \
    bool checksum_error; \
    bit<32> inverse_rank; \
    bit<12> queue;
#endif
