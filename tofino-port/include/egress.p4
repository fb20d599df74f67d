// Egress of every program with ranks. FDPA has no ranks: its egress is LeaveQueue alone.

control RankedEgress(inout egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
                     in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                     inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                     inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    LeaveQueue() leave;
#ifdef WORKER_PACKETS
    WorkerEgress() worker;
#endif

    apply {
#ifdef WORKER_PACKETS
        worker.apply(hdr, meta, eg_intr_md);
        if (!hdr.worker.isValid()) {
            leave.apply(hdr, meta, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
        }
#else
        leave.apply(hdr, meta, eg_intr_md, eg_prsr_md, eg_dprsr_md, eg_oport_md);
#endif
    }
}
