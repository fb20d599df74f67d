// What the architectures TNA (Tofino 1) and T2NA (Tofino 2) share: metadata between the chip and the program, and the
// externs. Names, widths and the order of fields are those of the public interface of the open compiler's Tofino back end.
// tna.p4 and t2na.p4 define the widths and include this file; a program includes one of those two.
#ifndef _TOFINO_P4_
#define _TOFINO_P4_

#include <core.p4>

#define PORT_ID_WIDTH 9
#define MULTICAST_GROUP_ID_WIDTH 16
#define RESUBMIT_TYPE_WIDTH 3
#define DIGEST_TYPE_WIDTH 3
#define REPLICATION_ID_WIDTH 16
#define L1_EXCLUSION_ID_WIDTH 16
#define L2_EXCLUSION_ID_WIDTH 9

// A port's number: two bits for the pipe, seven for the port of the pipe.
typedef bit<PORT_ID_WIDTH> PortId_t;
typedef bit<MULTICAST_GROUP_ID_WIDTH> MulticastGroupId_t;
typedef bit<QUEUE_ID_WIDTH> QueueId_t;
typedef bit<MIRROR_TYPE_WIDTH> MirrorType_t;
typedef bit<MIRROR_ID_WIDTH> MirrorId_t;
typedef bit<RESUBMIT_TYPE_WIDTH> ResubmitType_t;
typedef bit<DIGEST_TYPE_WIDTH> DigestType_t;
typedef bit<REPLICATION_ID_WIDTH> ReplicationId_t;
typedef bit<L1_EXCLUSION_ID_WIDTH> L1ExclusionId_t;
typedef bit<L2_EXCLUSION_ID_WIDTH> L2ExclusionId_t;
typedef error ParserError_t;

#define DEVPORT_PIPE_MASK 0x180
#define DEVPORT_PIPE(port) (port)[8:7]
#define DEVPORT_PORT_MASK 0x7f
#define DEVPORT_PORT(port) (port)[6:0]

#define PACK_VERSION(a, b, c) (((a) << 24) + ((b) << 12) + (c))
#define COMPILER_VERSION PACK_VERSION(__p4c_major__, __p4c_minor__, __p4c_patchlevel__)

// Bits of parser_err.
const bit<16> PARSER_ERROR_OK = 0x0000;
const bit<16> PARSER_ERROR_NO_MATCH = 0x0001;
const bit<16> PARSER_ERROR_PARTIAL_HDR = 0x0002;
const bit<16> PARSER_ERROR_CTR_RANGE = 0x0004;
const bit<16> PARSER_ERROR_TIMEOUT_USER = 0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW = 0x0010;
const bit<16> PARSER_ERROR_SRC_EXT = 0x0020;
#if __TARGET_TOFINO__ == 1
const bit<16> PARSER_ERROR_DST_CONT = 0x0040;
#endif
const bit<16> PARSER_ERROR_PHV_OWNER = 0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE = 0x0100;
const bit<16> PARSER_ERROR_ARAM_MBE = 0x0400;
const bit<16> PARSER_ERROR_FCS = 0x0800;
#if __TARGET_TOFINO__ == 2
const bit<16> PARSER_ERROR_CSUM_MBE = 0x1000;
#endif

enum MeterType_t { PACKETS, BYTES }

enum bit<8> MeterColor_t { GREEN = 0, YELLOW = 1, RED = 3 }

enum CounterType_t { PACKETS, BYTES, PACKETS_AND_BYTES }

enum SelectorMode_t { FAIR, RESILIENT }

// CUSTOM takes its polynomial from a CRCPolynomial.
enum HashAlgorithm_t { IDENTITY, RANDOM, XOR8, XOR16, XOR32, CRC8, CRC16, CRC32, CRC64, CUSTOM }

match_kind {
    range,
    // Input of an action selector's hash.
    selector,
    // Which part of an algorithmic TCAM is searched.
    atcam_partition_index
#if __TARGET_TOFINO__ == 2
    , dleft_hash
#endif
}

