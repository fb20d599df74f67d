package org.p4sched.laws.log;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.p4sched.laws.record.Json;

/** Comparison of a logged value with the one that a law computes again. Numbers are compared by their value. */
final class Difference {
    private Difference() {}

    /** The first difference, with its name and both values. Members of an object that only the log has are ignored. */
    static Optional<String> between(String name, Object logged, Object again) {
        if (logged instanceof Map && again instanceof Map) {
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) again).entrySet()) {
                String key = entry.getKey().toString();
                if (!((Map<?, ?>) logged).containsKey(key)) {
                    return Optional.of(name + key + " is not in the log, now " + Json.abbreviated(entry.getValue()));
                }
                Object before = ((Map<?, ?>) logged).get(key);
                Optional<String> difference = between(name + key + ".", before, entry.getValue());
                if (difference.isPresent()) {
                    return difference;
                }
            }
            return Optional.empty();
        }
        if (equal(logged, again)) {
            return Optional.empty();
        }
        String place = name.substring(0, name.length() - 1);
        return Optional.of(place + " was " + Json.abbreviated(logged) + ", now " + Json.abbreviated(again));
    }

    private static boolean equal(Object logged, Object again) {
        if (logged instanceof List && again instanceof List) {
            List<?> before = (List<?>) logged;
            List<?> now = (List<?>) again;
            for (int place = 0; place < now.size() && place < before.size(); place++) {
                if (!equal(before.get(place), now.get(place))) {
                    return false;
                }
            }
            return before.size() == now.size();
        }
        if (isNumber(logged) && isNumber(again)) {
            return equal(number(logged), number(again));
        }
        return Objects.equals(logged, again);
    }

    private static boolean equal(Number logged, Number again) {
        double before = logged.doubleValue();
        double now = again.doubleValue();
        if (Double.isFinite(before) && Double.isFinite(now)) {
            return exact(logged).compareTo(exact(again)) == 0;
        }
        return before == now;
    }

    /** As in Python, true is 1. */
    private static boolean isNumber(Object value) {
        return value instanceof Number || value instanceof Boolean;
    }

    private static Number number(Object value) {
        if (value instanceof Number) {
            return (Number) value;
        }
        return Boolean.TRUE.equals(value) ? 1 : 0;
    }

    private static BigDecimal exact(Number value) {
        return value instanceof Double ? new BigDecimal((Double) value) : new BigDecimal(value.toString());
    }
}
