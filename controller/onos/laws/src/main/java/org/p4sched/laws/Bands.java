package org.p4sched.laws;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.p4sched.laws.record.Numbers;

/**
 * FDPA's band notation F(FirstBand + NumBands * BandSize) (FDPA paper, section IV-C), in multiples of the fair share.
 *
 * <p>"1+4*0.5": the first band is one fair share, four more follow, each half a fair share wide, the last one open.
 */
public final class Bands {
    /** Eight priority queues, one for each band. */
    public static final int MAX_FURTHER_BANDS = 7;

    private static final Pattern NOTATION = Pattern.compile(
            "(?:F\\s*\\(\\s*)?(?<first>\\d+(?:\\.\\d+)?)\\s*\\+\\s*(?<further>\\d+)\\s*\\*\\s*(?<size>\\d+(?:\\.\\d+)?)"
                    + "(?:\\s*\\))?");

    /** FirstBand: width of the first band. */
    public final double first;
    /** NumBands: how many bands follow. */
    public final int further;
    /** BandSize: width of each band that follows; the last one is open. */
    public final double size;

    /** Bands that fit the eight queues of a port. */
    public Bands(double first, int further, double size) {
        this.first = first;
        this.further = further;
        this.size = size;
        String before = "bands '" + this + "': ";
        String wide = "must be wider than 0 and at most 1000 fair shares";
        Require.that(0 < first && first <= 1000, before + "the first band " + wide);
        Require.that(
                1 <= further && further <= MAX_FURTHER_BANDS,
                before + further + " further bands, but a port has 8 queues: 1 to " + MAX_FURTHER_BANDS + " fit");
        Require.that(0 < size && size <= 1000, before + "further bands " + wide);
    }

    /** Reads "1+4*0.5" or "F(1+4*0.5)". */
    public static Bands parse(String text) {
        Matcher found = NOTATION.matcher(text.strip());
        Require.that(
                found.matches() && found.group("further").length() < 10,
                "bands '" + text + "' are not FIRST+COUNT*SIZE with positive numbers, for example 1+4*0.5: "
                        + "a first band of 1 fair share, then 4 bands of half a fair share");
        return new Bands(
                Double.parseDouble(found.group("first")),
                Integer.parseInt(found.group("further")),
                Double.parseDouble(found.group("size")));
    }

    /** All bands, the open one included. */
    public int count() {
        return further + 1;
    }

    /** Upper edge of every band but the open one, in fair shares, ascending. */
    public List<Double> edges() {
        List<Double> edges = new ArrayList<>();
        for (int band = 0; band < further; band++) {
            edges.add(first + band * size);
        }
        return edges;
    }

    /** All digits, so that what reads it again has the same edges. */
    @Override
    public String toString() {
        return Numbers.plain(first) + "+" + further + "*" + Numbers.plain(size);
    }
}