error { CounterRange, Timeout, PhvOwner, MultiWrite, IbufOverflow, IbufUnderflow }

// In front of every packet at the ingress parser: 64 bits. Port metadata follows, PORT_METADATA_SIZE bits, or what the
// program resubmitted if resubmit_flag is 1.
@__intrinsic_metadata
header ingress_intrinsic_metadata_t {
    bit<1>   resubmit_flag;
    @padding bit<1> _pad1;
    bit<2>   packet_version;
    @padding bit<(4 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t ingress_port;
    // Nanoseconds: when the MAC received it.
    bit<48>  ingress_mac_tstamp;
}

// What ingress tells the traffic manager.
@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_tm_t {
    // Without a value, a packet with neither multicast group nor copy is dropped.
    PortId_t           ucast_egress_port;
    // 1: the packet leaves as ingress made it.
    bit<1>             bypass_egress;
    bit<1>             deflect_on_drop;
    bit<3>             ingress_cos;
    // Which of the port's queues.
    QueueId_t          qid;
    bit<3>             icos_for_copy_to_cpu;
    bit<1>             copy_to_cpu;
    bit<2>             packet_color;
    bit<1>             disable_ucast_cutthru;
    bit<1>             enable_mcast_cutthru;
    // A packet may go to two multicast groups.
    MulticastGroupId_t mcast_grp_a;
    MulticastGroupId_t mcast_grp_b;
    bit<13>            level1_mcast_hash;
    bit<13>            level2_mcast_hash;
    L1ExclusionId_t    level1_exclusion_id;
    L2ExclusionId_t    level2_exclusion_id;
    bit<16>            rid;
}

@__intrinsic_metadata
struct ingress_intrinsic_metadata_from_parser_t {
    // Nanoseconds, at arrival in ingress.
    bit<48> global_tstamp;
    bit<32> global_ver;
    // Bits PARSER_ERROR_...
    bit<16> parser_err;
}

// What the deparsers of Tofino 2 also take: how the mirrored packet leaves, and when a long packet is cut.
#define _MIRROR_METADATA_ \
    bit<1>    mirror_io_select; \
    bit<13>   mirror_hash; \
    bit<3>    mirror_ingress_cos; \
    bit<1>    mirror_deflect_on_drop; \
    bit<1>    mirror_multicast_ctrl; \
    PortId_t  mirror_egress_port; \
    QueueId_t mirror_qid; \
    bit<8>    mirror_coalesce_length; \
    bit<32>   adv_flow_ctl; \
    bit<14>   mtu_trunc_len; \
    bit<1>    mtu_trunc_err_f;

@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_deparser_t {
    // Bit 0 drops the packet with its multicast copies and forbids resubmission; bit 1 forbids the copy to the CPU.
    bit<3>         drop_ctl;
    // Which Digest, Resubmit and Mirror the deparser uses: the values of their constructors.
    DigestType_t   digest_type;
    ResubmitType_t resubmit_type;
    MirrorType_t   mirror_type;
#if __TARGET_TOFINO__ == 2
    _MIRROR_METADATA_
    bit<1>         pktgen;
    bit<14>        pktgen_address;
    bit<10>        pktgen_length;
#endif
}

// In front of every packet at the egress parser: what the traffic manager did with it.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<(8 - PORT_ID_WIDTH % 8)> _pad0;
    PortId_t  egress_port;
    @padding bit<5> _pad1;
    // Length of its queue when it entered.
    bit<19>   enq_qdepth;
    @padding bit<6> _pad2;
    bit<2>    enq_congest_stat;
#if __TARGET_TOFINO__ == 1
    @padding bit<14> _pad3;
    // Nanoseconds when it entered, and how long it stayed.
    bit<18>   enq_tstamp;
    @padding bit<5> _pad4;
    bit<19>   deq_qdepth;
    @padding bit<6> _pad5;
    bit<2>    deq_congest_stat;
    bit<8>    app_pool_congest_stat;
    @padding bit<14> _pad6;
    bit<18>   deq_timedelta;
    bit<16>   egress_rid;
    @padding bit<7> _pad7;
    bit<1>    egress_rid_first;
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad8;
    QueueId_t egress_qid;
    @padding bit<5> _pad9;
    bit<3>    egress_cos;
    @padding bit<7> _pad10;
    bit<1>    deflection_flag;
    // Bytes.
    bit<16>   pkt_length;
#else
    // Nanoseconds when it entered, and how long it stayed.
    bit<32>   enq_tstamp;
    @padding bit<5> _pad3;
    bit<19>   deq_qdepth;
    @padding bit<6> _pad4;
    bit<2>    deq_congest_stat;
    bit<8>    app_pool_congest_stat;
    bit<32>   deq_timedelta;
    bit<16>   egress_rid;
    @padding bit<7> _pad5;
    bit<1>    egress_rid_first;
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad6;
    QueueId_t egress_qid;
    @padding bit<5> _pad7;
    bit<3>    egress_cos;
    @padding bit<7> _pad8;
    bit<1>    deflection_flag;
    // Bytes.
    bit<16>   pkt_length;
    @padding bit<8> _pad9;
#endif
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_from_parser_t {
    // Nanoseconds, at arrival in egress.
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_deparser_t {
    // Bit 0 drops the packet, bit 2 forbids the mirrored copy.
    bit<3>       drop_ctl;
    MirrorType_t mirror_type;
    bit<1>       coalesce_flush;
    bit<7>       coalesce_length;
#if __TARGET_TOFINO__ == 2
    _MIRROR_METADATA_
#endif
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
}

#if __TARGET_TOFINO__ == 2
// For the ghost control: the queue whose length has changed.
@__intrinsic_metadata @__ghost_metadata
header ghost_intrinsic_metadata_t {
    bit<1>  ping_pong;
    bit<18> qlength;
    bit<11> qid;
    bit<2>  pipe_id;
}
#endif

// In front of the packets of the packet generator, by what triggers them.
#if __TARGET_TOFINO__ == 1
#define _PKTGEN_APP_ \
    @padding bit<3> _pad1; \
    bit<2> pipe_id; \
    bit<3> app_id;
#else
#define _PKTGEN_APP_ \
    @padding bit<2> _pad1; \
    bit<2> pipe_id; \
    bit<4> app_id;
#endif

header pktgen_timer_header_t {
    _PKTGEN_APP_
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    _PKTGEN_APP_
    @padding bit<(16 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t port_num;
    bit<16>  packet_id;
}

header pktgen_recirc_header_t {
    _PKTGEN_APP_
#if __TARGET_TOFINO__ == 1
    bit<24> key;
#else
    @padding bit<8> _pad2;
    bit<16> batch_id;
#endif
    bit<16> packet_id;
}

#if __TARGET_TOFINO__ == 2
header pktgen_deparser_header_t {
    _PKTGEN_APP_
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_pfc_header_t {
    _PKTGEN_APP_
    @padding bit<40> _pad2;
}
#endif

// In front of a packet whose time fields the egress MAC updates.
header ptp_metadata_t {
    bit<8>  udp_cksum_byte_offset;
    bit<8>  cf_byte_offset;
    bit<48> updated_cf;
}

// The Internet checksum. In parsers: add, subtract, then verify or get. In deparsers: update.
extern Checksum {
    Checksum();
    void add<T>(in T data);
    void subtract<T>(in T data);
    // Whether the checksum over all that was added is right.
    bool verify();
    bit<16> get();
    // The checksum without all that is extracted after this call: that of the payload.
    void subtract_all_and_deposit<T>(out T residual);
    bit<16> update<T>(in T data, @optional in bool zeros_as_ones);
}

#if __TARGET_TOFINO__ == 1
#define _COUNTER_MASK_ bit<3>
#else
#define _COUNTER_MASK_ bit<8>
#endif

// The parser's counter, eight bits with a sign, for stacks and headers of variable length.
extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    // The field is rotated to the right, masked, then added to.
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in _COUNTER_MASK_ mask, in bit<8> add);
#if __TARGET_TOFINO__ == 2
    // Tofino 2 has a stack of four counters.
    void push<T>(in T value, @optional bool update_with_top);
    void push<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add,
                 @optional bool update_with_top);
    void pop();
#endif
    bool is_zero();
    bool is_negative();
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
}

// Which packets the ingress parser drops first when its buffer is full.
extern ParserPriority {
    ParserPriority();
    void set(in bit<3> prio);
}

// A polynomial for a Hash with HashAlgorithm_t.CUSTOM.
extern CRCPolynomial<T> {
    CRCPolynomial(T coeff, bool reversed, bool msb, bool extended, T init, T xor);
}

extern Hash<W> {
    Hash(HashAlgorithm_t algo);
    Hash(HashAlgorithm_t algo, CRCPolynomial<_> poly);
    W get<D>(in D data);
}

// Numbers that are spread evenly over all values of W.
extern Random<W> {
    Random();
    W get();
}

extern T max<T>(in T t1, in T t2);
extern T min<T>(in T t1, in T t2);

// The low bits of (src1 ++ src2) >> shift_amount.
#if __TARGET_TOFINO__ == 1
extern void funnel_shift_right<T>(inout T dst, in T src1, in T src2, int shift_amount);
#else
extern void funnel_shift_right<T>(out T dst, in T src1, in T src2, int shift_amount);
#endif

// Makes a field of metadata one without a value; whether it has one.
extern void invalidate<T>(in T field);
extern bool is_validated<T>(in T field);

// In the ingress parser: the port metadata as a value of T, and on to the packet.
extern T port_metadata_unpack<T>(packet_in pkt);

extern bit<32> sizeInBits<H>(in H h);
extern bit<32> sizeInBytes<H>(in H h);

// Counters and meters of Tofino 2 may count the bytes that leave egress.
#if __TARGET_TOFINO__ == 1
#define _TRUE_EGRESS_
#else
#define _TRUE_EGRESS_ , @optional bool true_egress_accounting
#endif

// An array of counters, W bits each. adjust_byte_count is taken off the bytes of the packet.
extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type _TRUE_EGRESS_);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

