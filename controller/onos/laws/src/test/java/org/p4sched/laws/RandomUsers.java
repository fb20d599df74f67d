package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** The counters of users that come and go at random, in stepped time; and random options of FDPA's law. */
final class RandomUsers {
    private static final long MS = 1_000_000;

    private final Random random;
    private final Map<Long, UserCounter> users = new LinkedHashMap<>();
    private final Map<Long, Boolean> sends = new LinkedHashMap<>();
    private long nowNs;

    RandomUsers(Random random) {
        this.random = random;
        nowNs = random.nextBoolean() ? (1L << 53) + 12345 : 0;
        for (int count = random.nextInt(20); count > 0; count--) {
            join();
        }
    }

    /** The counters some time later, mostly a tenth of a second. */
    Fdpa.Sample next() {
        nowNs += random.nextInt(40) == 0 ? random.nextInt(2) * 2000L * MS : 95 * MS + random.nextInt((int) (10 * MS));
        if (random.nextInt(30) == 0) {
            join();
        }
        if (random.nextInt(50) == 0) {
            users.keySet().stream().findFirst().ifPresent(users::remove);
        }
        boolean reset = random.nextInt(150) == 0;
        users.replaceAll((user, counter) -> {
            boolean goesOn = random.nextInt(15) == 0 ? !sends.get(user) : sends.get(user);
            sends.put(user, goesOn);
            long more = goesOn ? random.nextInt(3) * (1L + random.nextInt(50)) * random.nextInt(1514) : 0;
            return new UserCounter(reset ? more : counter.sentBytes + more, counter.scale);
        });
        return new Fdpa.Sample(nowNs, users);
    }

    private void join() {
        long user = 1L + random.nextInt(4095);
        long scale = random.nextInt(3) == 0 ? 256 : 1L + random.nextInt(random.nextBoolean() ? 2000 : 65535);
        users.put(user, new UserCounter(random.nextBoolean() ? 0 : (1L << 53) + 1, scale));
        sends.put(user, true);
    }

    /** A configuration in which any option may be set. */
    static Fdpa.Config config(Random random) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("capacity_bps", (long) Math.exp(Math.log(1e5) + random.nextDouble() * Math.log(1e7)));
        record.put("bands", share(random) + "+" + (1 + random.nextInt(7)) + "*" + share(random));
        record.put("interval_us", 1 + random.nextInt(random.nextBoolean() ? 100_000 : Integer.MAX_VALUE));
        record.put("rtt_ns", 1 + random.nextInt(200_000_000));
        Target target = Target.values()[random.nextInt(3)];
        maybe(random, record, "token_bucket", target == Target.V1MODEL);
        maybe(random, record, "burst_bytes", random.nextInt(1 << 28));
        maybe(random, record, "flowlet_gap_us", random.nextInt(100_000));
        maybe(random, record, "activity_window_ns", (1 + random.nextInt(20)) * 100L * MS);
        maybe(random, record, "active_bytes", 1 + random.nextInt(20_000));
        return Fdpa.LAW.config(record).on(target);
    }

    private static String share(Random random) {
        return random.nextInt(3) == 0 ? "1" : Double.toString(0.01 + 9 * random.nextDouble());
    }

    private static void maybe(Random random, Map<String, Object> record, String name, Object value) {
        if (random.nextBoolean()) {
            record.put(name, value);
        }
    }
}
