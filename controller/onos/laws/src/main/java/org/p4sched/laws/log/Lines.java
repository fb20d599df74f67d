package org.p4sched.laws.log;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.p4sched.laws.record.Json;
import org.p4sched.laws.record.RecordException;

/** Lines of a log. */
final class Lines {
    /** Longest first line, characters; that of a decision log has some hundreds. */
    private static final int LONGEST = 1_000_000;

    private Lines() {}

    /** Opens a file, which may be of another kind: bytes that are not UTF-8 are replaced. */
    static BufferedReader of(Path path) throws IOException {
        return new BufferedReader(new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8));
    }

    /** The first line, cut off at {@link #LONGEST} characters; null for an empty file. */
    static String first(Path path) throws IOException {
        try (BufferedReader lines = of(path)) {
            char[] begin = new char[LONGEST];
            int length = 0;
            for (int more = 0; more >= 0 && length < LONGEST; length += Math.max(0, more)) {
                more = lines.read(begin, length, LONGEST - length);
            }
            return length == 0
                    ? null
                    : new String(begin, 0, length).lines().findFirst().orElse("");
        }
    }

    /** The line as an object. */
    static Map<?, ?> parse(String text) {
        Object line = Json.parse(text);
        kind(line);
        return (Map<?, ?>) line;
    }

    /** The kind of a line: start or decision. */
    static String kind(Object line) {
        Object kind = line instanceof Map ? ((Map<?, ?>) line).get("kind") : null;
        if (!"start".equals(kind) && !"decision".equals(kind)) {
            throw new RecordException(Json.abbreviated(line) + " is not an object of the kind start or decision");
        }
        return (String) kind;
    }
}
