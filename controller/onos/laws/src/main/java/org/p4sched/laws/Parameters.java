package org.p4sched.laws;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.p4sched.laws.record.RecordException;

/**
 * Parameters of a scheduler: the action data of a table's default action. One write changes all of them. Two parameter
 * sets with the same action data are equal.
 */
public abstract class Parameters {
    /** Priority queues of a port. */
    public static final int QUEUES = 8;
    /** Largest size of a queue; the programs have 16 bits for it. */
    public static final int MAX_PACKETS = 0xFFFF;

    /** The table, by its name in P4Info. */
    public abstract String table();

    /** The action, by its name in P4Info. */
    public abstract String action();

    /** The action's parameters by their names, in the order of the program. */
    public abstract Map<String, Long> actionData();

    @Override
    public final boolean equals(Object other) {
        return other instanceof Parameters
                && action().equals(((Parameters) other).action())
                && actionData().equals(((Parameters) other).actionData());
    }

    @Override
    public final int hashCode() {
        return actionData().hashCode();
    }

    @Override
    public final String toString() {
        return action() + actionData();
    }

    static long value(Map<String, Long> actionData, String name) {
        Long value = actionData.get(name);
        if (value == null) {
            throw new RecordException("'" + name + "' is missing");
        }
        return value;
    }

    /** The values of {@code name}1, {@code name}2 and so on. */
    static List<Long> values(Map<String, Long> actionData, String name, int count) {
        List<Long> values = new ArrayList<>();
        for (int number = 1; number <= count; number++) {
            values.add(value(actionData, name + number));
        }
        return values;
    }

    /** The parameters {@code name}1, {@code name}2 and so on; 0 where there is no value. */
    static Map<String, Long> numbered(String name, List<Long> values, int count) {
        Map<String, Long> data = new LinkedHashMap<>();
        for (int number = 1; number <= count; number++) {
            data.put(name + number, number <= values.size() ? values.get(number - 1) : 0);
        }
        return data;
    }
}
