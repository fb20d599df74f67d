// Egress of every program with ranks. FDPA has no ranks: its egress is LeaveQueue alone.

control RankedEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
#ifdef WORKER_PACKETS
    WorkerEgress() worker;
#endif

    apply {
#ifdef WORKER_PACKETS
        worker.apply(hdr, standard_metadata);
        if (hdr.worker.isValid()) {
            return;
        }
#endif
        leave.apply(hdr, meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}
