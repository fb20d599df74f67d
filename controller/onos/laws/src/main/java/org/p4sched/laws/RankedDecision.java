package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Decision of a ranked scheme's law on one sample. */
public final class RankedDecision extends Law.Decision<RankedState> {
    private final Traffic traffic;

    /** {@code traffic} is null before there are enough polls. */
    RankedDecision(RankedState state, boolean changed, Traffic traffic) {
        super(state, state.parameters, changed);
        this.traffic = traffic;
    }

    /** The traffic that the decision is for; empty before there are enough polls. */
    public Optional<Traffic> traffic() {
        return Optional.ofNullable(traffic);
    }

    @Override
    public Map<String, Object> record() {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("traffic", traffic == null ? null : traffic.record());
        record.put("changed", changed);
        record.put("parameters", parameters.actionData());
        return record;
    }
}
