package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** All laws, by the name of their scheme. */
public final class Laws {
    private static final Map<String, Law<?, ?, ?, ?>> BY_NAME = new LinkedHashMap<>();

    static {
        for (Law<?, ?, ?, ?> law : new Law<?, ?, ?, ?>[] {Fdpa.LAW, Aifo.LAW, Rifo.LAW, Packs.LAW}) {
            BY_NAME.put(law.name(), law);
        }
    }

    private Laws() {}

    /**
     * The law of this scheme.
     *
     * @throws IllegalArgumentException if the scheme has no law
     */
    public static Law<?, ?, ?, ?> named(String name) {
        Law<?, ?, ?, ?> law = BY_NAME.get(name);
        Require.that(law != null, "no control law '" + name + "'; use one of: " + String.join(", ", BY_NAME.keySet()));
        return law;
    }

    /** The law of this scheme; empty if the scheme has no law. */
    public static Optional<Law<?, ?, ?, ?>> find(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }
}
