package org.p4sched.laws;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.p4sched.laws.log.DecisionLog;
import org.p4sched.laws.log.Replay;

/**
 * Every law with random options and random traffic in stepped time: thousands of decisions, which replay. The logs stay
 * below {@code target/}, where a test of the Python side replays them too.
 */
class RandomRunsTest {
    private static final Path LOGS = Path.of("target", "decision-logs");
    private static final int RUNS = 12;
    private static final int DECISIONS = 200;

    @ParameterizedTest
    @ValueSource(strings = {"aifo", "rifo", "packs"})
    void rankedLawsDecideAgainAsTheyDid(String name) throws IOException {
        RankedLaw law = (RankedLaw) Laws.named(name);
        Random random = new Random(name.hashCode());
        Runs runs = new Runs(name);
        for (int run = 0; run < RUNS; run++) {
            RankedConfig config = RandomPort.config(law, random);
            RandomPort port = new RandomPort(random, config.rateBps);
            runs.add(law, config, found(law, random), port::next);
        }
        runs.requireReplay();
        assertTrue(runs.written > 5 * RUNS, runs.written + " writes");
    }

    @Test
    void fdpaDecidesAgainAsItDid() throws IOException {
        Random random = new Random(5);
        Runs runs = new Runs("fdpa");
        for (int run = 0; run < RUNS; run++) {
            Fdpa.Config config = RandomUsers.config(random);
            RandomUsers users = new RandomUsers(random);
            Map<String, Long> found =
                    Fdpa.parametersFor(config, 0.5 + random.nextInt(20), 256).actionData();
            if (random.nextBoolean()) {
                found.put("interval_us", found.get("interval_us") + 1);
            }
            runs.add(Fdpa.LAW, config, random.nextBoolean() ? Optional.of(found) : Optional.empty(), users::next);
        }
        runs.requireReplay();
        assertTrue(runs.written > 5 * RUNS, runs.written + " writes");
    }

    /** Parameters that the switch may have: none, the program's defaults, or what another controller wrote. */
    private static Optional<Map<String, Long>> found(RankedLaw law, Random random) {
        switch (random.nextInt(3)) {
            case 0:
                return Optional.empty();
            case 1:
                return Optional.of(
                        law.defaults().on(Target.values()[random.nextInt(3)]).actionData());
            default:
                RankedConfig other = RandomPort.config(law, random);
                return Optional.of(other.parametersFor(other.atFirst()).actionData());
        }
    }

    /** Controllers' runs, one after the other in one log. */
    private static final class Runs {
        private final Path path;
        private int decisions;
        private int written;

        Runs(String name) throws IOException {
            path = LOGS.resolve(name + ".jsonl");
            Files.deleteIfExists(path);
        }

        <C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>> void add(
                Law<C, S, M, D> law, C config, Optional<Map<String, Long>> found, Supplier<M> samples) {
            S state = law.takeOver(found.map(LinkedHashMap::new));
            try (DecisionLog log = new DecisionLog(path)) {
                log.start(config, state);
                for (int round = 0; round < DECISIONS; round++) {
                    M sample = samples.get();
                    D decision = law.decide(config, state, sample);
                    assertEquals(
                            decision.changed, !Optional.of(decision.parameters).equals(state.parameters()));
                    log.decision(sample, decision);
                    state = decision.state;
                    written += decision.changed ? 1 : 0;
                }
            }
            decisions += DECISIONS;
        }

        void requireReplay() {
            assertEquals(decisions, Replay.replay(path));
        }
    }
}
