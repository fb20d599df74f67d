// Queue lengths for a Tofino 2: the ghost thread tells ingress (PACKS 5).
//
// The traffic manager reports the length of a queue when a packet enters or leaves it. The ghost thread runs in the pipeline
// of ingress and writes the length into a register that ingress reads. With PORT_LENGTHS it also keeps the sum of each port:
// what a queue has now, minus what it had at its last report.

// A register that ingress and the ghost thread use is two on the chip, which take turns: the thread writes the one that its
// ping_pong bit names, ingress reads the other. The compiler makes two of it. A register that the thread alone uses stays one,
// so the lengths behind the sums are kept for each ping_pong bit here.

// Packets in the queue of each (port, priority). The traffic manager's number of a queue has 11 bits: the lower 8 bits of the port
// and 3 bits of priority.
#ifdef PORT_LENGTHS
// Cell: ping_pong, number of the queue.
Register<bit<32>, bit<12>>(4096) queue_depths;
// Packets in all queues of each port.
Register<bit<32>, bit<8>>(256) port_depths;
#else
Register<bit<32>, bit<11>>(2048) queue_depths;
#endif

control QueueLengths(in ghost_intrinsic_metadata_t gh_intr_md) {
    bit<32> length;
#ifdef PORT_LENGTHS
    bit<32> before;
    bit<32> change;

    RegisterAction<bit<32>, bit<12>, bit<32>>(queue_depths) swap = {
        void apply(inout bit<32> value, out bit<32> previous) {
            previous = value;
            value = length;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(port_depths) add_change = {
        void apply(inout bit<32> value) {
            value = value + change;
        }
    };
#else
    RegisterAction<bit<32>, bit<11>, bit<32>>(queue_depths) keep = {
        void apply(inout bit<32> value) {
            value = length;
        }
    };
#endif

    apply {
        length = (bit<32>) gh_intr_md.qlength;
#ifdef PORT_LENGTHS
        before = swap.execute(gh_intr_md.ping_pong ++ gh_intr_md.qid);
        change = length - before;
        add_change.execute(gh_intr_md.qid[10:3]);
#else
        keep.execute(gh_intr_md.qid);
#endif
    }
}

#ifdef PORT_LENGTHS
// Ingress. length: of all queues of the port together, in packets, before the packet at hand.
control ReadPortLength(in bit<9> port, out bit<32> length) {
    RegisterAction<bit<32>, bit<8>, bit<32>>(port_depths) read = {
        void apply(inout bit<32> value, out bit<32> now) {
            now = value;
        }
    };

    apply {
        length = read.execute(port[7:0]);
    }
}
#endif

#ifndef PORT_LENGTHS
// Ingress. length: of the packet's queue, in packets, before the packet at hand.
control ReadLength(in metadata_t meta, out bit<32> length) {
    RegisterAction<bit<32>, bit<11>, bit<32>>(queue_depths) read = {
        void apply(inout bit<32> value, out bit<32> now) {
            now = value;
        }
    };

    apply {
        length = read.execute(meta.queue[10:0]);
    }
}
#endif
