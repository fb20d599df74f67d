// What `bytes` cost a user: bytes over the user's weight. scale: 256 / weight.
bit<32> weighted(in bit<32> bytes, in bit<16> scale) {
    return (bytes * (bit<32>) scale) >> 8;
}
