package org.p4sched.laws.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.p4sched.laws.Aifo;

class DecisionLogTest {
    @TempDir
    private Path folder;

    @Test
    void everyLineIsOnDiskBeforeTheNextDecision() throws IOException {
        Path path = folder.resolve("new").resolve("log.jsonl");
        try (DecisionLog log = new DecisionLog(path)) {
            log.start(SteadyRun.CONFIG, Aifo.LAW.takeOver(Optional.empty()));
            String line = Files.readString(path);
            String expected = "\\{\"kind\":\"start\",\"law\":\"aifo\","
                    + "\"wall\":\"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\+00:00\","
                    + "\"config\":\\{\"rate_bps\":100000000,\"delay_ns\":5000000,\"queue_packets\":512,"
                    + "\"span_ns\":0,\"fixed\":\\{\"k\":0\\.25},\"loss\":0\\.05,\"max_headroom\":0\\.5,"
                    + "\"rate_window_ns\":1000000000,\"dispersion_window_ns\":12800000000,"
                    + "\"hold_ns\":500000000,\"window_ranks\":20},\"found\":null}\n";
            assertTrue(line.matches(expected), line);
        }
    }

    @Test
    void aLineThatAKilledControllerLeftHalfIsCutOffByTheNextOne() throws IOException {
        Path path = folder.resolve("log.jsonl");
        SteadyRun.append(path, 20);
        String whole = Files.readString(path);
        Files.writeString(path, whole.substring(0, whole.length() - 40));
        DecisionLogException torn = assertThrows(DecisionLogException.class, () -> Replay.replay(path));
        assertTrue(
                torn.getMessage().startsWith(path + ":21: not a line of a decision log: not JSON: "),
                torn.getMessage());
        SteadyRun.append(path, 1);
        assertEquals(20, Replay.replay(path));
    }

    @Test
    void onlyADecisionLogIsAppendedTo() throws IOException {
        Path other = folder.resolve("notes.txt");
        Files.writeString(other, "my notes\n");
        assertEquals(
                List.of(
                        other + ": is not a decision log, so nothing is appended to it; name another file",
                        folder + ": is a folder; name a file for the decision log",
                        other.resolve("log.jsonl") + ": cannot write the decision log: File exists"),
                List.of(refused(other), refused(folder), refused(other.resolve("log.jsonl"))));
        assertEquals("my notes\n", Files.readString(other));
    }

    private static String refused(Path path) {
        return assertThrows(DecisionLogException.class, () -> new DecisionLog(path).close())
                .getMessage();
    }
}
