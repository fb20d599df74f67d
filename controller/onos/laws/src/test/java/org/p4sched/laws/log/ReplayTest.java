package org.p4sched.laws.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.p4sched.laws.PortSample;
import org.p4sched.laws.record.Json;

class ReplayTest {
    private static final String NO_LINE = ": not a line of a decision log: ";
    private static final String ALL = " decisions, all as logged\n";

    @TempDir
    private Path folder;

    private Path path;

    @BeforeEach
    void writeLog() {
        path = folder.resolve("decisions.jsonl");
        SteadyRun.append(path, 20);
    }

    @Test
    void aLogReplays() {
        assertEquals("0 20" + ALL, replayed(path));
    }

    @Test
    void runsOfOneLogFollowEachOther() {
        SteadyRun.append(path, 2);
        assertEquals("0 22" + ALL, replayed(path));
    }

    @Test
    void aParameterThatWasTurnedByHandIsTold() throws IOException {
        String start = Files.readAllLines(path).get(0).replaceFirst("}$", ",\"turned\":true}");
        Files.writeString(path, start + "\n", StandardOpenOption.APPEND);
        String turned = ": a parameter was changed by hand here; use 'p4sched replay' for this log\n";
        assertEquals("1 p4sched: " + path + ":22" + turned, replayed(path));
    }

    @Test
    void severalLogsAreToldApart() {
        Path none = folder.resolve("none.jsonl");
        String missing = "p4sched: " + none + ": cannot read the decision log: No such file or directory\n";
        assertEquals("1 " + path + ": 20" + ALL + missing, replayed(path, none));
    }