// A counter for each entry of the table that names it.
extern DirectCounter<W> {
    DirectCounter(CounterType_t type _TRUE_EGRESS_);
    void count(@optional in bit<32> adjust_byte_count);
}

// Two rates, three colours. red, yellow and green are what execute returns for each.
extern Meter<I> {
    Meter(bit<32> size, MeterType_t type _TRUE_EGRESS_);
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green _TRUE_EGRESS_);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectMeter {
    DirectMeter(MeterType_t type _TRUE_EGRESS_);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green _TRUE_EGRESS_);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// A moving average of a value (low-pass filter). The chip's driver sets its time constants, and P4Runtime has no entity for them. In
// this switch they stand in front of the instance: @lpf_spec(nanoseconds while it rises, while it falls, bits that the result
// is shifted right). Without it, execute returns the value. The driver's other mode, "rate", is not defined in public.
extern Lpf<T, I> {
    Lpf(bit<32> size);
    T execute(in T val, in I index);
}

extern DirectLpf<T> {
    DirectLpf();
    T execute(in T val);
}

// Random early detection on the moving average: returns drop_value or no_drop_value. In this switch:
// @wred_spec(time constant in nanoseconds, min, max, largest probability in percent). Nothing is dropped up to min, everything
// above max; in between, the probability grows evenly up to the largest one. Without it, nothing is dropped.
extern Wred<T, I> {
    Wred(bit<32> size, bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val, in I index);
}

