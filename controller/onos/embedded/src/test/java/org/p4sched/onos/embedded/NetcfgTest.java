package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.p4sched.onos.pipeconf.Pipeconfs;

class NetcfgTest {
    @TempDir
    static Path folder;

    private static EmbeddedOnos onos;

    @BeforeAll
    static void startOnos() {
        onos = new EmbeddedOnos();
        Pipeconfs.inApp(id -> id.endsWith(".fdpa")).forEach(onos.get(PiPipeconfService.class)::register);
    }

    @AfterAll
    static void stopOnos() {
        onos.close();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"devices\": | :1: not JSON: Unexpected end-of-input",
                "[] | : must be an object",
                "{} | : contains no device: devices.ID.basic is missing",
                "{\"switches\": {}} | : switches: unknown \"switches\"; use one of ",
                "{\"devices\": {\"device:s1\": {\"basic\": BASIC, \"p4sched\": {}}}}"
                        + " | : devices.device:s1.p4sched: unknown key; use one of ",
                "{\"devices\": {\"device:s1\": {\"basic\": {\"managementAddress\": \"127.0.0.1:9559\"}}}}"
                        + " | : devices.device:s1.basic.managementAddress: must be grpc://HOST:PORT?device_id=N,"
                        + " not \"127.0.0.1:9559\"",
                "{\"devices\": {\"device:s1\": {\"basic\":"
                        + " {\"managementAddress\": \"grpc://a:1?device_id=1\", \"driver\": \"bmv3\"}}}}"
                        + " | : devices.device:s1.basic.driver: unknown \"bmv3\"; use one of bmv2, p4runtime",
                "{\"devices\": {\"device:s1\": {\"basic\": {\"managementAddress\": \"grpc://a:1?device_id=1\","
                        + " \"driver\": \"bmv2\", \"pipeconf\": \"fdpa\"}}}}"
                        + " | : devices.device:s1.basic.pipeconf: unknown \"fdpa\"; use one of org.p4sched.pipeconf.fdpa",
            })
    void mistakesAreNamedWithTheirPath(String json, String message) throws IOException {
        Path file = folder.resolve("netcfg.json");
        Files.writeString(file, json.replace("BASIC", "{}"));
        BadInput mistake = assertThrows(BadInput.class, () -> Netcfg.apply(file, onos));
        assertEquals(file + message, mistake.getMessage().substring(0, (file + message).length()));
    }

    /** As the lab writes it, but for the driver, which is wrong: no switch is connected to, however the file is changed. */
    private static final String WHOLE = "{\"devices\": {\"device:s1\": {\"basic\":"
            + " {\"managementAddress\": \"grpc://127.0.0.1:9559?device_id=7\", \"driver\": \"bmv0\","
            + " \"pipeconf\": \"org.p4sched.pipeconf.fdpa\"},"
            + " \"ports\": {\"3\": {\"number\": 3, \"name\": \"s1-eth3\", \"enabled\": true, \"removed\": false,"
            + " \"type\": \"copper\"}},"
            + " \"p4schedScheduler\": {\"scheduler\": \"fdpa\","
            + " \"routes\": [{\"prefix\": \"10.0.9.0/24\", \"port\": 3, \"mac\": \"02:00:00:00:00:09\"},"
            + " {\"prefix\": \"10.0.8.0/24\", \"group\": 1}],"
            + " \"groups\": [{\"group\": 1, \"paths\": [{\"port\": 3, \"mac\": \"02:00:00:00:00:09\"}]}],"
            + " \"users\": [{\"user\": 1, \"prefix\": \"10.0.0.1/32\", \"weight\": 1.0},"
            + " {\"user\": 2, \"address\": \"10.2.1.1\", \"tcpPort\": 5205, \"weight\": 0.5}],"
            + " \"ports\": {\"3\": {\"rate\": \"500mbit\", \"bands\": \"1+4*0.5\", \"interval\": \"60ms\","
            + " \"rtt\": \"10ms\"}}}}}}";

    /** Values and parts of values of any kind. */
    private static final String[] OTHER = {
        "null",
        "true",
        "-1",
        "0",
        "0.5",
        "1e400",
        "NaN",
        "99999999999999999999",
        "\"\"",
        "\"x\"",
        "\"\\ud800\"",
        "[]",
        "{}",
        "[[0]]",
        "{\"3\": null}",
        ":",
        ",",
        "}",
        "]",
        "\"",
        "\u0000",
        "\u00e9",
        "9".repeat(5000),
        "[".repeat(2000)
    };

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void aChangedFileIsRefusedInOneLine(long seed) throws IOException {
        Random source = new Random(seed);
        Path file = folder.resolve("changed.json");
        for (int number = 0; number < 150; number++) {
            String text = changed(source);
            Files.writeString(file, text);
            BadInput mistake = assertThrows(BadInput.class, () -> Netcfg.apply(file, onos), text);
            assertEquals(1, mistake.getMessage().lines().count(), () -> text + "\n" + mistake.getMessage());
        }
    }

    /** With one to three tokens replaced, left out or put in. */
    private static String changed(Random source) {
        List<String> tokens = new ArrayList<>(List.of(WHOLE.split("(?<=[\\[\\]{}:,])|(?=[\\[\\]{}:,])")));
        for (int times = source.nextInt(3); times >= 0; times--) {
            int place = source.nextInt(tokens.size());
            if (source.nextBoolean()) {
                tokens.remove(place);
            }
            if (source.nextInt(4) > 0) {
                boolean other = source.nextBoolean();
                tokens.add(
                        place, other ? OTHER[source.nextInt(OTHER.length)] : tokens.get(source.nextInt(tokens.size())));
            }
        }
        return String.join("", tokens);
    }

    @Test
    void aFileThatIsNotThereIsSaidSo() {
        Path file = folder.resolve("gone.json");
        BadInput mistake = assertThrows(BadInput.class, () -> Netcfg.pipeconfs(file));
        assertEquals("cannot read " + file + ": No such file or directory", mistake.getMessage());
    }
}
