// The core library of P4_16 (language specification v1.2.5, appendix D): what every program may use.
#ifndef _CORE_P4_
#define _CORE_P4_

error {
    NoError,
    PacketTooShort,
    NoMatch,
    StackOutOfBounds,
    HeaderTooShort,
    ParserTimeout,
    ParserInvalidArgument
}

// The packet that a parser reads.
extern packet_in {
    // Fills a header of fixed size and makes it valid.
    void extract<T>(out T hdr);
    // Fills a header whose varbit field has this many bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    // The next bits, without moving on.
    T lookahead<T>();
    // Moves on without reading.
    void advance(in bit<32> sizeInBits);
    // Bytes in the packet.
    bit<32> length();
}

// The packet that a deparser writes.
extern packet_out {
    // Appends a header if it is valid; of a struct, stack or union, each header in it.
    void emit<T>(in T hdr);
}

// In parsers: goes to state reject with the error if the check is false.
extern void verify(in bool check, in error toSignal);

@noWarn("unused")
action NoAction() {}

match_kind {
    exact,
    ternary,
    lpm
}

// A condition that must hold when compiling.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
