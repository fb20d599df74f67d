// Where a packet's rank comes from, chosen for each egress port while the switch runs.
#ifndef P4SCHED_RANK_P4
#define P4SCHED_RANK_P4

const bit<8> RANK_STATIC = 0;
const bit<8> RANK_HEADER = 1;
const bit<8> RANK_TOS = 2;
const bit<8> RANK_STFQ = 3;

// Virtual time of each port for STFQ: the start time of the packet that left last. Bytes; 64 bits never wrap.
register<bit<64>>(MAX_PORTS) virtual_time;
// Virtual finish time of each flow's last admitted packet for STFQ.
register<bit<64>>(MAX_FLOWS) finish_times;

// Start-time fair queueing (Goyal et al., SIGCOMM 1996): a packet's rank is its virtual start time. Ranks count
// steps of 256 bytes, so that 32 bits last for a terabyte of each flow.
control StartTime(in headers_t hdr, inout metadata_t meta, in standard_metadata_t standard_metadata) {
    bit<64> finish;

    apply {
        hash(meta.flow, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, meta.l4_dst_port },
             (bit<32>) MAX_FLOWS);
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
        meta.finish_time = meta.start_time + (bit<64>) ((standard_metadata.packet_length * (bit<32>) meta.scale) >> 8);
    }
}

// Charges an admitted packet to its flow. A dropped one costs it nothing: a choice made here, AIFO 2.1 does not say.
control ChargeFlow(in metadata_t meta) {
    apply {
        if (meta.charge_flow == 1 && !meta.discard) {
            finish_times.write(meta.flow, meta.finish_time);
        }
    }
}

// At egress: the port's virtual time follows the packets that leave.
control AdvanceTime(in metadata_t meta, in standard_metadata_t standard_metadata) {
    apply {
        if (meta.charge_flow == 1) {
            virtual_time.write((bit<32>) standard_metadata.egress_port, meta.start_time);
        }
    }
}

control Rank(in headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    StartTime() start_time;
    counter(HISTOGRAM_CELLS, CounterType.packets_and_bytes) rank_histogram;
    bit<8> source = RANK_STATIC;

    // source: RANK_STATIC, RANK_HEADER, RANK_TOS or RANK_STFQ.
    @action_restriction("rank_source <= 3")
    action set_rank_source(bit<8> rank_source) {
        source = rank_source;
    }
    table rank_sources {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_rank_source; }
        default_action = set_rank_source(RANK_STATIC);
        size = MAX_PORTS;
    }
    action set_rank(bit<32> rank) {
        meta.rank = rank;
    }
    // Rank of a flow, by any part of its 5-tuple.
    table flow_ranks {
        key = {
            hdr.ipv4.src_addr: ternary;
            hdr.ipv4.dst_addr: ternary;
            hdr.ipv4.protocol: ternary;
            meta.l4_src_port: ternary;
            meta.l4_dst_port: ternary;
        }
        actions = { set_rank; }
        default_action = set_rank(0);
        size = 1024;
    }
    action count_rank(bit<6> bucket) {
        rank_histogram.count((bit<32>) (standard_metadata.egress_spec ++ bucket));
    }
    table rank_buckets {
        key = { meta.rank: lpm; }
        actions = { count_rank; }
        default_action = count_rank(0);
        const entries = {
            0x80000000 &&& 0x80000000: count_rank(32);
            0x40000000 &&& 0xc0000000: count_rank(31);
            0x20000000 &&& 0xe0000000: count_rank(30);
            0x10000000 &&& 0xf0000000: count_rank(29);
            0x08000000 &&& 0xf8000000: count_rank(28);
            0x04000000 &&& 0xfc000000: count_rank(27);
            0x02000000 &&& 0xfe000000: count_rank(26);
            0x01000000 &&& 0xff000000: count_rank(25);
            0x00800000 &&& 0xff800000: count_rank(24);
            0x00400000 &&& 0xffc00000: count_rank(23);
            0x00200000 &&& 0xffe00000: count_rank(22);
            0x00100000 &&& 0xfff00000: count_rank(21);
            0x00080000 &&& 0xfff80000: count_rank(20);
            0x00040000 &&& 0xfffc0000: count_rank(19);
            0x00020000 &&& 0xfffe0000: count_rank(18);
            0x00010000 &&& 0xffff0000: count_rank(17);
            0x00008000 &&& 0xffff8000: count_rank(16);
            0x00004000 &&& 0xffffc000: count_rank(15);
            0x00002000 &&& 0xffffe000: count_rank(14);
            0x00001000 &&& 0xfffff000: count_rank(13);
            0x00000800 &&& 0xfffff800: count_rank(12);
            0x00000400 &&& 0xfffffc00: count_rank(11);
            0x00000200 &&& 0xfffffe00: count_rank(10);
            0x00000100 &&& 0xffffff00: count_rank(9);
            0x00000080 &&& 0xffffff80: count_rank(8);
            0x00000040 &&& 0xffffffc0: count_rank(7);
            0x00000020 &&& 0xffffffe0: count_rank(6);
            0x00000010 &&& 0xfffffff0: count_rank(5);
            0x00000008 &&& 0xfffffff8: count_rank(4);
            0x00000004 &&& 0xfffffffc: count_rank(3);
            0x00000002 &&& 0xfffffffe: count_rank(2);
            0x00000001 &&& 0xffffffff: count_rank(1);
        }
    }
    apply {
        meta.rank = 0;
        meta.charge_flow = 0;
        rank_sources.apply();
        if (source == RANK_HEADER) {
            // Traffic that says nothing of its urgency is the least urgent.
            meta.rank = 0xffffffff;
            if (hdr.rank.isValid()) {
                meta.rank = hdr.rank.rank;
            }
        } else if (source == RANK_TOS) {
            meta.rank = (bit<32>) hdr.ipv4.tos;
        } else if (source == RANK_STFQ) {
            start_time.apply(hdr, meta, standard_metadata);
        } else {
            flow_ranks.apply();
        }
        rank_buckets.apply();
    }
}

#endif
