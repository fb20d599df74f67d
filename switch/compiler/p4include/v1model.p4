// The v1model architecture: parser, checksum verification, ingress, queues, egress, checksum update, deparser.
// Meanings are those of BMv2's simple_switch (its document simple_switch.md).
#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

// From version 20200408 on, indexes of externs have a type of their own.
#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif

match_kind {
    range,
    // A ternary match that is either exact or anything.
    optional,
    // Input of an action selector's hash.
    selector
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

@metadata @name("standard_metadata")
struct standard_metadata_t {
    // Where the packet came from.
    bit<9>  ingress_port;
    // Where it is to go; 511 drops it. Set in ingress.
    bit<9>  egress_spec;
    // Where it goes. Read in egress.
    bit<9>  egress_port;
    // 0 normal, 1 ingress clone, 2 egress clone, 4 recirculated, 5 multicast copy, 6 resubmitted.
    bit<32> instance_type;
    // Bytes.
    bit<32> packet_length;
    // Microseconds, and packets in the queue, when it was enqueued and dequeued. Read in egress.
    @alias("queueing_metadata.enq_timestamp")
    bit<32> enq_timestamp;
    @alias("queueing_metadata.enq_qdepth")
    bit<19> enq_qdepth;
    @alias("queueing_metadata.deq_timedelta")
    bit<32> deq_timedelta;
    @alias("queueing_metadata.deq_qdepth")
    bit<19> deq_qdepth;
    // Microseconds since the switch started.
    @alias("intrinsic_metadata.ingress_global_timestamp")
    bit<48> ingress_global_timestamp;
    @alias("intrinsic_metadata.egress_global_timestamp")
    bit<48> egress_global_timestamp;
    // Multicast group, 0 for none; set in ingress. And which replica a copy is.
    @alias("intrinsic_metadata.mcast_grp")
    bit<16> mcast_grp;
    @alias("intrinsic_metadata.egress_rid")
    bit<16> egress_rid;
    // 1 if a verify_checksum failed.
    bit<1>  checksum_error;
    error   parser_error;
    // Which of the port's queues; set in ingress.
    @alias("intrinsic_metadata.priority")
    bit<3>  priority;
}

enum HashAlgorithm { crc32, crc32_custom, crc16, crc16_custom, random, identity, csum16, xor16 }

enum CounterType { packets, bytes, packets_and_bytes }

enum MeterType { packets, bytes }

// An array of counters that the control plane reads.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// A counter in each entry of the table whose property `counters` names it.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

// An array of two-rate three-colour meters.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// A meter in each entry of the table whose property `meters` names it.
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

// An array of cells that packets read and write.
extern register
#if V1MODEL_VERSION >= 20200408
<T, I>
#else
<T>
#endif
{
    register(bit<32> size);
#if V1MODEL_VERSION >= 20200408
    void read(out T result, in I index);
    void write(in I index, in T value);
#else
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
#endif
}

// Actions shared by entries, for the table property `implementation`.
extern action_profile {
    action_profile(bit<32> size);
}

// An action profile whose groups choose a member by a hash of the key fields of kind selector.
extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// A random value, uniform from lo to hi.
extern void random<T>(out T result, in T lo, in T hi);

// Sends data to the control plane.
extern void digest<T>(in bit<32> receiver, in T data);

extern void mark_to_drop();
// Sets egress_spec to the drop port and mcast_grp to 0.
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// base + hash(data) mod max; base if max is 0.
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

enum CloneType { I2E, E2E }

// Sets checksum_error if the condition holds and the checksum of data is another.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
// Sets the checksum of data if the condition holds.
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
// The same over data and the packet's payload.
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// Copies the packet to the ports of a clone session. Metadata fields annotated @field_list(index) keep their values.
extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);
// Starts ingress anew with the packet as it came.
extern void resubmit_preserving_field_list(bit<8> index);
extern void resubmit<T>(in T data);
// Starts ingress anew with the packet as it leaves egress.
extern void recirculate_preserving_field_list(bit<8> index);
extern void recirculate<T>(in T data);

// Keeps this many bytes of the packet.
extern void truncate(in bit<32> length);

extern void assert(in bool check);
extern void assume(in bool check);

// Writes to the switch's log; {} stands for a value.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

parser Parser<H, M>(packet_in b, out H parsedHdr, inout M meta, inout standard_metadata_t standard_metadata);

control VerifyChecksum<H, M>(inout H hdr, inout M meta);

@pipeline
control Ingress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(inout H hdr, inout M meta, inout standard_metadata_t standard_metadata);

control ComputeChecksum<H, M>(inout H hdr, inout M meta);

@deparser
control Deparser<H>(packet_out b, in H hdr);

package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> vr, Ingress<H, M> ig, Egress<H, M> eg,
                       ComputeChecksum<H, M> ck, Deparser<H> dep);

#endif
