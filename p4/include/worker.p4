// Queue lengths carried from egress to ingress by recirculating worker packets (AIFO 4.4, figure 5), for hardware whose
// ingress cannot see the queues. Built with -D WORKER_PACKETS.
//
// At egress, a normal packet writes the length of its queue into a register. A worker packet recirculates through a port
// of its own. On each pass it reads the length of one port at egress and writes it into a register at ingress; on the next
// pass it does so for the next port. So ingress knows the length that the last departing packet left behind, and this length
// is as old as one round of the worker. The controller starts a worker by packet-out (ports: how many it visits; port: 0).
// The worker then recirculates for ever. The rate of the recirculation port sets how fast.

// `instance_type` of a recirculated packet (BMv2, docs/simple_switch.md).
const bit<32> RECIRCULATED = 4;

register<bit<32>>(MAX_PORTS) queue_length_egress;
register<bit<32>>(MAX_PORTS) queue_length_ingress;

// Ingress: keeps the length that the worker brought and names the next of the ports 0 .. ports - 1. A worker that a host
// sends is dropped.
control WorkerIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        meta.discard = true;
        if (standard_metadata.instance_type == RECIRCULATED) {
            queue_length_ingress.write((bit<32>) hdr.worker.port, hdr.worker.queue_length);
            hdr.worker.port = hdr.worker.port + 1;
            if (hdr.worker.port >= hdr.worker.ports) {
                hdr.worker.port = 0;
            }
            standard_metadata.egress_spec = RECIRCULATION_PORT_V1MODEL;
        } else if (standard_metadata.ingress_port == CPU_PORT) {
            standard_metadata.egress_spec = RECIRCULATION_PORT_V1MODEL;
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

// Egress: a worker takes the length with it, a normal packet leaves the length behind.
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
