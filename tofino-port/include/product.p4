// The product of two run-time values, which no ALU of the chip computes: one shifted copy for each bit of the factor, and
// three stages of additions. Exact.

control Product(in bit<8> factor, in bit<32> other, out bit<32> product) {
    bit<32> bit_0;
    bit<32> bit_1;
    bit<32> bit_2;
    bit<32> bit_3;
    bit<32> bit_4;
    bit<32> bit_5;
    bit<32> bit_6;
    bit<32> bit_7;

    apply {
        bit_0 = 0;
        bit_1 = 0;
        bit_2 = 0;
        bit_3 = 0;
        bit_4 = 0;
        bit_5 = 0;
        bit_6 = 0;
        bit_7 = 0;
        if (factor[0:0] == 1) { bit_0 = other; }
        if (factor[1:1] == 1) { bit_1 = other << 1; }
        if (factor[2:2] == 1) { bit_2 = other << 2; }
        if (factor[3:3] == 1) { bit_3 = other << 3; }
        if (factor[4:4] == 1) { bit_4 = other << 4; }
        if (factor[5:5] == 1) { bit_5 = other << 5; }
        if (factor[6:6] == 1) { bit_6 = other << 6; }
        if (factor[7:7] == 1) { bit_7 = other << 7; }
        bit_0 = bit_0 + bit_1;
        bit_2 = bit_2 + bit_3;
        bit_4 = bit_4 + bit_5;
        bit_6 = bit_6 + bit_7;
        bit_0 = bit_0 + bit_2;
        bit_4 = bit_4 + bit_6;
        product = bit_0 + bit_4;
    }
}
