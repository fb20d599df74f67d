// Queue lengths at ingress, and how a packet enters and leaves its queue.
//
// v1model's programs read and write one register on both sides of the queue. Here, ingress and egress have registers of their
// own, and a packet has one access to each. ReadLength is in the file that brings the lengths to ingress (lab.p4).

// The cell of (port, priority).
control ChooseQueue(inout metadata_t meta, in bit<9> port, in bit<3> priority) {
    apply {
        meta.queue[11:3] = port;
        meta.queue[2:0] = priority;
    }
}

// Tail drop. length, size: of the packet's queue, in packets. A size of 0 leaves the tail drop to the queue itself.
control TailDrop(in bit<32> length, in bit<32> size, out bool full) {
    bit<32> room;

    // Saturating: 0 if the length is not smaller than the size. A condition does not compute, so an action does.
    action compare() {
        room = size |-| length;
    }
    apply {
        full = false;
        compare();
        if (size != 0 && room == 0) {
            full = true;
        }
    }
}

// Carries out a verdict: an admitted packet goes to its queue, any other is dropped.
control EnterQueue(inout headers_t hdr, inout metadata_t meta, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md, in bit<2> verdict) {
    action enter() {
        ig_tm_md.qid = (QueueId_t) meta.queue[2:0];
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_FRAME;
        hdr.bridge.user = meta.user;
    }
    action drop() {
        ig_dprsr_md.drop_ctl = 1;
    }
    apply {
        if (verdict == ADMITTED) {
            enter();
        } else {
            drop();
        }
    }
}

// Egress.
control LeaveQueue(inout egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
                   in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                   inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                   inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Counter<bit<64>, bit<12>>(MAX_USERS, CounterType_t.PACKETS_AND_BYTES) user_departures;
#ifdef LENGTH_REPORTS
    MakeLengthReport() make_report;
#endif

    apply {
        if (hdr.bridge.isValid()) {
            user_departures.count(hdr.bridge.user[11:0]);
        }
#ifdef LENGTH_REPORTS
        make_report.apply(hdr, meta, eg_intr_md, eg_dprsr_md);
#endif
    }
}
