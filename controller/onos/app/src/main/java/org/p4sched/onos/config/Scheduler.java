package org.p4sched.onos.config;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import org.p4sched.laws.Law;
import org.p4sched.laws.Laws;

/** The schedulers, one for each program of p4/. */
public enum Scheduler {
    /** FIFO with tail drop. */
    FIFO("fifo", "set_depth", false),
    /** FDPA: the faster a user, the less urgent its band. */
    FDPA("fdpa", "set_bands", true),
    /** SP-PIFO: choice of queue by adaptive bounds. */
    SP_PIFO("sp_pifo", "set_sp_pifo", false),
    /** AIFO: admission by the quantile of the rank. */
    AIFO("aifo", "set_aifo", true),
    /** RIFO: admission by the range of ranks. */
    RIFO("rifo", "set_rifo", true),
    /** PACKS: admission and choice of queue by the quantile. */
    PACKS("packs", "set_packs", true);

    private final String word;
    private final String action;
    private final boolean tuned;

    Scheduler(String word, String action, boolean tuned) {
        this.word = word;
        this.action = action;
        this.tuned = tuned;
    }

    /** The scheduler of this name. Throws IllegalArgumentException for any other name. */
    public static Scheduler named(String name) {
        return Arrays.stream(values())
                .filter(each -> each.word.equals(name))
                .findFirst()
                .orElseThrow(() -> {
                    String all = Arrays.stream(values()).map(each -> each.word).collect(Collectors.joining(", "));
                    return new IllegalArgumentException("no scheduler '" + name + "'; there is: " + all);
                });
    }

    /** The table whose default action holds the parameters; its key is the egress port. */
    public String table() {
        return word + "_params";
    }

    /** The one action of that table. */
    public String action() {
        return action;
    }

    /** Whether the program ranks packets; FDPA knows users only. */
    public boolean ranked() {
        return this != FDPA;
    }

    /** The control law; none for a scheduler whose parameters do not follow the traffic. */
    public Optional<Law<?, ?, ?, ?>> law() {
        return tuned ? Optional.of(Laws.named(word)) : Optional.empty();
    }

    /** One word, as everywhere. */
    @Override
    public String toString() {
        return word;
    }
}
