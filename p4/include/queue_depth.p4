// Queue depths known at ingress, and the counters of what was delivered.
//
// v1model shows a queue's depth at egress only. The portable way: ingress bumps the cell of (port, priority) when it
// admits a packet, egress sets it to the depth that the dequeued packet left behind. A traffic manager that honours
// @queue_depth keeps the cells exact by itself, as a ghost thread does on Tofino 2. Built with -D PORTABLE_DEPTH, no
// traffic manager does.
#ifndef P4SCHED_QUEUE_DEPTH_P4
#define P4SCHED_QUEUE_DEPTH_P4

#ifndef PORTABLE_DEPTH
@queue_depth
#endif
register<bit<32>>(MAX_QUEUES) queue_depths;

control LeaveQueue(in metadata_t meta, in standard_metadata_t standard_metadata) {
    counter(MAX_USERS, CounterType.packets_and_bytes) user_departures;

    apply {
        queue_depths.write((bit<32>) (standard_metadata.egress_port ++ standard_metadata.priority),
                           (bit<32>) standard_metadata.deq_qdepth);
        user_departures.count((bit<32>) meta.user);
    }
}

#endif
