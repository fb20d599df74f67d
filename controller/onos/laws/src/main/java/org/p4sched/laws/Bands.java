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
    /** NumBands: number of bands after the first one. */
    public final int further;
    /** BandSize: width of each band after the first one; the last band is open. */
    public final double size;

    /** Throws IllegalArgumentException for bands that do not fit the eight queues of a port. */
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
        Matcher match = NOTATION.matcher(text.strip());
        Require.that(
                match.matches() && match.group("further").length() < 10,
                "bands '" + text + "' are not FIRST+COUNT*SIZE with positive numbers, for example 1+4*0.5: "
                        + "a first band of 1 fair share, then 4 bands of half a fair share");
        return new Bands(
                Double.parseDouble(match.group("first")),
                Integer.parseInt(match.group("further")),
                Double.parseDouble(match.group("size")));
    }

    /** Number of bands, including the open one. */
    public int count() {
        return further + 1;
    }

    /** Upper edges of all bands except the open one, in fair shares, ascending. */
    public List<Double> edges() {
        List<Double> edges = new ArrayList<>();
        for (int band = 0; band < further; band++) {
            edges.add(first + band * size);
        }
        return edges;
    }

    /** The notation with all digits: parsing it gives the same edges. */
    @Override
    public String toString() {
        return Numbers.plain(first) + "+" + further + "*" + Numbers.plain(size);
    }
}
