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
    /** FDPA: the faster a user sends, the less urgent its band. */
    FDPA("fdpa", "set_bands", true),
    /** SP-PIFO: adaptive bounds choose the queue. */
    SP_PIFO("sp_pifo", "set_sp_pifo", false),
    /** AIFO: the quantile of the rank decides on admission. */
    AIFO("aifo", "set_aifo", true),
    /** RIFO: the range of recent ranks decides on admission. */
    RIFO("rifo", "set_rifo", true),
    /** PACKS: the quantile of the rank decides on admission and queue. */
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
                    return new IllegalArgumentException("no scheduler '" + name + "'; use one of: " + all);
                });
    }

    /** The table of the parameters; its key is the egress port. */
    public String table() {
        return word + "_params";
    }

    /** The only action of that table. */
    public String action() {
        return action;
    }

    /** Whether packets have ranks. FDPA has only users. */
    public boolean ranked() {
        return this != FDPA;
    }

    /** The control law; empty for a scheduler without one. */
    public Optional<Law<?, ?, ?, ?>> law() {
        return tuned ? Optional.of(Laws.named(word)) : Optional.empty();
    }

    /** The name of the scheduler, as in the configuration. */
    @Override
    public String toString() {
        return word;
    }
}
