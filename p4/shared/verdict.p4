// What is decided on a packet.

const bit<2> ADMITTED = 0;
// By the rule of the paper.
const bit<2> REFUSED = 1;
// The rule admits the packet, but its queue is full.
const bit<2> FULL = 2;

// Tail drop. length, size: of the packet's queue, in packets. A size of 0 leaves the tail drop to the queue itself.
control TailDrop(in bit<32> length, in bit<16> size, inout bit<2> verdict) {
    apply {
        if (verdict == ADMITTED && size != 0 && length >= (bit<32>) size) {
            verdict = FULL;
        }
    }
}
