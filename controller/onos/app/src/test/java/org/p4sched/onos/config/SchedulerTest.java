package org.p4sched.onos.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SchedulerTest {
    private static String description(String name, String program, int order, String compared) {
        return String.join(
                "\n",
                "name = \"" + name + "\"",
                "title = \"" + name.toUpperCase(Locale.ROOT) + "\"",
                "compared = [" + compared + "]",
                "order = " + order,
                "[program]",
                "v1model = \"../../p4/" + program + ".p4\"",
                "table = \"" + name + "_params\"",
                "action = \"set_" + name + "\"",
                "");
    }

    @Test
    void aDescriptionIsEnoughForAScheduler() {
        String text = description("second", "second", 2, "\"users\"")
                + "[laboratory]\noptions = [\"--port\", \"--queues\"]\n"
                + description("ideal", "first", 3, "\"ranks\"")
                + description("first", "first", 1, "\"flows\", \"ranks\"");
        Map<String, Scheduler> found = Scheduler.all(text);
        assertEquals(List.of("first", "second"), List.copyOf(found.keySet()), "an ideal has no program of its own");
        Scheduler second = found.get("second");
        assertEquals("second_params, set_second", second.table() + ", " + second.action());
        assertFalse(second.ranked());
        assertTrue(found.get("first").ranked());
        assertTrue(second.options().contains("--queues"));
        assertTrue(found.get("first").options().isEmpty());
        assertTrue(second.law().isEmpty());
    }

    @Test
    void anUnknownNameIsToldWithTheKnownOnes() {
        String message = assertThrows(IllegalArgumentException.class, () -> Scheduler.named("wfq"))
                .getMessage();
        assertTrue(message.startsWith("no scheduler 'wfq'; use one of: fifo, "), message);
    }
}
