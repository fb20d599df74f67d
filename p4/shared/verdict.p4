// What is decided on a packet.

const bit<2> ADMITTED = 0;
// By the rule of the paper.
const bit<2> REFUSED = 1;
// The rule admits the packet, but its queue is full.
const bit<2> FULL = 2;
