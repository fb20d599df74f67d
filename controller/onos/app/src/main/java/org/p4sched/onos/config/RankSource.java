package org.p4sched.onos.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Source of packet ranks (p4/include/rank.p4). */
public enum RankSource {
    /** Table {@code flow_ranks}. */
    STATIC("RANK_STATIC"),
    /** The rank header of UDP datagrams to ports 5376 to 5631. */
    HEADER("RANK_HEADER"),
    /** The TOS byte. */
    TOS("RANK_TOS"),
    /** Start-time fair queueing: the virtual start time, which the switch computes. */
    STFQ("RANK_STFQ");

    private final int number;

    RankSource(String constant) {
        number = Constants.named(constant);
    }

    /** The number for the action {@code set_rank_source}. */
    public int number() {
        return number;
    }

    /** Reads "static", "header", "tos" or "stfq". Throws IllegalArgumentException for any other text. */
    public static RankSource parse(String text) {
        for (RankSource source : values()) {
            if (source.toString().equals(text)) {
                return source;
            }
        }
        String all = Arrays.stream(values()).map(RankSource::toString).collect(Collectors.joining(", "));
        throw new IllegalArgumentException("no rank source '" + text + "'; use one of: " + all);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
