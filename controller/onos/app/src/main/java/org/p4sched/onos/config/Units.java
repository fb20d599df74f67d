package org.p4sched.onos.config;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rates and times as people write them: "500mbit", "10ms". Forms and limits are those of the Python controller
 * (controller/p4sched/units.py).
 */
public final class Units {
    private static final Pattern NUMBER =
            Pattern.compile("([0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)\\s*([a-zµ/]*)", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Double> RATE = new LinkedHashMap<>();
    private static final Map<String, Double> TIME = new LinkedHashMap<>();
    private static final double LARGEST_RATE = 1e12;
    private static final double LONGEST_TIME = 24 * 60 * 60 * 1e9;

    static {
        RATE.put("bit", 1.0);
        RATE.put("kbit", 1e3);
        RATE.put("mbit", 1e6);
        RATE.put("gbit", 1e9);
        TIME.put("ns", 1.0);
        TIME.put("us", 1e3);
        TIME.put("µs", 1e3);
        TIME.put("ms", 1e6);
        TIME.put("s", 1e9);
        TIME.put("min", 60e9);
    }

    private Units() {}

    /** A positive rate in bit/s. Throws IllegalArgumentException for any other text. */
    public static long rate(String text) {
        return positive(text, RATE, "rate", "500mbit", LARGEST_RATE, "1000gbit");
    }

    /** A positive time in nanoseconds. Throws IllegalArgumentException for any other text. */
    public static long time(String text) {
        return positive(text, TIME, "time", "10ms", LONGEST_TIME, "a day (1440min)");
    }

    private static long positive(
            String text, Map<String, Double> units, String kind, String example, double most, String mostShown) {
        Matcher match = NUMBER.matcher(text.strip());
        if (!match.matches()) {
            throw new IllegalArgumentException(String.format(
                    "'%s' is not a %s; write a positive number and a unit, for example %s", text, kind, example));
        }
        String unit = match.group(2).toLowerCase(Locale.ROOT);
        if (unit.endsWith("/s")) {
            unit = unit.substring(0, unit.length() - 2);
        }
        if (!units.containsKey(unit)) {
            String wrong = unit.isEmpty() ? "no unit" : "unknown unit '" + match.group(2) + "'";
            throw new IllegalArgumentException(String.format(
                    "%s '%s' has %s; the units are %s, for example %s",
                    kind, text, wrong, String.join(", ", units.keySet()), example));
        }
        double value = Math.rint(Double.parseDouble(match.group(1)) * units.get(unit));
        if (value < 1) {
            throw new IllegalArgumentException(
                    String.format("%s '%s' is zero; it must be positive, for example %s", kind, text, example));
        }
        if (value > most) {
            throw new IllegalArgumentException(String.format("%s '%s' is above %s", kind, text, mostShown));
        }
        return (long) value;
    }
}
