// What every program of the lab has: the order of a packet's way through the switch.
//
// How ingress learns the lengths of the queues is chosen before this file is included:
//   GHOST_THREAD     Tofino 2: the ghost thread (ghost.p4)
//   LENGTH_REPORTS   Tofino 1: every departure reports (length_report.p4)
//   WORKER_PACKETS   Tofino 1, by -D: worker packets (worker.p4) instead of reports, in programs with TAKES_WORKERS
//   none of them     the program does not know the lengths
// PORT_LENGTHS: the ghost thread also keeps the sum of each port's lengths (PACKS).
// RESUBMIT_PUSH_DOWN: a packet may come back once, with what SP-PIFO's bounds fall by (push_down.p4).

#ifdef WORKER_PACKETS
#undef LENGTH_REPORTS
#endif

#include "../../p4/shared/constants.p4"
#include "target.p4"
#include "../../p4/shared/headers.p4"
#include "../../p4/shared/histogram.p4"
#include "../../p4/shared/metadata.p4"
#include "../../p4/shared/verdict.p4"
#include "parser.p4"
#ifdef WORKER_PACKETS
#include "worker.p4"
#endif
#ifdef LENGTH_REPORTS
#include "length_report.p4"
#endif
#ifdef GHOST_THREAD
#include "ghost.p4"
#endif
#include "forwarding.p4"
#include "users.p4"
#include "queue_length.p4"