extern DirectWred<T> {
    DirectWred(bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val);
}

// An array of cells that packets read and write, through the stateful ALU of their stage.
extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    void write(in I index, in T value);
#if __TARGET_TOFINO__ == 2
    // Sets every cell.
    void clear(in T value, @optional in T busy);
#endif
}

// A cell for each entry of the table that names it.
extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    void write(in T value);
#if __TARGET_TOFINO__ == 2
    void clear(in T value, @optional in T busy);
#endif
}

// A number for register actions that the control plane sets.
extern RegisterParam<T> {
    RegisterParam(T initial_value);
    T read();
}

enum MathOp_t { MUL, SQR, SQRT, DIV, RSQR, RSQRT }

// An approximate function in a stateful ALU: 16 values for the highest bits of x, and a power of two.
extern MathUnit<T> {
    // The table is given from its last value to its first.
    MathUnit(bool invert, int<2> shift, int<6> scale,
             tuple<bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>> data);
    // factor * op(x), and (A / B) * op(x).
    MathUnit(MathOp_t op, int factor);
    MathUnit(MathOp_t op, int A, int B);
    T execute(in T x);
}

// Programs of stateful ALUs. execute reads the cell, runs apply on it and writes it back; the results of apply are those
// of execute. predicate, within apply, is which of the comparisons held, one bit of 2^n.
#if __TARGET_TOFINO__ == 1
extern RegisterAction<T, I, U> {
    RegisterAction(Register<T, _> reg);
    U execute(in I index);
    // At the next index with every call, to write a log.
    U execute_log();
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute();
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}
#else
// Within apply: the address of the cell, and the least and the greatest of the parts of a wide cell.
#define _ALU_METHODS_(PREDICATE) \
    PREDICATE address(@optional bit<1> subword); \
    PREDICATE predicate(@optional in bool cmp0, @optional in bool cmp1, @optional in bool cmp2, \
                        @optional in bool cmp3); \
    bit<8> min8<V>(in V val, in bit<16> mask, @optional out bit<4> index); \
    bit<8> max8<V>(in V val, in bit<16> mask, @optional out bit<4> index); \
    bit<16> min16<V>(in V val, in bit<8> mask, @optional out bit<3> index); \
    bit<16> max16<V>(in V val, in bit<8> mask, @optional out bit<3> index);

