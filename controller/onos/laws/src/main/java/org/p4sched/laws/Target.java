package org.p4sched.laws;

/** The architecture that a program is written for. */
public enum Target {
    /** Software switches: the embedded one and BMv2. */
    V1MODEL(32, false),
    /** Tofino 1. */
    TNA(16, true),
    /** Tofino 2. */
    T2NA(16, false);

    /** Largest window of AIFO and PACKS, ranks. */
    public final int largestWindow;

    /** Whether each departure reports the length of its queue to ingress. */
    final boolean lengthReports;

    Target(int largestWindow, boolean lengthReports) {
        this.largestWindow = largestWindow;
        this.lengthReports = lengthReports;
    }
}
