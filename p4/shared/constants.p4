// Sizes and well-known numbers that every program, on every target, agrees on.

const bit<16> ETHERTYPE_IPV4 = 0x0800;
// Packets from and to the controller.
const bit<9> CPU_PORT = 509;
// Ports whose packets return to ingress. On v1model, a port without a link: `recirculate` brings its packets back. On a
// Tofino, the port of pipe 0.
const bit<9> RECIRCULATION_PORT_V1MODEL = 510;
const bit<9> RECIRCULATION_PORT_TNA = 68;
const bit<9> RECIRCULATION_PORT_T2NA = 6;
// Tofino 1: P4Runtime's number of the clone session that sends length reports to that port, and the bytes of a report.
#define LENGTH_REPORT_SESSION 1
#define LENGTH_REPORT_BYTES 32
#ifdef WORKER_PACKETS
#ifndef TAKES_WORKERS
#error "this program is not written for worker packets; only aifo.p4 is"
#endif
// Local experimental Ethertype (IEEE 802).
const bit<16> ETHERTYPE_WORKER = 0x88b5;
#endif
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

// Users are 1 .. MAX_USERS - 1. User 0 is all traffic that no entry classifies: it has no rate and no share.
#define MAX_USERS 4096
#define MAX_PORTS 512
// One cell for each (port, priority).
#define MAX_QUEUES 4096
#define MAX_ROUTES 1024
// Buckets of every ECMP group, a power of two; and entries for all (group, bucket).
#define ECMP_BUCKETS 64
#define MAX_ECMP_PATHS 4096
// 64 cells for each port, of which shared/histogram.p4 uses 33.
#define HISTOGRAM_CELLS 32768
// Where the ranks of a port come from (include/rank.p4).
const bit<8> RANK_STATIC = 0;
const bit<8> RANK_HEADER = 1;
const bit<8> RANK_TOS = 2;
const bit<8> RANK_STFQ = 3;
// UDP datagrams to ports 5376 .. 5631 begin with a rank header.
const bit<16> RANK_PORT = 0x1500;
const bit<16> RANK_PORT_MASK = 0xff00;
// Flows share cells when their hashes collide.
#define MAX_FLOWS 65536
// Flowlets share cells when their hashes collide; then a flow may keep its band too long.
#define MAX_FLOWLETS 4096
