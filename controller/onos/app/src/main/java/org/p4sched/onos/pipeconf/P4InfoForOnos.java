package org.p4sched.onos.pipeconf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/**
 * P4Info as ONOS 2.5 to 2.7 can read it. These know version 1.3 of P4Runtime and refuse what came later: the default
 * actions with which tables start, and whether tables have entries from the start.
 */
final class P4InfoForOnos {
    private static final Set<String> LATER = Set.of("initial_default_action {", "has_initial_entries: true");

    private P4InfoForOnos() {}

    /** A copy without what ONOS refuses, in a temporary file that goes with the process. */
    static URL copy(URL p4info) throws IOException {
        Path file = Files.createTempFile("p4sched-", ".p4info.txtpb");
        file.toFile().deleteOnExit();
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(p4info.openStream(), StandardCharsets.UTF_8))) {
            Files.writeString(file, withoutLater(reader));
        }
        return file.toUri().toURL();
    }

    private static String withoutLater(BufferedReader reader) throws IOException {
        StringBuilder kept = new StringBuilder();
        int left = 0;
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            String word = line.strip();
            // compilers put each brace at the end of a line, or on one of its own
            boolean begins = word.endsWith(" {");
            if (left > 0) {
                left += begins ? 1 : word.equals("}") ? -1 : 0;
            } else if (!LATER.contains(word)) {
                kept.append(line).append('\n');
            } else if (begins) {
                left = 1;
            }
        }
        return kept.toString();
    }
}
