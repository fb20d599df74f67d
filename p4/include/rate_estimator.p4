// Per-user arrival-rate estimators of FDPA (paper, sections III-B and V). Both end in a band, and neither divides.

// The average rate: bytes in an interval. After a pause, the paper divides the bytes since the last update by the time since
// then. Here the time is rounded down to a power of two of intervals, so the rate is too high by less than a factor of 2.
// After a pause of 16 intervals the rate is 0.
// bytes: since the interval began, with this packet. FDPA does not use them.
control AverageRate(in bit<32> user, in bit<32> now, in bit<32> interval, in bit<32> charge,
                    out bit<32> rate, out bit<32> bytes) {
    register<bit<32>>(MAX_USERS) interval_start;
    register<bit<32>>(MAX_USERS) interval_bytes;
    register<bit<32>>(MAX_USERS) last_rate;
    bit<32> start;
    bit<32> elapsed;

    apply {
        interval_start.read(start, user);
        interval_bytes.read(bytes, user);
        last_rate.read(rate, user);
        elapsed = now - start;
        if (elapsed < interval) {
            bytes = bytes |+| charge;
        } else {
            // elapsed >> n cannot overflow; interval << n can.
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

// A token bucket for each band edge, filled at the edge's rate. The band of a packet is the first one whose bucket holds
// its charge. The packet is paid from that bucket and from every wider one, so bands 1 to q together keep to edge q (within
// a packet). An edge that is not used (0xffffffff) holds any charge: it belongs to the open band. Levels are in sixteenths
// of a byte, because the tokens of a few microseconds would otherwise be rounded away.
//
// fill: microseconds since the user's last packet;  rate: bytes in 65536 microseconds;  burst, charge: bytes
// band: the band found so far, 8 if none;  number: the band that ends at this edge
control TokenBucket(in bit<32> user, in bit<32> fill, in bit<32> rate, in bit<32> burst, in bit<32> charge,
                    in bit<8> number, inout bit<8> band) {
    register<bit<32>>(MAX_USERS) tokens;
    bit<32> level;
    bit<64> gained;

    apply {
        tokens.read(level, user);
        gained = ((bit<64>) fill * (bit<64>) rate) >> 12;
        if (gained >= (bit<64>) (burst << 4)) {
            level = burst << 4;
        } else {
            level = level |+| (bit<32>) gained;
            if (level > burst << 4) {
                level = burst << 4;
            }
        }
        if (band == 8 && (rate == 0xffffffff || level >= charge << 4)) {
            band = number;
        }
        if (band != 8) {
            level = level |-| (charge << 4);
        }
        tokens.write(user, level);
    }
}

control TokenBucketBand(in bit<32> user, in bit<32> now, in bit<32> charge, in band_edges_t rates, in bit<32> burst,
                        out bit<8> band) {
    register<bit<32>>(MAX_USERS) last_arrival;
    TokenBucket() bucket_1;
    TokenBucket() bucket_2;
    TokenBucket() bucket_3;
    TokenBucket() bucket_4;
    TokenBucket() bucket_5;
    TokenBucket() bucket_6;
    TokenBucket() bucket_7;
    bit<32> fill;

    apply {
        last_arrival.read(fill, user);
        last_arrival.write(user, now);
        fill = now - fill;
        band = 8;
        bucket_1.apply(user, fill, rates.edge_1, burst, charge, 1, band);
        bucket_2.apply(user, fill, rates.edge_2, burst, charge, 2, band);
        bucket_3.apply(user, fill, rates.edge_3, burst, charge, 3, band);
        bucket_4.apply(user, fill, rates.edge_4, burst, charge, 4, band);
        bucket_5.apply(user, fill, rates.edge_5, burst, charge, 5, band);
        bucket_6.apply(user, fill, rates.edge_6, burst, charge, 6, band);
        bucket_7.apply(user, fill, rates.edge_7, burst, charge, 7, band);
    }
}

// Flowlets (FDPA paper, section V): a flow keeps its band until it pauses for `gap` microseconds, so a burst is not
// reordered.
control FlowletBand(in headers_t hdr, in metadata_t meta, in bit<32> now, in bit<32> gap, inout bit<8> band) {
    register<bit<32>>(MAX_FLOWLETS) flowlet_last_seen;
    register<bit<8>>(MAX_FLOWLETS) flowlet_band;
    bit<32> cell;
    bit<32> last_seen;
    bit<8> kept;

    apply {
        hash(cell, HashAlgorithm.crc32, 32w0, { FIVE_TUPLE }, (bit<32>) MAX_FLOWLETS);
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
