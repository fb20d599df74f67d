// Queue lengths carried from egress to ingress by recirculating worker packets (AIFO 4.4, figure 5), for hardware whose
// ingress cannot see the queues. Built with -D WORKER_PACKETS.
//
// Normal packets leave the length of their queue in a register at egress. A worker packet circulates through a port of
// its own; on each pass it reads one port's length at egress and writes it to a register at ingress, then turns to the
// next port. What ingress knows is therefore what the last packet to depart left behind, as old as a round of the
// workers. The controller starts a worker by packet-out (ports = how many it visits, port = 0); it then circulates for
// ever. The rate of the recirculation port sets how fast.

// No link is behind it.
const bit<9> RECIRCULATION_PORT = 510;
// `instance_type` of a recirculated packet (BMv2, docs/simple_switch.md).
const bit<32> RECIRCULATED = 4;

register<bit<32>>(MAX_PORTS) queue_length_egress;
register<bit<32>>(MAX_PORTS) queue_length_ingress;

// At ingress: take note of the length, and turn to the next of the ports 0 .. ports - 1. A worker that a host sends is
// dropped.
control WorkerIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        meta.discard = true;
        if (standard_metadata.instance_type == RECIRCULATED) {
            queue_length_ingress.write((bit<32>) hdr.worker.port, hdr.worker.queue_length);
            hdr.worker.port = hdr.worker.port + 1;
            if (hdr.worker.port >= hdr.worker.ports) {
                hdr.worker.port = 0;
            }
            standard_metadata.egress_spec = RECIRCULATION_PORT;
        } else if (standard_metadata.ingress_port == CPU_PORT) {
            standard_metadata.egress_spec = RECIRCULATION_PORT;
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

control WorkerEgress(inout headers_t hdr, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.worker.isValid()) {
            queue_length_egress.read(hdr.worker.queue_length, (bit<32>) hdr.worker.port);
            recirculate_preserving_field_list(0);
        } else {
            queue_length_egress.write((bit<32>) standard_metadata.egress_port, (bit<32>) standard_metadata.deq_qdepth);
        }
    }
}
