package org.p4sched.laws;

import java.util.List;
import java.util.Map;

/** SP-PIFO has no law: its bounds adapt in the data plane. {@link Packs#queueSizes} gives sizes that fit. */
public final class SpPifo {
    private SpPifo() {}

    /** Action data of {@code set_sp_pifo}. */
    public static final class Parameters extends org.p4sched.laws.Parameters {
        /** Packets that queue 1, the most urgent, and those that follow can hold. */
        public final List<Long> sizes;

        /** Sizes of one to eight queues. */
        public Parameters(List<Long> sizes) {
            this.sizes = List.copyOf(sizes);
        }

        @Override
        public String table() {
            return "sp_pifo_params";
        }

        @Override
        public String action() {
            return "set_sp_pifo";
        }

        @Override
        public Map<String, Long> actionData() {
            return numbered("size_", sizes, QUEUES);
        }
    }
}
