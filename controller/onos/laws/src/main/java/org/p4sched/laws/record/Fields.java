package org.p4sched.laws.record;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Typed access to the fields of an object. An error names the field. Whole numbers are counters, sizes or times, so
 * none is negative.
 */
public final class Fields {
    private final String before;
    private final Map<String, ?> values;
    private final Set<String> known = new LinkedHashSet<>();

    private Fields(String before, Map<String, ?> values) {
        this.before = before;
        this.values = values;
    }

    /** Fields of this object; {@code before} precedes their names in messages. */
    public static Fields of(String before, Map<String, ?> values) {
        return new Fields(before, values);
    }

    /** A whole number. */
    public long whole(String name) {
        return whole(before + name, value(name));
    }

    /** A whole number, or its default. */
    public long whole(String name, long otherwise) {
        return has(name) ? whole(name) : otherwise;
    }

    /** Any finite number, or its default. */
    public double number(String name, double otherwise) {
        return has(name) ? number(before + name, value(name)) : otherwise;
    }

    /** True or false, or its default. */
    public boolean flag(String name, boolean otherwise) {
        if (!has(name)) {
            return otherwise;
        }
        Object value = value(name);
        require(value instanceof Boolean, before + name, value, "true or false");
        return (Boolean) value;
    }

    /** A text. */
    public String text(String name) {
        Object value = value(name);
        require(value instanceof String, before + name, value, "a text");
        return (String) value;
    }

    /** A list of whole numbers. */
    public List<Long> wholes(String name) {
        return wholes(before + name, value(name), -1);
    }

    /** A list of {@code count} whole numbers. */
    public List<Long> wholes(String name, int count) {
        return wholes(before + name, value(name), count);
    }

    /** An object of finite numbers; empty if it is missing. */
    public Map<String, Double> numbers(String name) {
        Map<String, Double> result = new LinkedHashMap<>();
        if (has(name)) {
            object(before + name, value(name)).forEach((key, value) -> {
                result.put(key, number(before + name + "." + key, value));
            });
        }
        return result;
    }

    /** An object with numbers as keys and lists of {@code count} whole numbers as values. */
    public Map<Long, List<Long>> numbered(String name, int count) {
        Map<Long, List<Long>> result = new LinkedHashMap<>();
        object(before + name, value(name)).forEach((key, value) -> {
            if (!key.matches("[0-9]{1,18}")) {
                throw new RecordException(before + name + " has the key " + Json.abbreviated(key) + ", not a number");
            }
            result.put(Long.valueOf(key), wholes(before + name + "." + key, value, count));
        });
        return result;
    }

    /**
     * Checks that all fields were read. To be called last.
     *
     * @throws RecordException if there is another field
     */
    public void noOthers() {
        Set<String> others = new TreeSet<>(values.keySet());
        others.removeAll(known);
        if (!others.isEmpty()) {
            throw new RecordException(
                    before + others.iterator().next() + " is not known; use one of: " + String.join(", ", known));
        }
    }

    /** The value as an object. */
    public static Map<String, ?> object(String name, Object value) {
        require(value instanceof Map, name, value, "an object");
        Map<String, Object> result = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((key, item) -> result.put(key.toString(), item));
        return result;
    }

    /** The value as an object of whole numbers. */
    public static Map<String, Long> wholeNumbers(String name, Object value) {
        Map<String, Long> result = new LinkedHashMap<>();
        object(name, value).forEach((key, item) -> result.put(key, whole(name + "." + key, item)));
        return result;
    }

    private boolean has(String name) {
        known.add(name);
        return values.containsKey(name);
    }

    private Object value(String name) {
        if (!has(name)) {
            throw new RecordException(before + name + " is missing");
        }
        return values.get(name);
    }

    private static long whole(String name, Object value) {
        boolean fits = (value instanceof Long || value instanceof Integer) && ((Number) value).longValue() >= 0;
        require(fits, name, value, "a whole number from 0 to 2^63 - 1");
        return ((Number) value).longValue();
    }

    private static double number(String name, Object value) {
        boolean fits = value instanceof Number && Double.isFinite(((Number) value).doubleValue());
        require(fits, name, value, "a finite number");
        return ((Number) value).doubleValue();
    }

    /** {@code count} is -1 for any length. */
    private static List<Long> wholes(String name, Object value, int count) {
        boolean fits = value instanceof List && (count < 0 || ((List<?>) value).size() == count);
        require(fits, name, value, count < 0 ? "a list" : "a list of " + count);
        List<Long> result = new ArrayList<>();
        for (Object item : (List<?>) value) {
            result.add(whole(name + "[" + result.size() + "]", item));
        }
        return result;
    }

    private static void require(boolean condition, String name, Object value, String what) {
        if (!condition) {
            throw new RecordException(name + " is " + Json.abbreviated(value) + ", not " + what);
        }
    }
}
