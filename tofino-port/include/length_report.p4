// Queue lengths for a Tofino 1, whose ingress cannot see the queues: every departure reports.
//
// When a packet departs, egress mirrors a short piece of it to the recirculation port, with the length that the departure
// leaves behind in front. The report comes back to ingress, which writes the length into its register. So ingress knows the
// length as soon as the report is back, for every (port, priority). AIFO's authors use worker packets instead (worker.p4).
//
// Two ways to use it. A packet has one access to the register, before the rule decides.
//   ReadLength     (AIFO) what the last departure left behind. Too short by what was admitted since then.
//   CountArrival   (FIFO, RIFO) ingress adds 1 for each arrival, also one that is then refused, up to the size of the queue. Too
//                  long by what was refused since the last departure. The program itself drops at a full queue, because
//                  the register is never below the length, but for what comes while a report is on its way. The next
//                  departure puts it right.
//
// The next report makes good one that is lost. But if all reports are lost that follow a full queue (AIFO: a queue longer than C),
// ingress takes an empty queue for full, and no departure tells otherwise. The recirculation port must have room for a report of
// each departure.
//
// The controller sets up the mirror session: RECIRCULATION_PORT_TNA, cut to LENGTH_REPORT_BYTES.

// Packets in the queue of each (port, priority), as far as ingress knows.
Register<bit<32>, bit<12>>(MAX_QUEUES) queue_depths;

#define BRINGS_LENGTH hdr.length_report.isValid()

// Ingress: the report is read, and ends here.
control TakeLength(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    RegisterAction<bit<32>, bit<12>, bit<32>>(queue_depths) put_right = {
        void apply(inout bit<32> value) {
            value = hdr.length_report.length;
        }
    };

    // All accesses to a register take their index from the same field.
    action choose_queue() {
        meta.queue = hdr.length_report.queue[11:0];
    }
    apply {
        choose_queue();
        put_right.execute(meta.queue);
        ig_dprsr_md.drop_ctl = 1;
    }
}

// Egress: a frame that departs has a report made of what it leaves behind.
control MakeLengthReport(in egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md,
                         inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        if (hdr.bridge.isValid()) {
            meta.report_kind = KIND_LENGTH_REPORT;
            meta.report_queue[15:12] = 0;
            meta.report_queue[11:3] = eg_intr_md.egress_port;
            meta.report_queue[2:0] = eg_intr_md.egress_qid[2:0];
            meta.length = (bit<32>) eg_intr_md.deq_qdepth;
            meta.report_session = LENGTH_REPORT_SESSION;
            eg_dprsr_md.mirror_type = MIRROR_LENGTH_REPORT;
        }
    }
}

// Ingress, for other packets. length: of the packet's queue, in packets, as the last departure left it behind.
control ReadLength(in metadata_t meta, out bit<32> length) {
    RegisterAction<bit<32>, bit<12>, bit<32>>(queue_depths) read = {
        void apply(inout bit<32> value, out bit<32> now) {
            now = value;
        }
    };

    apply {
        length = read.execute(meta.queue);
    }
}

// The same, with the arrivals since then.  size: of the queue, up to which arrivals are counted.
control CountArrival(in metadata_t meta, in bit<32> size, out bit<32> length) {
    RegisterAction<bit<32>, bit<12>, bit<32>>(queue_depths) count = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            if (value < size) {
                value = value + 1;
            }
        }
    };

    apply {
        length = count.execute(meta.queue);
    }
}