// A register may also be a queue (enqueue, dequeue) or a stack (push, pop); overflow and underflow are what is done when
// it is full or empty. sweep runs apply on every cell.
extern RegisterAction<T, I, U> {
    RegisterAction(Register<T, _> reg);
    U execute(@optional in I index, @optional out U rv2, @optional out U rv3, @optional out U rv4);
    U execute_log(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U enqueue(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U dequeue(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U push(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    U pop(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    void sweep(@optional in U busy);
    abstract void apply(inout T value, @optional out U rv1, @optional out U rv2, @optional out U rv3,
                        @optional out U rv4);
    @optional abstract void overflow(@optional inout T value, @optional out U rv1, @optional out U rv2,
                                     @optional out U rv3, @optional out U rv4);
    @optional abstract void underflow(@optional inout T value, @optional out U rv1, @optional out U rv2,
                                      @optional out U rv3, @optional out U rv4);
    _ALU_METHODS_(U)
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute(@optional out U rv2, @optional out U rv3, @optional out U rv4);
    abstract void apply(inout T value, @optional out U rv1, @optional out U rv2, @optional out U rv3,
                        @optional out U rv4);
    _ALU_METHODS_(U)
}

// The same with results of different types.
#define _ALU_QUEUE_(PARAMETERS) \
    U1 execute_log PARAMETERS; \
    U1 enqueue PARAMETERS; \
    U1 dequeue PARAMETERS; \
    U1 push PARAMETERS; \
    U1 pop PARAMETERS;

extern RegisterAction2<T, I, U1, U2> {
    RegisterAction2(Register<T, _> reg);
    U1 execute(in I index, out U2 rv2);
    _ALU_QUEUE_((out U2 rv2))
    abstract void apply(inout T value, out U1 rv1, out U2 rv2);
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2);
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2);
    _ALU_METHODS_(U1)
}

extern RegisterAction3<T, I, U1, U2, U3> {
    RegisterAction3(Register<T, _> reg);
    U1 execute(in I index, out U2 rv2, out U3 rv3);
    _ALU_QUEUE_((out U2 rv2, out U3 rv3))
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    _ALU_METHODS_(U1)
}

extern RegisterAction4<T, I, U1, U2, U3, U4> {
    RegisterAction4(Register<T, _> reg);
    U1 execute(in I index, out U2 rv2, out U3 rv3, out U4 rv4);
    _ALU_QUEUE_((out U2 rv2, out U3 rv3, out U4 rv4))
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    @optional abstract void overflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    @optional abstract void underflow(@optional inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    _ALU_METHODS_(U1)
}

extern DirectRegisterAction2<T, U1, U2> {
    DirectRegisterAction2(DirectRegister<T> reg);
    U1 execute(out U2 rv2);
    abstract void apply(inout T value, out U1 rv1, out U2 rv2);
    _ALU_METHODS_(U1)
}

extern DirectRegisterAction3<T, U1, U2, U3> {
    DirectRegisterAction3(DirectRegister<T> reg);
    U1 execute(out U2 rv2, out U3 rv3);
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3);
    _ALU_METHODS_(U1)
}

extern DirectRegisterAction4<T, U1, U2, U3, U4> {
    DirectRegisterAction4(DirectRegister<T> reg);
    U1 execute(out U2 rv2, out U3 rv3, out U4 rv4);
    abstract void apply(inout T value, out U1 rv1, out U2 rv2, out U3 rv3, out U4 rv4);
    _ALU_METHODS_(U1)
}

// Not in this switch: what postmod does, and which of equal numbers index names, is not public. No public program uses it.
extern MinMaxAction<T, I, U> {
    MinMaxAction(Register<T, _> reg);
    U execute(@optional in I index, @optional out U rv2, @optional out U rv3, @optional out U rv4);
    abstract void apply(inout bit<128> value, @optional out U rv1, @optional out U rv2, @optional out U rv3,
                        @optional out U rv4);
    U address(@optional bit<1> subword);
    U predicate(@optional in bool cmp0, @optional in bool cmp1, @optional in bool cmp2, @optional in bool cmp3);
    bit<8> min8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in int<8> postmod);
    bit<8> max8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in int<8> postmod);
    bit<16> min16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in int<8> postmod);
    bit<16> max16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in int<8> postmod);
}
#endif

