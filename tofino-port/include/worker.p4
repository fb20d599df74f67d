// Queue lengths carried from egress to ingress by recirculating worker packets (AIFO 4.4, figure 5), for a Tofino 1, whose
// ingress cannot see the queues. Built with -D WORKER_PACKETS.
//
// At egress, a normal packet writes the length of its queue into a register. A worker packet recirculates through a port
// of its own. On each pass it reads the length of one port at egress and writes it into a register at ingress; on the next
// pass it does so for the next port. So ingress knows the length that the last departing packet left behind, and this length
// is as old as one round of the worker. The controller starts a worker by packet-out (ports: how many it visits; port: 0).
// The worker then recirculates for ever.

Register<bit<32>, bit<9>>(MAX_PORTS) queue_length_egress;
Register<bit<32>, bit<9>>(MAX_PORTS) queue_length_ingress;

#define BRINGS_LENGTH hdr.worker.isValid()

// Ingress: keeps the length that the worker brought and names the next of the ports 0 .. ports - 1. A worker that a host
// sends is dropped.
control TakeLength(inout headers_t hdr, in metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    RegisterAction<bit<32>, bit<9>, bit<32>>(queue_length_ingress) keep = {
        void apply(inout bit<32> value) {
            value = hdr.worker.queue_length;
        }
    };

    action send_round() {
        ig_tm_md.ucast_egress_port = RECIRCULATION_PORT_TNA;
        hdr.bridge.setValid();
        hdr.bridge.kind = KIND_WORKER;
        hdr.bridge.user = 0;
    }
    apply {
        if (ig_intr_md.ingress_port == RECIRCULATION_PORT_TNA) {
            keep.execute(hdr.worker.port[8:0]);
            hdr.worker.port = hdr.worker.port + 1;
            if (hdr.worker.port == hdr.worker.ports) {
                hdr.worker.port = 0;
            }
            send_round();
        } else if (ig_intr_md.ingress_port == CPU_PORT) {
            send_round();
        } else {
            ig_dprsr_md.drop_ctl = 1;
        }
    }
}

// Egress: a worker takes the length with it, a normal packet leaves the length behind.
control WorkerEgress(inout egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t eg_intr_md) {
    RegisterAction<bit<32>, bit<9>, bit<32>>(queue_length_egress) take = {
        void apply(inout bit<32> value, out bit<32> length) {
            length = value;
        }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(queue_length_egress) leave_behind = {
        void apply(inout bit<32> value) {
            value = meta.length;
        }
    };

    apply {
        meta.length = (bit<32>) eg_intr_md.deq_qdepth;
        if (hdr.worker.isValid()) {
            hdr.worker.queue_length = take.execute(hdr.worker.port[8:0]);
        } else {
            leave_behind.execute(eg_intr_md.egress_port);
        }
    }
}

// Ingress, for other packets. length: of the packet's port, in packets, as the worker brought it.
control ReadLength(in metadata_t meta, out bit<32> length) {
    RegisterAction<bit<32>, bit<9>, bit<32>>(queue_length_ingress) read = {
        void apply(inout bit<32> value, out bit<32> now) {
            now = value;
        }
    };

    apply {
        length = read.execute(meta.queue[11:3]);
    }
}
