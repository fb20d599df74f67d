package org.p4sched.laws.record;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.stream.Stream;

/** Numbers rounded and written as Python does it, so that the logs of both controllers agree. */
public final class Numbers {
    /** Significant digits of an estimate in a log, and of a number in a message. */
    private static final int DIGITS = 6;
    /** Enough for every double. */
    private static final int MOST_DIGITS = 17;

    private Numbers() {}

    /**
     * The nearest whole number, half to even, within the bounds.
     *
     * @throws ArithmeticException for a value that is not finite
     */
    public static long rounded(double value, long low, long high) {
        if (!Double.isFinite(value)) {
            throw new ArithmeticException(
                    "cannot convert float " + (Double.isNaN(value) ? "NaN" : "infinity") + " to integer");
        }
        double whole = Math.rint(value);
        return whole <= low ? low : whole >= high ? high : (long) whole;
    }

    /** The value to six significant digits. */
    public static double toSixDigits(double value) {
        return Double.isFinite(value) ? sixDigits(value).doubleValue() : value;
    }

    /** At most six significant digits: Python's format {@code g}. */
    public static String general(double value) {
        if (!Double.isFinite(value)) {
            return Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return "0";
        }
        BigDecimal rounded = sixDigits(value);
        return exponent(rounded) >= -4 && exponent(rounded) < DIGITS ? rounded.toPlainString() : withExponent(rounded);
    }

    /** The shortest text that parses to this value, as Python's {@code repr}; for NaN and infinities, Java's text. */
    public static String repr(double value) {
        if (!Double.isFinite(value) || value == 0) {
            return Double.toString(value);
        }
        BigDecimal shortest = shortest(value);
        if (exponent(shortest) < -4 || exponent(shortest) >= MOST_DIGITS - 1) {
            return withExponent(shortest);
        }
        return shortest.scale() > 0 ? shortest.toPlainString() : shortest.toPlainString() + ".0";
    }

    /** The shortest text without an exponent that parses to this value; a whole number has no point. */
    public static String plain(double value) {
        if (!Double.isFinite(value)) {
            return Double.toString(value);
        }
        return value == 0 ? "0" : shortest(value).toPlainString();
    }

    private static BigDecimal sixDigits(double value) {
        return new BigDecimal(value)
                .round(new MathContext(DIGITS, RoundingMode.HALF_EVEN))
                .stripTrailingZeros();
    }

    /** The nearest of the shortest decimals that parse to this value. */
    private static BigDecimal shortest(double value) {
        BigDecimal exact = new BigDecimal(value);
        for (int digits = 1; digits < MOST_DIGITS; digits++) {
            // below a power of two values are denser: there the nearest decimal may parse to another value, but the
            // next one to this value
            BigDecimal down = exact.round(new MathContext(digits, RoundingMode.DOWN));
            BigDecimal up = exact.round(new MathContext(digits, RoundingMode.UP));
            BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            BigDecimal other = nearest.compareTo(down) == 0 ? up : down;
            BigDecimal result = Stream.of(nearest, other)
                    .filter(each -> each.doubleValue() == value)
                    .findFirst()
                    .orElse(null);
            if (result != null) {
                return result.stripTrailingZeros();
            }
        }
        return exact.round(new MathContext(MOST_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
    }

    /** The exponent of the first digit. */
    private static int exponent(BigDecimal value) {
        return value.precision() - value.scale() - 1;
    }

    private static String withExponent(BigDecimal value) {
        String digits = value.unscaledValue().abs().toString();
        String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
        int exponent = exponent(value);
        return String.format(
                Locale.ROOT,
                "%s%s%se%s%02d",
                value.signum() < 0 ? "-" : "",
                digits.charAt(0),
                fraction,
                exponent < 0 ? "-" : "+",
                Math.abs(exponent));
    }
}
