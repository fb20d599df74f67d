package org.p4sched.laws.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NumbersTest {
    @ParameterizedTest
    @CsvSource({
        "0.0, 0.0",
        "-0.0, -0.0",
        "1.0, 1.0",
        "0.1, 0.1",
        "1e8, 100000000.0",
        "1e16, 1e+16",
        "123456789012345680.0, 1.2345678901234568e+17",
        "0.0001, 0.0001",
        "0.00001, 1e-05",
        "2e-3, 0.002",
        // 2^-44: below a power of two doubles are denser, and the nearest text of 16 digits is another double
        "5.684341886080802e-14, 5.684341886080802e-14",
        "5e-324, 5e-324",
        "1.7976931348623157e308, 1.7976931348623157e+308",
        "-2.5e22, -2.5e+22",
    })
    void aNumberIsWrittenAsPythonWritesIt(double value, String text) {
        assertEquals(text, Numbers.repr(value));
    }

    @Test
    void whatIsWrittenIsReadBackAsTheSameNumber() {
        Random random = new Random(1);
        for (int count = 0; count < 20_000; count++) {
            double value = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(value)) {
                assertEquals(value, Double.parseDouble(Numbers.repr(value)));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0.5, 0.5", "1000, 1000", "1e6, 1e+06", "123456.7, 123457", "1e-5, 1e-05", "-2.25, -2.25"})
    void aNumberOfAMessageHasSixDigits(double value, String text) {
        assertEquals(text, Numbers.general(value));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "1000, 1000", "0.5, 0.5", "1e-5, 0.00001", "1.2345678, 1.2345678", "Infinity, Infinity"
    })
    void aBandHasAllItsDigitsAndNoExponent(double value, String text) {
        assertEquals(text, Numbers.plain(value));
    }

    @ParameterizedTest
    @CsvSource({"0.5, 0", "1.5, 2", "2.5, 2", "-7, 0", "1e300, 100"})
    void aWholeNumberIsTheNearestEvenOneWithinItsBounds(double value, long whole) {
        assertEquals(whole, Numbers.rounded(value, 0, 100));
    }

    @Test
    void noWholeNumberIsNearInfinity() {
        assertThrows(ArithmeticException.class, () -> Numbers.rounded(Double.POSITIVE_INFINITY, 0, 1));
        assertThrows(ArithmeticException.class, () -> Numbers.rounded(Double.NaN, 0, 1));
    }
}
