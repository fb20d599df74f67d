// What every program of the lab has: the order of a packet's way through the switch.

#include "../shared/constants.p4"
#include "../shared/headers.p4"
#include "../shared/histogram.p4"
#include "../shared/metadata.p4"
#include "../shared/verdict.p4"
#include "parser.p4"
#ifdef WORKER_PACKETS
#include "worker.p4"
#endif
#include "forwarding.p4"
#include "users.p4"
#include "queue_length.p4"
