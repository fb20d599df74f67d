// SP-PIFO with a table of flowlets: a flow keeps its queue until it pauses, so its packets do not overtake each other.
//
//   cell:  one of 512 of the port, by a hash of the flow; it has the queue and the time of its last packet that was queued
//   a packet less than the gap after that time:  the queue of the cell, if that exists; no bound changes; tail drop
//   any other packet:                            the queue of SP-PIFO (include/sp_pifo_mapping.p4)
//   a packet that is queued:                     its queue and its time go into the cell
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/sp_pifo_mapping.p4"
#include "shared/bands.p4"

// Cells of each port, and of all ports.
#define FLOWLETS 512
#define ALL_FLOWLETS 262144
// Microseconds; they wrap.
register<bit<32>>(ALL_FLOWLETS) flowlet_last_queued;
// The number of the queue, 1 to 8; 0: no packet was queued yet.
register<bit<8>>(ALL_FLOWLETS) flowlet_queue;

// queue: of the flowlet that the packet continues; 0 if it continues none.
control ReadFlowlet(in headers_t hdr, in metadata_t meta, in bit<9> port, in bit<32> now, in bit<32> gap,
                    out bit<32> cell, out bit<8> queue) {
    bit<32> of_port;
    bit<32> last_queued;

    apply {
        hash(of_port, HashAlgorithm.crc32, 32w0, { FIVE_TUPLE }, (bit<32>) FLOWLETS);
        cell = (bit<32>) (port ++ of_port[8:0]);
        flowlet_last_queued.read(last_queued, cell);
        flowlet_queue.read(queue, cell);
        if (now - last_queued >= gap) {
            queue = 0;
        }
    }
}

control WriteFlowlet(in bit<32> cell, in bit<32> now, in bit<3> priority, in bit<2> verdict) {
    apply {
        if (verdict == ADMITTED) {
            flowlet_last_queued.write(cell, now);
            flowlet_queue.write(cell, 8 - (bit<8>) priority);
        }
    }
}

control SpPifoFlowletIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ReadFlowlet() read_flowlet;
    SelectQueue() select_queue;
    ReadLength() read_length;
    TailDrop() tail_drop;
    SpPifoMapping() mapping;
    WriteFlowlet() write_flowlet;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    queue_sizes_t sizes;
    bit<32> gap;

    bit<32> now;
    bit<32> cell;
    bit<8> queue;
    bit<16> size;
    bit<32> length;
    bit<2> verdict;

    //   size_1 .. size_8  queue sizes, packets; 0: there is no such queue. Queue i has priority 8 - i.
    //   gap_us            a flow keeps its queue until it pauses this long, microseconds; 0: never keeps it
    @action_restriction("size_1 != 0 || size_2 != 0 || size_3 != 0 || size_4 != 0 ||"
                        "size_5 != 0 || size_6 != 0 || size_7 != 0 || size_8 != 0")
    action set_sp_pifo_flowlet(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                               bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8,
                               bit<32> gap_us) {
        sizes = { size_1, size_2, size_3, size_4, size_5, size_6, size_7, size_8 };
        gap = gap_us;
    }
    // 8 queues of 10 packets (PACKS paper, section 6.1); the gap that is best in experiments/reordering.
    table sp_pifo_flowlet_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_sp_pifo_flowlet; }
        default_action = set_sp_pifo_flowlet(10, 10, 10, 10, 10, 10, 10, 10, 10000);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            sp_pifo_flowlet_params.apply();
            now = (bit<32>) standard_metadata.ingress_global_timestamp;
            read_flowlet.apply(hdr, meta, standard_metadata.egress_spec, now, gap, cell, queue);
            select_queue.apply(queue, sizes, standard_metadata.priority, size);
            if (queue != 0 && size != 0) {
                read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
                verdict = ADMITTED;
                tail_drop.apply(length, size, verdict);
            } else {
                mapping.apply(standard_metadata.egress_spec, meta.rank, sizes, length, standard_metadata.priority, verdict);
            }
            write_flowlet.apply(cell, now, standard_metadata.priority, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), SpPifoFlowletIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
