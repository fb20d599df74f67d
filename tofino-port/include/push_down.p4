// What SP-PIFO's resubmitted packet brings into its second pass: 64 bits, all that the chip lets it carry.

header push_down_t {
    // What the bounds fall by.
    bit<32> cost;
    // The second pass does not ask again who sent the packet: it would be counted twice.
    bit<16> user;
    bit<16> scale;
}

const ResubmitType_t PUSH_DOWN = 1;
