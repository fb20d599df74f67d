package org.p4sched.laws;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The counters of a port in stepped time, with traffic that changes at random; and random options of the laws. */
final class RandomPort {
    private static final long MS = 1_000_000;

    private final Random random;
    private final double rateBps;
    private final List<Long> ranks = new ArrayList<>(Collections.nCopies(PortSample.BUCKETS, 0L));
    private final List<Long> depths = new ArrayList<>(Collections.nCopies(PortSample.BUCKETS, 0L));
    private long nowNs;
    private Count admitted;
    private Count refused = Count.NONE;
    private Count full = Count.NONE;
    // the traffic of now
    private double load;
    private int batch;
    private int frame;
    private int lowestBucket;
    private int buckets;

    RandomPort(Random random, double rateBps) {
        this.random = random;
        this.rateBps = rateBps;
        // beyond what a double can count one by one
        boolean large = random.nextBoolean();
        nowNs = large ? (1L << 53) + 12345 : 0;
        admitted = large ? new Count((1L << 54) + 7, (1L << 61) + 11) : Count.NONE;
    }

    /** The counters some time later, mostly a tenth of a second. */
    PortSample next() {
        if (load == 0 || random.nextInt(25) == 0) {
            otherTraffic();
        }
        if (random.nextInt(150) == 0) {
            reset();
        }
        long passedNs = passedNs();
        nowNs += passedNs;
        double linkPackets = rateBps * passedNs / 8e9 / frame;
        double mean = random.nextInt(10) == 0 ? 0 : load * linkPackets;
        long arrived = batch * Math.max(0, Math.round((mean + random.nextGaussian() * Math.sqrt(mean)) / batch));
        long sent = Math.min(arrived, Math.round(linkPackets));
        long lost = random.nextInt(4) == 0 ? 0 : arrived - sent;
        long lostByRule = random.nextInt(3) == 0 ? 0 : lost;
        count(arrived - lost, lostByRule, lost - lostByRule);
        long readNs = random.nextInt(20) == 0 ? random.nextInt(200) * MS : random.nextInt((int) (5 * MS));
        return new PortSample(nowNs, readNs, admitted, refused, full, ranks, depths);
    }

    private void otherTraffic() {
        load = random.nextInt(6) == 0 ? 0.01 : Math.exp(random.nextDouble() * 3 - 1.2);
        batch = 1 << random.nextInt(4);
        frame = 64 + random.nextInt(1451);
        lowestBucket = random.nextInt(PortSample.BUCKETS);
        buckets = 1 + random.nextInt(Math.min(12, PortSample.BUCKETS - lowestBucket));
    }

    private void reset() {
        admitted = refused = full = Count.NONE;
        Collections.fill(ranks, 0L);
        Collections.fill(depths, 0L);
    }

    private long passedNs() {
        switch (random.nextInt(60)) {
            case 0:
                return 0;
            case 1:
                return 3000 * MS;
            default:
                return 95 * MS + random.nextInt((int) (10 * MS));
        }
    }

    private void count(long more, long byRule, long forRoom) {
        admitted = admitted.plus(new Count(more, more * frame));
        refused = refused.plus(new Count(byRule, byRule * frame));
        full = full.plus(new Count(forRoom, forRoom * frame));
        long arrived = more + byRule + forRoom;
        for (int place = 0; place < buckets; place++) {
            add(ranks, lowestBucket + place, arrived * (1 + random.nextInt(3)) / (2L * buckets));
        }
        add(depths, 0, random.nextInt(3) == 0 ? arrived / 5 : 0);
        add(depths, 4, arrived);
    }

    private static void add(List<Long> histogram, int bucket, long packets) {
        histogram.set(bucket, histogram.get(bucket) + packets);
    }

    /** A configuration of this law, in which any option may be set. */
    static RankedConfig config(RankedLaw law, Random random) {
        Map<String, Object> record = new LinkedHashMap<>();
        long rateBps = (long) Math.exp(Math.log(1e6) + random.nextDouble() * Math.log(1e5));
        double packetNs = 1514 * 8e9 / rateBps;
        record.put("rate_bps", rateBps);
        record.put("delay_ns", (long) Math.ceil(packetNs * (1 + random.nextDouble() * 100)));
        long queue = random.nextInt(3) == 0 ? 1L + random.nextInt(20) : 64L + random.nextInt(500);
        record.put("queue_packets", queue);
        maybe(random, record, "span_ns", (long) random.nextInt(2_000_000_000));
        maybe(random, record, "loss", 0.001 + random.nextDouble() * 0.3);
        maybe(random, record, "max_headroom", random.nextDouble() * 0.99);
        maybe(random, record, "rate_window_ns", (5 + random.nextInt(20)) * 100L * MS);
        maybe(random, record, "dispersion_window_ns", (20 + random.nextInt(200)) * 100L * MS);
        maybe(random, record, "hold_ns", 1L + random.nextInt(2_000_000_000));
        long queues = 1L + random.nextInt(8);
        if (law == Packs.LAW) {
            record.put("queues", queues);
        }
        if (law != Rifo.LAW) {
            maybe(random, record, "window_ranks", 1L + random.nextInt(32));
        }
        record.put("fixed", fixed(law, random, queue, queues));
        return law.config(record).on(Target.values()[random.nextInt(3)]);
    }

    private static Map<String, Double> fixed(RankedLaw law, Random random, long queue, long queues) {
        Map<String, Object> fixed = new LinkedHashMap<>();
        if (random.nextBoolean()) {
            return Map.of();
        }
        maybe(random, fixed, "k", random.nextInt(2) == 0 ? random.nextInt(256) / 256.0 : random.nextDouble());
        if (law == Rifo.LAW) {
            maybe(random, fixed, "B", 1.0 + random.nextInt((int) queue));
            maybe(random, fixed, "T", 1.0 + random.nextInt(1_000_000));
        } else {
            maybe(random, fixed, "S", 1.0 + random.nextInt(1_000_000));
            double most = law == Aifo.LAW ? queue : queue * queues;
            double least = law == Aifo.LAW ? 1 : queues;
            maybe(random, fixed, law == Aifo.LAW ? "C" : "B", Math.rint(least + random.nextDouble() * (most - least)));
        }
        Map<String, Double> values = new LinkedHashMap<>();
        fixed.forEach((symbol, value) -> values.put(symbol, (Double) value));
        return values;
    }

    private static void maybe(Random random, Map<String, Object> record, String name, Object value) {
        if (random.nextBoolean()) {
            record.put(name, value);
        }
    }
}