    @Test
    void theFirstDifferenceIsShown() throws IOException {
        replace(15, List.of("parameters", "target_packets"), "99");
        assertEquals("1 p4sched: " + path + ":16: parameters.target_packets was 99, now 41\n", replayed(path));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '~',
            value = {
                "config.rate_bps#0#rate 0 bit/s is not positive",
                "config.rate_bps#-1#config.rate_bps is -1, not a whole number from 0 to 2^63 - 1",
                "config.delay_ns#1000#delay target 0.001 ms is less than one packet of 1514 bytes takes on the link,"
                        + " 0.121 ms",
                "config.delay_ns#\"5\"#config.delay_ns is \"5\", not a whole number from 0 to 2^63 - 1",
                "config.loss#{}#config.loss is {}, not a finite number",
                "config.loss#1#loss 1 is not in (0, 1)",
                "config.fixed#null#config.fixed is null, not an object",
                "config.fixed.k#NaN#config.fixed.k is NaN, not a finite number",
                "config.fixed.k#1#headroom k = 1 is not in [0, 1)",
                "config.fixed#{\"T\": 50}#no parameter of AIFO 'T'; use one of: C, S, k",
                "config.fixed#{\"C\": 1.5}#C = 1.5 is not a whole number",
                "config.window_ranks#33#window |W| = 33 is out of range: 1 to 32 ranks",
                "config.queues#8#config.queues is not known; use one of: rate_bps, delay_ns, queue_packets, span_ns,"
                        + " fixed, loss, max_headroom, rate_window_ns, dispersion_window_ns, hold_ns, window_ranks",
                "law#\"wfq\"#no control law 'wfq'; use one of: fdpa, aifo, rifo, packs",
                "found#{\"target_packets\": 1}#'capacity_packets' is missing",
                "found#[]#found is [], not an object",
            })
    void aWrongStartIsToldWithItsPlace(String place, String value, String message) throws IOException {
        replace(0, List.of((Object[]) place.split("\\.", -1)), value);
        assertEquals("1 p4sched: " + path + ":1" + NO_LINE + message + "\n", replayed(path));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '~',
            value = {
                "time_ns#null#time_ns is null, not a whole number from 0 to 2^63 - 1",
                "time_ns#0#sample at 0 ns is older than the one before, at 100000000 ns",
                "time_ns#9223372036854775808#time_ns is 9223372036854775808, not a whole number from 0 to 2^63 - 1",
                "admitted#[1]#admitted is [1], not a list of 2",
                "admitted#[1, -1]#admitted[1] is -1, not a whole number from 0 to 2^63 - 1",
                "ranks#[1, 2]#ranks has 2 buckets, not 33",
            })
    void aWrongSampleIsToldWithItsPlace(String place, String value, String message) throws IOException {
        replace(3, List.of(place), value);
        assertEquals("1 p4sched: " + path + ":4" + NO_LINE + message + "\n", replayed(path));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[]", "\"x\"", "{}", "{\"kind\":\"decision\",\"time_ns\":0}", "no json", "\u0089PNG", ""})
    void whatIsNoLogIsRefusedInOneLine(String text) throws IOException {
        Files.writeString(path, text + "\n");
        String said = replayed(path);
        assertTrue(said.startsWith("1 p4sched: " + path + ":1" + NO_LINE), said);
        assertEquals(1, said.lines().count(), said);
    }

    @Test
    void anEmptyFileHoldsNoDecisionAndNoFileIsAWrongUse() throws IOException {
        Files.writeString(path, "");
        assertEquals("1 p4sched: " + path + ": holds no decision\n", replayed(path));
        assertEquals("2 usage: replay LOG...\n", replayed());
    }

    @Test
    void aDamagedLogIsOneLineAndNeverAStackTrace() throws IOException {
        List<String> damage = List.of(
                "null",
                "NaN",
                "-Infinity",
                "1e400",
                "-1",
                "0",
                "1",
                "true",
                "1e300",
                "18446744073709551615",
                "9223372036854775807",
                "\"\"",
                "\"x\"",
                "[]",
                "{}",
                "[0]",
                "{\"k\": 0}",
                "[".repeat(100_000));
        List<String> lines = Files.readAllLines(path).subList(0, 15);
        Set<Character> codes = new HashSet<>();
        for (int number : new int[] {0, lines.size() - 2}) {
            for (List<Object> place : places(Json.parse(lines.get(number)))) {
                for (String value : damage) {
                    Files.write(path, lines);
                    replace(number, place, value);
                    String said = replayed(path);
                    assertEquals(1, said.lines().count(), said);
                    assertTrue(said.length() < 500 + path.toString().length(), said);
                    assertTrue(said.startsWith("0") || said.contains(path + ":"), said);
                    codes.add(said.charAt(0));
                }
            }
        }
        // what only says when a line was written may be anything
        assertEquals(Set.of('0', '1'), codes);
    }

    /** The exit code, and what the command says on both streams. */
    private static String replayed(Path... logs) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(text, true, UTF_8);
        int code = Replay.run(Stream.of(logs).map(Path::toString).collect(Collectors.toList()), stream, stream);
        return code + " " + text.toString(UTF_8);
    }

    /** Puts a JSON text in the place of a value of a line. */
    private void replace(int number, List<?> place, String json) throws IOException {
        List<String> lines = new ArrayList<>(Files.readAllLines(path));
        Object line = Json.parse(lines.get(number));
        lines.set(number, Json.text(marked(line, place)).replace("\"MARK\"", json));
        Files.write(path, lines);
    }

    private static Object marked(Object value, List<?> place) {
        if (place.isEmpty()) {
            return "MARK";
        }
        List<?> rest = place.subList(1, place.size());
        if (value instanceof List) {
            List<Object> copy = new ArrayList<>((List<?>) value);
            int index = (Integer) place.get(0);
            copy.set(index, marked(copy.get(index), rest));
            return copy;
        }
        Map<Object, Object> copy = new LinkedHashMap<>((Map<?, ?>) value);
        copy.put(place.get(0), marked(copy.get(place.get(0)), rest));
        return copy;
    }

    /** Places of the values within a value, itself included; of a histogram the first and the last bucket. */
    private static List<List<Object>> places(Object value) {
        Map<Object, Object> inside = new LinkedHashMap<>();
        if (value instanceof Map) {
            inside.putAll((Map<?, ?>) value);
        } else if (value instanceof List) {
            List<?> list = (List<?>) value;
            for (int place = 0; place < list.size(); place++) {
                inside.put(place, list.get(place));
            }
            if (list.size() == PortSample.BUCKETS) {
                inside.keySet().retainAll(Set.of(0, list.size() - 1));
            }
        }
        List<List<Object>> found = new ArrayList<>(List.of(List.of()));
        inside.forEach((key, inner) -> {
            for (List<Object> rest : places(inner)) {
                List<Object> place = new ArrayList<>(List.of(key));
                place.addAll(rest);
                found.add(place);
            }
        });
        return found;
    }
}
