package org.p4sched.laws;

import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * F(x): the share of packets whose rank lies in the most urgent share x of the range, from the rank histogram.
 *
 * <p>Within a bucket the model assumes that the density grows or falls exponentially, at the rate between the bucket
 * below and this one. For the highest bucket it uses the two buckets below, and derives how far the ranks reach.
 */
final class RankShares {
    /** Buckets below this one are so narrow that they show where the ranks end. */
    private static final int MIN_BUCKET = 4;
    /** A range of fewer ranks is handled rank by rank. */
    private static final int FEW_RANKS = 32;

    private final long[] ranks;
    private final int[] filled;

    RankShares(long[] ranks) {
        this.ranks = ranks;
        filled = IntStream.range(0, ranks.length)
                .filter(bucket -> ranks[bucket] > 0)
                .toArray();
    }

    double urgent(double x) {
        if (filled.length == 0) {
            return x;
        }
        long total = LongStream.of(ranks).sum();
        int last = filled[filled.length - 1];
        long low = first(filled[0]);
        double high = highest(last);
        double rank = low + x * (high - low);
        if (high - low < FEW_RANKS) {
            // up to and with the last whole rank in this share of the range
            rank = Math.floor(low + x * (high - 1 - low)) + 1;
        }
        double below = 0;
        for (int bucket : filled) {
            long first = first(bucket);
            double reach = (bucket == last ? high : end(bucket)) - first;
            if (rank < first + reach) {
                double growth = growth(bucket == last ? bucket - 1 : bucket);
                double inside = Math.max(0, rank - first);
                double part = growth == 0
                        ? inside / reach
                        : StrictMath.expm1(growth * inside) / StrictMath.expm1(growth * reach);
                return (below + ranks[bucket] * part) / total;
            }
            below += ranks[bucket];
        }
        return 1;
    }

    /** Exponential growth of the density for each rank, from the bucket below to this one. */
    private double growth(int bucket) {
        if (bucket < MIN_BUCKET || ranks[bucket] == 0 || ranks[bucket - 1] == 0) {
            return 0;
        }
        double width = Math.scalb(1.0, bucket - 1);
        // the one below is half as wide; their middles are 3/4 width apart
        return StrictMath.log((double) ranks[bucket] / ranks[bucket - 1] / 2) / (0.75 * width);
    }

    /** End of the ranks in the highest bucket, if their density continues as in the two buckets below. */
    private double highest(int bucket) {
        if (bucket <= MIN_BUCKET || ranks[bucket - 1] == 0) {
            return end(bucket);
        }
        double width = first(bucket) / 2.0;
        double growth = growth(bucket - 1);
        double held = ranks[bucket] / (ranks[bucket - 1] / width * StrictMath.exp(growth * width / 2));
        // the integral of exp(growth * y) from 0 to the reach is what the bucket holds
        double grown = growth * held;
        double reach = end(bucket) - first(bucket);
        if (growth == 0) {
            reach = held;
        } else if (grown > -1) {
            reach = StrictMath.log1p(grown) / growth;
        }
        return Math.min((double) end(bucket), first(bucket) + Math.max(1, reach));
    }

    /** Smallest rank of a bucket. */
    private static long first(int bucket) {
        return bucket == 0 ? 0 : 1L << (bucket - 1);
    }

    /** Smallest rank beyond a bucket. */
    private static long end(int bucket) {
        return 1L << bucket;
    }
}
