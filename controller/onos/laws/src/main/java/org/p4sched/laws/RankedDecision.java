package org.p4sched.laws;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The answer of a ranked scheme's law to one sample. */
public final class RankedDecision extends Law.Decision<RankedState> {
    private final Traffic traffic;

    /** {@code traffic} is null while too little is known. */
    RankedDecision(RankedState state, boolean changed, Traffic traffic) {
        super(state, state.parameters, changed);
        this.traffic = traffic;
    }

    /** What the decision rests on; empty while too little is known. */
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
