header h_t { bit<8> a; bit<8> b; bit<16> c; bit<32> d; bit<32> e; bit<48> mac; }
struct headers_t { h_t h; h_t[2] s; }
struct meta_t { bit<32> x; bit<16> i; bit<8> n; bool flag; }
struct pair_t { bit<32> lo; bit<32> hi; }
struct empty_t { }
parser IP(packet_in p, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start { p.extract(ig_intr_md); p.advance(PORT_METADATA_SIZE); p.extract(hdr.h);
        transition select(hdr.h.a, hdr.h.c) { (1, 2 .. 5): more; (_, 16w4 &&& 16w0xc): accept; default: more; } }
    state more { p.extract(hdr.s.next); transition select(hdr.s.last.a) { 0: accept; default: more; } }
}
control Sub(inout bit<32> x, in bit<16> i)(bit<32> step) {
    Register<bit<32>, bit<16>>(300) r;
    RegisterAction<bit<32>, bit<16>, bit<32>>(r) next = { void apply(inout bit<32> v, out bit<32> rv) { v = v |+| step; rv = v; } };
    apply { x = next.execute(i); }
}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Register<pair_t, bit<16>>(1024) pairs;
    RegisterAction<pair_t, bit<16>, bit<32>>(pairs) swap = {
        void apply(inout pair_t v, out bit<32> rv) {
            rv = 0;
            if (v.lo - hdr.h.d < 100 && v.hi != 0) { v.lo = hdr.h.e; rv = v.lo; } else { v.hi = v.hi + 1; return; }
        }
    };
    MathUnit<bit<32>>(MathOp_t.MUL, 1, 3) third;
    Register<bit<32>, _>(16) sums;
    RegisterAction<bit<32>, _, bit<32>>(sums) sum = { void apply(inout bit<32> v, out bit<32> rv) { rv = v; v = max(v, hdr.h.d); } };
    Counter<bit<64>, bit<16>>(512, CounterType_t.PACKETS_AND_BYTES) seen;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) hits;
    Meter<bit<8>>(64, MeterType_t.BYTES) meter;
    DirectMeter(MeterType_t.PACKETS) own_meter;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) join;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    Random<bit<8>>() random;
    ActionProfile(64) profile;
    Sub(3) first;
    Sub(4) second;
    action set(bit<9> port, bit<32> v) { ig_tm_md.ucast_egress_port = port; meta.x = v; hits.count(); }
    action drop() { ig_dprsr_md.drop_ctl = 1; hits.count(); exit; }
    action run() { meta.x = swap.execute(meta.i); }
    action mark(bit<8> n) { hdr.h.b = hdr.h.b | n; }
    action colour() { hdr.h.b = own_meter.execute(MeterColor_t.YELLOW); hdr.h.c = join.get({ hdr.h.a, 4w5, hdr.h.d[3:0] }); }
    table coloured { key = { hdr.h.mac: exact; } actions = { colour; } meters = own_meter; size = 1000; }
    table t {
        key = { hdr.h.a: exact; hdr.h.c: ternary; hdr.h.d: lpm; }
        actions = { set; drop; }
        const default_action = drop();
        counters = hits;
        size = 3000;
    }
    table ranges { key = { hdr.h.c: range; hdr.h.b[3:0]: exact; hdr.s[1].isValid(): ternary; } actions = { mark; run; NoAction; } default_action = NoAction(); size = 100; }
    table members { key = { hdr.h.mac: exact; } actions = { mark; } implementation = profile; size = 20000; }
    apply {
        meta.flag = hdr.h.a == 5 || hdr.h.d < 0x1000;
        meta.i = hash.get({ hdr.h.c, hdr.h.mac });
        switch (t.apply().action_run) { drop: { hdr.h.b = 1; } set: { first.apply(meta.x, meta.i); if (meta.flag) { return; } } }
        if (ranges.apply().miss) { seen.count(meta.i); } else if (!hdr.s[0].isValid()) { members.apply(); }
        second.apply(hdr.h.e, 7);
        coloured.apply();
        meta.n = random.get();
        hdr.h.c[7:4] = meta.n[3:0];
        hdr.h.d = sum.execute(1) - hdr.h.d;
        if (meta.x == hdr.h.e && meta.n > 20) { hdr.h.a = (bit<8>) meter.execute(meta.n); hdr.s[1] = hdr.s[0]; }
        bool last = meta.x != 3;
        hdr.h.mac[31:0] = last ? hdr.h.e : min(hdr.h.d, hdr.h.e);
    }
}
control ID(packet_out p, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply { p.emit(hdr); }
}
parser EP(packet_in p, out headers_t hdr, out empty_t meta, out egress_intrinsic_metadata_t eg_intr_md) {
    state start { p.extract(eg_intr_md); p.extract(hdr.h); transition accept; }
}
control E(inout headers_t hdr, inout empty_t meta, in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Sub(1) sub;
    apply { sub.apply(hdr.h.d, hdr.h.c); for (bit<8> k in 1 .. 2) { hdr.h.b = hdr.h.b + k; } }
}
control ED(packet_out p, inout headers_t hdr, in empty_t meta, in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply { p.emit(hdr); }
}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
