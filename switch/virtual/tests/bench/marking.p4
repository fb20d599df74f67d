// A FIFO that marks: a packet that finds MARK_FROM packets in the queue says so (RFC 3168), if its ends can read it.
#include <core.p4>
#include <v1model.p4>

#include "../../../../p4/include/lab.p4"

#define MARK_FROM 20
#define ECN_BITS 3
#define NOT_CAPABLE 0

control MarkingIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
    }
}

control MarkingEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ipv4.isValid() && hdr.ipv4.tos & ECN_BITS != NOT_CAPABLE && standard_metadata.enq_qdepth >= MARK_FROM) {
            hdr.ipv4.tos = hdr.ipv4.tos | ECN_BITS;
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), MarkingIngress(), MarkingEgress(), LabComputeChecksum(), LabDeparser()) main;
