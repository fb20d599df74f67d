// Start-time fair queueing (Goyal et al., SIGCOMM 1996): the rank of a packet is its virtual start time.
//
//   v: virtual time of the port, the start time of the packet that left last
//   F: virtual finish time of the flow's last admitted packet
//   start = max(v, F);  finish = start + length / weight;  F = finish if the packet is admitted

#include "weighted.p4"

// Bytes; 64 bits never wrap.
register<bit<64>>(MAX_PORTS) virtual_time;
register<bit<64>>(MAX_FLOWS) finish_times;

// Ranks count steps of 256 bytes, so that 32 bits last for a terabyte of each flow.
control StartTime(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    bit<64> finish;

    apply {
        hash(meta.flow, HashAlgorithm.crc32, 32w0, { FIVE_TUPLE }, (bit<32>) MAX_FLOWS);
        virtual_time.read(meta.start_time, (bit<32>) standard_metadata.egress_spec);
        finish_times.read(finish, meta.flow);
        if (finish > meta.start_time) {
            meta.start_time = finish;
        }
        meta.rank = meta.start_time[39:8];
        if (meta.start_time[63:40] != 0) {
            meta.rank = 0xffffffff;
        }
        meta.charge_flow = 1;
        meta.finish_time = meta.start_time + (bit<64>) weighted(standard_metadata.packet_length, meta.scale);
    }
}

// Charges an admitted packet to its flow. A dropped packet costs its flow nothing: AIFO 2.1 leaves this open.
control ChargeFlow(in metadata_t meta) {
    apply {
        if (meta.charge_flow == 1 && !meta.discard) {
            finish_times.write(meta.flow, meta.finish_time);
        }
    }
}

// Egress: the port's virtual time follows the packets that leave.
control AdvanceTime(in metadata_t meta, in standard_metadata_t standard_metadata) {
    apply {
        if (meta.charge_flow == 1) {
            virtual_time.write((bit<32>) standard_metadata.egress_port, meta.start_time);
        }
    }
}
