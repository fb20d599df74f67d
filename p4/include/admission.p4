// What every ranked program counts about its decisions, for each (port, priority), and the depth it saw.
#ifndef P4SCHED_ADMISSION_P4
#define P4SCHED_ADMISSION_P4

const bit<2> ADMITTED = 0;
const bit<2> REFUSED = 1;
const bit<2> FULL = 2;

// Carries out a verdict on a packet for queue (egress_spec, priority): ADMITTED, REFUSED by the admission rule, or
// FULL. depth: the packets that the decision saw waiting.
control CarryOut(inout metadata_t meta, inout standard_metadata_t standard_metadata, in bit<2> verdict, in bit<32> depth) {
    counter(MAX_QUEUES, CounterType.packets_and_bytes) admitted;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) dropped_by_admission;
    counter(MAX_QUEUES, CounterType.packets_and_bytes) dropped_full;
    counter(HISTOGRAM_CELLS, CounterType.packets_and_bytes) depth_histogram;
    bit<32> queue;

    action count_depth(bit<6> bucket) {
        depth_histogram.count((bit<32>) (standard_metadata.egress_spec ++ bucket));
    }
    table depth_buckets {
        key = { depth: lpm; }
        actions = { count_depth; }
        default_action = count_depth(0);
        const entries = {
            0x80000000 &&& 0x80000000: count_depth(32);
            0x40000000 &&& 0xc0000000: count_depth(31);
            0x20000000 &&& 0xe0000000: count_depth(30);
            0x10000000 &&& 0xf0000000: count_depth(29);
            0x08000000 &&& 0xf8000000: count_depth(28);
            0x04000000 &&& 0xfc000000: count_depth(27);
            0x02000000 &&& 0xfe000000: count_depth(26);
            0x01000000 &&& 0xff000000: count_depth(25);
            0x00800000 &&& 0xff800000: count_depth(24);
            0x00400000 &&& 0xffc00000: count_depth(23);
            0x00200000 &&& 0xffe00000: count_depth(22);
            0x00100000 &&& 0xfff00000: count_depth(21);
            0x00080000 &&& 0xfff80000: count_depth(20);
            0x00040000 &&& 0xfffc0000: count_depth(19);
            0x00020000 &&& 0xfffe0000: count_depth(18);
            0x00010000 &&& 0xffff0000: count_depth(17);
            0x00008000 &&& 0xffff8000: count_depth(16);
            0x00004000 &&& 0xffffc000: count_depth(15);
            0x00002000 &&& 0xffffe000: count_depth(14);
            0x00001000 &&& 0xfffff000: count_depth(13);
            0x00000800 &&& 0xfffff800: count_depth(12);
            0x00000400 &&& 0xfffffc00: count_depth(11);
            0x00000200 &&& 0xfffffe00: count_depth(10);
            0x00000100 &&& 0xffffff00: count_depth(9);
            0x00000080 &&& 0xffffff80: count_depth(8);
            0x00000040 &&& 0xffffffc0: count_depth(7);
            0x00000020 &&& 0xffffffe0: count_depth(6);
            0x00000010 &&& 0xfffffff0: count_depth(5);
            0x00000008 &&& 0xfffffff8: count_depth(4);
            0x00000004 &&& 0xfffffffc: count_depth(3);
            0x00000002 &&& 0xfffffffe: count_depth(2);
            0x00000001 &&& 0xffffffff: count_depth(1);
        }
    }
    apply {
        queue = (bit<32>) (standard_metadata.egress_spec ++ standard_metadata.priority);
        depth_buckets.apply();
        if (verdict == ADMITTED) {
            bit<32> waiting;
            admitted.count(queue);
            queue_depths.read(waiting, queue);
            queue_depths.write(queue, waiting + 1);
        } else {
            if (verdict == REFUSED) {
                dropped_by_admission.count(queue);
            } else {
                dropped_full.count(queue);
            }
            meta.discard = true;
            mark_to_drop(standard_metadata);
        }
    }
}

#endif
