// Egress of the rules alone: what ../include/egress.p4 has, without the counters of users.

control RuleEgress(inout egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
                   in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                   inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                   inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
#ifdef LENGTH_REPORTS
    MakeLengthReport() make_report;
#endif
#ifdef WORKER_PACKETS
    WorkerEgress() worker;
#endif

    apply {
#ifdef WORKER_PACKETS
        worker.apply(hdr, meta, eg_intr_md);
#endif
#ifdef LENGTH_REPORTS
        make_report.apply(hdr, meta, eg_intr_md, eg_dprsr_md);
#endif
    }
}
