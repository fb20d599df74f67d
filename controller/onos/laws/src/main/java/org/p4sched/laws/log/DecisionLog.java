package org.p4sched.laws.log;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.p4sched.laws.Law;
import org.p4sched.laws.record.Json;
import org.p4sched.laws.record.RecordException;

/**
 * Writer of a decision log. Every line is complete on disk before the next decision. The format is described in {@code
 * controller/p4sched/control/decision_log.py}.
 */
public final class DecisionLog implements Closeable {
    private static final DateTimeFormatter WALL = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSxxx");

    private final Path path;
    private final Writer file;

    /**
     * Opens a log, or creates it. An incomplete last line of a killed controller is cut off.
     *
     * @throws DecisionLogException if the file cannot be written, or is not a decision log
     */
    public DecisionLog(Path path) {
        this.path = path;
        try {
            requireLog(path);
            if (path.getParent() != null) {
                Files.createDirectories(path.getParent());
            }
            cutOffTornLine(path);
            file = Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw cannotWrite(error);
        }
    }

    /** Writes the start line of a controller: its configuration and the parameters on the switch. */
    public void start(Law.Config config, Law.State state) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", "start");
        line.put("law", config.law().name());
        line.put("wall", wallClock());
        line.put("config", config.record());
        line.put(
                "found",
                state.parameters().map(parameters -> parameters.actionData()).orElse(null));
        write(line);
    }

    /** Writes the line of one round of the control loop. */
    public void decision(Law.Sample sample, Law.Decision<?> decision) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("kind", "decision");
        line.put("time_ns", sample.timeNs);
        line.put("wall", wallClock());
        line.putAll(sample.record());
        line.putAll(decision.record());
        write(line);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException error) {
            throw cannotWrite(error);
        }
    }

    private void write(Map<String, Object> line) {
        try {
            file.write(Json.text(line) + "\n");
            file.flush();
        } catch (IOException error) {
            throw cannotWrite(error);
        }
    }

    /** Throws unless the file is a decision log, so that nothing is appended to another file. */
    private static void requireLog(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            throw new DecisionLogException(path + ": is a folder; name a file for the decision log");
        }
        if (!Files.isRegularFile(path)) {
            return;
        }
        try {
            String first = Lines.first(path);
            if (first == null || Lines.kind(Json.parse(first)).equals("start")) {
                return;
            }
        } catch (RecordException error) {
            // not a decision log, as below
        }
        throw new DecisionLogException(
                path + ": is not a decision log, so nothing is appended to it; name another file");
    }

    private static void cutOffTornLine(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            return;
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            long end = file.length();
            while (end > 0) {
                file.seek(end - 1);
                if (file.read() == '\n') {
                    break;
                }
                end--;
            }
            file.setLength(end);
        }
    }

    private DecisionLogException cannotWrite(IOException error) {
        return new DecisionLogException(path + ": cannot write the decision log: " + FileError.reason(error), error);
    }

    private static String wallClock() {
        return OffsetDateTime.now(ZoneOffset.UTC).format(WALL);
    }
}
