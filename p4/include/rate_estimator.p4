// Per-user arrival-rate estimators of FDPA (paper, sections III-B and V). Both end in a band, and neither divides.
#ifndef P4SCHED_RATE_ESTIMATOR_P4
#define P4SCHED_RATE_ESTIMATOR_P4

// What a user is charged for a packet: its bytes over the user's weight.
control Charge(in metadata_t meta, in standard_metadata_t standard_metadata, out bit<32> charge) {
    apply {
        charge = (standard_metadata.packet_length * (bit<32>) meta.scale) >> 8;
    }
}

// Average rate: bytes in an interval. The paper divides the bytes since the last update by the time since then; here that
// mean is rounded up, by less than a factor of 2, to the bytes over a power of two of intervals. After 16 intervals it is
// taken for 0.
control AverageRate(in bit<32> user, in bit<32> now, in bit<32> interval, in bit<32> charge, out bit<32> rate) {
    register<bit<32>>(MAX_USERS) interval_start;
    register<bit<32>>(MAX_USERS) interval_bytes;
    register<bit<32>>(MAX_USERS) last_rate;
    bit<32> start;
    bit<32> bytes;
    bit<32> elapsed;

    apply {
        interval_start.read(start, user);
        interval_bytes.read(bytes, user);
        last_rate.read(rate, user);
        elapsed = now - start;
        if (elapsed < interval) {
            bytes = bytes |+| charge;
        } else {
            // Comparing elapsed >> n with the interval, and not elapsed with interval << n, cannot overflow.
            rate = bytes;
            if (elapsed >> 1 < interval) {
                start = start + interval;
            } else {
                start = now;
                if (elapsed >> 2 < interval) {
                    rate = bytes >> 1;
                } else if (elapsed >> 3 < interval) {
                    rate = bytes >> 2;
                } else if (elapsed >> 4 < interval) {
                    rate = bytes >> 3;
                } else {
                    rate = 0;
                }
            }
            bytes = charge;
            interval_start.write(user, start);
            last_rate.write(user, rate);
        }
        interval_bytes.write(user, bytes);
    }
}

// A bucket for each band edge, filled at the edge's rate. A packet belongs to the first band whose bucket holds its
// charge and is paid from that bucket and every wider one, so bands 1 to q together keep to edge q (within a packet). An
// edge that is not used (0xffffffff) holds any charge: it is the open band's. Levels are in sixteenths of a byte: a few
// microseconds' worth of tokens would otherwise be rounded away.
control TokenBucket(in bit<32> fill, in bit<32> burst, in bit<32> rate, in bit<32> user, in bit<32> charge,
                    inout bit<1> paid) {
    register<bit<32>>(MAX_USERS) tokens;
    bit<32> level;
    bit<64> gained;

    apply {
        tokens.read(level, user);
        // fill: microseconds since the last packet; rate: bytes in 65536 microseconds; burst and charge: bytes.
        gained = ((bit<64>) fill * (bit<64>) rate) >> 12;
        if (gained >= (bit<64>) (burst << 4)) {
            level = burst << 4;
        } else {
            level = level |+| (bit<32>) gained;
            if (level > burst << 4) {
                level = burst << 4;
            }
        }
        if (paid == 1 || rate == 0xffffffff || level >= charge << 4) {
            paid = 1;
            level = level |-| (charge << 4);
        }
        tokens.write(user, level);
    }
}

// Keeps a flow in its band until it pauses for `gap` microseconds, so that a burst is not reordered (flowlets,
// FDPA paper, section V).
control FlowletBand(in headers_t hdr, in metadata_t meta, in bit<32> now, in bit<32> gap, inout bit<8> band) {
    register<bit<32>>(MAX_FLOWLETS) flowlet_last_seen;
    register<bit<8>>(MAX_FLOWLETS) flowlet_band;
    bit<32> cell;
    bit<32> last_seen;
    bit<8> kept;

    apply {
        hash(cell, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_src_port, meta.l4_dst_port },
             (bit<32>) MAX_FLOWLETS);
        flowlet_last_seen.read(last_seen, cell);
        flowlet_band.read(kept, cell);
        if (kept != 0 && now - last_seen < gap) {
            band = kept;
        } else {
            flowlet_band.write(cell, band);
        }
        flowlet_last_seen.write(cell, now);
    }
}

#endif
