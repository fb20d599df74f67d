package org.p4sched.laws;

import java.util.List;

/** A counter's value. */
public final class Count {
    public static final Count NONE = new Count(0, 0);

    public final long packets;
    public final long bytes;

    public Count(long packets, long bytes) {
        this.packets = packets;
        this.bytes = bytes;
    }

    /** The sum of two counts. */
    public Count plus(Count other) {
        return new Count(Math.addExact(packets, other.packets), Math.addExact(bytes, other.bytes));
    }

    /** The increase since {@code before}. A counter that went down was reset; then its value is the increase. */
    Count since(Count before) {
        return new Count(risen(before.packets, packets), risen(before.bytes, bytes));
    }

    static long risen(long before, long now) {
        return now >= before ? now - before : now;
    }

    static Count of(List<Long> values) {
        return new Count(values.get(0), values.get(1));
    }

    List<Long> values() {
        return List.of(packets, bytes);
    }
}
