package org.p4sched.onos.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {
    @ParameterizedTest
    @CsvSource({"500mbit,500000000", "1.5gbit,1500000000", "64kbit/s,64000", "1 Gbit,1000000000", ".5kbit,500"})
    void ratesAreBitsPerSecond(String text, long bps) {
        assertEquals(bps, Units.rate(text));
    }

    @ParameterizedTest
    @CsvSource({"10ms,10000000", "1.5s,1500000000", "250us,250000", "250µs,250000", "2min,120000000000"})
    void timesAreNanoseconds(String text, long ns) {
        assertEquals(ns, Units.time(text));
    }

    @ParameterizedTest
    @CsvSource({
        "50,'has no unit; the units are bit, kbit, mbit, gbit'",
        "50ms,has unknown unit 'ms'",
        "0mbit,is zero",
        "2000gbit,is above 1000gbit",
        "fast,'is not a rate; write a positive number and a unit, for example 500mbit'",
        "-1mbit,is not a rate"
    })
    void aWrongRateSaysWhatWouldBeRight(String text, String told) {
        String message = assertThrows(IllegalArgumentException.class, () -> Units.rate(text))
                .getMessage();
        assertTrue(message.contains(told), message);
    }

    @Test
    void aTimeIsAtMostADay() {
        assertThrows(IllegalArgumentException.class, () -> Units.time("1441min"));
    }
}
