package org.p4sched.laws;

/**
 * RIFO's predicted agreement with an ideal PIFO: the share of the PIFO's departures that RIFO sends too, for given
 * traffic.
 *
 * <p>The model is a birth-death chain. Its states are the lengths of the queue, and the idle link, which admits
 * everything. Mathematical libraries differ in the last bit of a logarithm, so predictions may differ in the last bit
 * too.
 */
final class Agreement {
    /** Number of intervals at whose ends F is computed; many queue sizes divide it. */
    private static final int GRID = 240;

    private final double load;
    private final double dispersion;
    /** Share of the arrivals that a PIFO would send. */
    private final double ideal;
    /** F at 0, 1/GRID, ... 1. */
    private final double[] shares = new double[GRID + 1];

    Agreement(Traffic traffic) {
        load = Math.max(traffic.load, 1e-3);
        dispersion = traffic.dispersion;
        ideal = Math.min(1, 1 / load);
        RankShares ranks = new RankShares(traffic.ranks);
        for (int place = 0; place <= GRID; place++) {
            shares[place] = ranks.urgent((double) place / GRID);
        }
    }

    /**
     * Predicted agreement for a queue of {@code buffer} packets, which admits every rank to the first {@code headroom}.
     */
    double of(long buffer, long headroom) {
        // of each state: its weight, the share of arrivals that it admits, and the share that a PIFO sends too
        double weight = dispersion / 2;
        double admitted = 1;
        double overlap = ideal;
        double idle = weight;
        double weights = weight;
        double passed = weight;
        double chosen = weight * overlap;
        double logWeight = 0;
        for (long length = 0; length <= buffer && admitted != 0; length++) {
            logWeight += StrictMath.log(load * admitted) * 2 / Math.max(dispersion, 1 + admitted * (dispersion - 1));
            // so large a weight outweighs all other states; a larger one does not fit a double
            weight = StrictMath.exp(Math.min(logWeight, 600));
            boolean byChance = length <= headroom;
            if (length == buffer) {
                admitted = 0;
            } else {
                admitted = byChance ? 1 : shares[(int) (length * GRID / buffer)];
            }
            overlap = byChance ? admitted * ideal : Math.min(admitted, ideal);
            weights += weight;
            passed += weight * admitted;
            chosen += weight * overlap;
        }
        double busy = 1 - idle / weights;
        return busy * chosen / passed;
    }
}