// Actions with their values, which entries of tables refer to.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// Groups of a profile's members; the hash chooses the member.
extern ActionSelector {
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode, bit<32> max_group_size,
                   bit<32> num_groups);
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg,
                   bit<32> max_group_size, bit<32> num_groups);
    // Without a profile of its own.
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode);
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg);
}

// Switches the members of a selector on and off. Not in this switch: which bit belongs to which member is the driver's business. No
// public program uses it.
extern SelectorAction {
    SelectorAction(ActionSelector sel);
    bit<1> execute(@optional in bit<32> index);
    abstract void apply(inout bit<1> value, @optional out bit<1> rv);
}

// In deparsers: a copy of the packet, with a header in front, to the port of a session.
extern Mirror {
    Mirror();
    Mirror(MirrorType_t mirror_type);
    void emit(in MirrorId_t session_id);
    void emit<T>(in MirrorId_t session_id, in T hdr);
}

// In the ingress deparser: the packet enters ingress once more, with a header of at most PORT_METADATA_SIZE bits.
extern Resubmit {
    Resubmit();
    Resubmit(ResubmitType_t resubmit_type);
    void emit();
    void emit<T>(in T hdr);
}

// In the ingress deparser: a message to the controller.
extern Digest<T> {
    Digest();
    Digest(DigestType_t digest_type);
    void pack(in T data);
}

// Implementations of a table in SRAM: algorithmic TCAM and algorithmic LPM.
extern Atcam {
    Atcam(@optional bit<32> number_partitions);
}

extern Alpm {
    Alpm(@optional bit<32> number_partitions, @optional bit<32> subtrees_per_partition,
         @optional bit<32> atcam_subset_width, @optional bit<32> shift_granularity);
}

extern IdleTimeout {
    IdleTimeout();
}

#if __TARGET_TOFINO__ == 2
// In the ingress deparser: generates packets, with a header of at most 128 bits in front. Not in this switch: the driver sets up what
// is generated, how many and when.
extern Pktgen {
    Pktgen();
    void emit<T>(in T hdr);
}
#endif

#endif
