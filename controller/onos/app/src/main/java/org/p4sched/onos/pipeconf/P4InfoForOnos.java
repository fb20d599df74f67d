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
 * Makes P4Info that ONOS 2.5 to 2.7 can read. They know version 1.3 of P4Runtime and refuse newer fields: the default
 * actions with which tables start, and whether tables have initial entries.
 */
final class P4InfoForOnos {
    private static final Set<String> NEWER_FIELDS = Set.of("initial_default_action {", "has_initial_entries: true");

    private P4InfoForOnos() {}

    /** Copies P4Info without the newer fields to a temporary file, which is deleted when the process ends. */
    static URL copy(URL p4info) throws IOException {
        Path file = Files.createTempFile("p4sched-", ".p4info.txtpb");
        file.toFile().deleteOnExit();
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(p4info.openStream(), StandardCharsets.UTF_8))) {
            Files.writeString(file, withoutNewerFields(reader));
        }
        return file.toUri().toURL();
    }

    private static String withoutNewerFields(BufferedReader reader) throws IOException {
        StringBuilder kept = new StringBuilder();
        int left = 0;
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            String word = line.strip();
            // compilers write each brace at the end of a line, or on its own line
            boolean begins = word.endsWith(" {");
            if (left > 0) {
                left += begins ? 1 : word.equals("}") ? -1 : 0;
            } else if (!NEWER_FIELDS.contains(word)) {
                kept.append(line).append('\n');
            } else if (begins) {
                left = 1;
            }
        }
        return kept.toString();
    }
}
