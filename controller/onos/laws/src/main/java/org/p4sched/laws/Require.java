package org.p4sched.laws;

/** Checks of values. The message of the IllegalArgumentException is one sentence. */
final class Require {
    private Require() {}

    static void that(boolean condition, String wrong) {
        if (!condition) {
            throw new IllegalArgumentException(wrong);
        }
    }

    static void inRange(String name, long value, long low, long high, String unit) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(
                    name + " = " + value + " is out of range: " + low + " to " + high + " " + unit);
        }
    }
}
