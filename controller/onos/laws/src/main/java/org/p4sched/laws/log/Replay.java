package org.p4sched.laws.log;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.p4sched.laws.Law;
import org.p4sched.laws.Laws;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Json;
import org.p4sched.laws.record.RecordException;

/**
 * Makes every decision of a log again from the inputs in the log, and shows the first difference.
 *
 * <p>Usage: {@code Replay LOG...}, like {@code p4sched replay LOG}. The exit code is 0 if all decisions of all logs are
 * as logged, 1 if one differs or a file is not a decision log, and 2 without arguments.
 */
public final class Replay {
    private Replay() {}

    public static void main(String[] arguments) {
        System.exit(run(Arrays.asList(arguments), System.out, System.err));
    }

    static int run(List<String> logs, PrintStream out, PrintStream err) {
        if (logs.isEmpty()) {
            err.println("usage: replay LOG...");
            return 2;
        }
        int code = 0;
        for (String log : logs) {
            try {
                int count = replay(Path.of(log));
                String before = logs.size() > 1 ? log + ": " : "";
                out.println(before + count + " decision" + (count == 1 ? "" : "s") + ", all as logged");
            } catch (DecisionLogException error) {
                err.println("p4sched: " + error.getMessage());
                code = 1;
            }
        }
        return code;
    }

    /**
     * Makes every decision of a log again.
     *
     * @return the number of decisions
     * @throws DecisionLogException if one differs, or the file is not a decision log; the message names file and line
     */
    public static int replay(Path path) {
        Run<?, ?, ?, ?> run = null;
        int number = 0;
        int count = 0;
        try (BufferedReader lines = Lines.of(path)) {
            for (String text = lines.readLine(); text != null; text = lines.readLine()) {
                number++;
                Map<?, ?> line = Lines.parse(text);
                if (Lines.kind(line).equals("start")) {
                    if (Boolean.TRUE.equals(line.get("turned"))) {
                        throw new DecisionLogException(path + ":" + number
                                + ": a parameter was changed by hand here; use 'p4sched replay' for this log");
                    }
                    run = begin(line);
                } else if (run == null) {
                    throw new RecordException("a decision before any start line");
                } else {
                    Optional<String> difference = run.difference(line);
                    if (difference.isPresent()) {
                        throw new DecisionLogException(path + ":" + number + ": " + difference.get());
                    }
                    count++;
                }
            }
        } catch (IOException error) {
            throw new DecisionLogException(path + ": cannot read the decision log: " + FileError.reason(error), error);
        } catch (IllegalArgumentException error) {
            throw notALine(path, number, error.getMessage(), error);
        } catch (ArithmeticException error) {
            // the types of the values are right, but no switch and no controller has such numbers
            String reason = "the law cannot compute with its numbers: " + error.getMessage();
            throw notALine(path, number, reason, error);
        }
        if (count == 0) {
            throw new DecisionLogException(path + ": holds no decision");
        }
        return count;
    }

    private static DecisionLogException notALine(Path path, int number, String reason, Exception error) {
        String oneLine = reason.strip().replaceAll("\\s+", " ");
        return new DecisionLogException(path + ":" + number + ": not a line of a decision log: " + oneLine, error);
    }

    private static Run<?, ?, ?, ?> begin(Map<?, ?> start) {
        Object law = value(start, "law");
        if (!(law instanceof String)) {
            throw new RecordException("law is " + Json.abbreviated(law) + ", not a text");
        }
        return new Run<>(Laws.named((String) law), start);
    }

    private static Object value(Map<?, ?> line, String name) {
        if (!line.containsKey(name)) {
            throw new RecordException("'" + name + "' is missing");
        }
        return line.get(name);
    }

    /** The decisions after one start line. */
    private static final class Run<
            C extends Law.Config, S extends Law.State, M extends Law.Sample, D extends Law.Decision<S>> {
        private final Law<C, S, M, D> law;
        private final C config;
        private S state;

        Run(Law<C, S, M, D> law, Map<?, ?> start) {
            this.law = law;
            config = law.config(Fields.of("config.", Fields.object("config", value(start, "config"))));
            Object parameters = value(start, "found");
            state = law.takeOver(Optional.ofNullable(parameters).map(data -> Fields.wholeNumbers("found", data)));
        }

        /** The first difference between the decision of this line and the one that the law makes again. */
        Optional<String> difference(Map<?, ?> line) {
            M sample = law.sample(Fields.of("", Fields.object("line", line)));
            D decision = law.decide(config, state, sample);
            state = decision.state;
            return Difference.between("", line, decision.record());
        }
    }
}
