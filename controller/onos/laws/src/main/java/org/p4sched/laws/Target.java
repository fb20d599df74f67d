package org.p4sched.laws;

/** What a program is written for. */
public enum Target {
    /** Software switches: the embedded one and BMv2. */
    V1MODEL(32),
    /** Tofino 1. */
    TNA(16),
    /** Tofino 2. */
    T2NA(16);

    /** Ranks that the window of AIFO and PACKS can hold. */
    public final int largestWindow;

    Target(int largestWindow) {
        this.largestWindow = largestWindow;
    }
}
