package org.p4sched.laws.log;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.p4sched.laws.Aifo;
import org.p4sched.laws.Count;
import org.p4sched.laws.PortSample;
import org.p4sched.laws.RankedConfig;
import org.p4sched.laws.RankedDecision;
import org.p4sched.laws.RankedState;

/** A controller of AIFO under a steady load of 1.5. */
final class SteadyRun {
    static final RankedConfig CONFIG = Aifo.LAW.config(Map.of(
            "rate_bps", 100_000_000L, "delay_ns", 5_000_000L, "queue_packets", 512L, "fixed", Map.of("k", 0.25)));

    private SteadyRun() {}

    /** Appends a start line and so many decisions. */
    static void append(Path path, int decisions) {
        RankedState state = Aifo.LAW.takeOver(Optional.empty());
        try (DecisionLog log = new DecisionLog(path)) {
            log.start(CONFIG, state);
            for (long round = 0; round < decisions; round++) {
                PortSample sample = sample(round);
                RankedDecision decision = Aifo.LAW.decide(CONFIG, state, sample);
                log.decision(sample, decision);
                state = decision.state;
            }
        }
    }

    private static PortSample sample(long round) {
        List<Long> buckets = IntStream.range(0, PortSample.BUCKETS)
                .mapToObj(bucket -> bucket == 3 ? 1226 * round : 0L)
                .collect(Collectors.toList());
        Count admitted = new Count(826 * round, 826 * 1514 * round);
        Count refused = new Count(400 * round, 400 * 1514 * round);
        return new PortSample(round * 100_000_000, 1000, admitted, refused, Count.NONE, buckets, buckets);
    }
}
