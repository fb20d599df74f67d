package org.p4sched.laws;

/**
 * The predicted share of an ideal PIFO's departures among RIFO's, for some traffic. The model is a birth-death chain over
 * the length of the queue and one state more, the idle link, which admits everything. Logarithms of another mathematical
 * library may differ in their last bit, and so may the prediction.
 */
final class Agreement {
    /** Points of F; a number that many sizes divide. */
    private static final int GRID = 240;

    private final double load;
    private final double dispersion;
    /** Of the arrivals: what a PIFO would send. */
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

    /** For a queue of {@code buffer} packets, {@code headroom} of them free to all. */
    double of(long buffer, long headroom) {
        // of the state: its weight, the share of arrivals that it admits, and of these what a PIFO sends
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
            // beyond what a double holds nothing else matters
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
