package org.p4sched.onos.embedded;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import p4.v1.P4RuntimeOuterClass.CounterData;
import p4.v1.P4RuntimeOuterClass.DirectCounterEntry;
import p4.v1.P4RuntimeOuterClass.Entity;
import p4.v1.P4RuntimeOuterClass.TableEntry;
import p4.v1.P4RuntimeOuterClass.Update;

/** The program as its users start it. */
class MainTest {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final long PACKETS = 1234;

    @TempDir
    Path folder;

    private final List<Process> started = new ArrayList<>();
    private Switch s1;

    @BeforeEach
    void startSwitch() {
        s1 = new Switch().start();
    }

    @AfterEach
    void stopAll() {
        started.forEach(process -> process.destroyForcibly().onExit().join());
        s1.close();
    }

    @Test
    void aRestartedOnosTakesOverWhatItFinds() throws Exception {
        Path netcfg = folder.resolve("netcfg.json");
        Files.writeString(netcfg, netcfg());
        Process first = onos("first", "--netcfg", netcfg.toString());
        awaitReady("first");
        first.destroyForcibly().onExit().join();
        try (Rival meanwhile = new Rival(s1.port(), 1000)) {
            assertEquals(0, meanwhile.ask().getStatus().getCode());
            TableEntry user = entries(meanwhile, "users_by_prefix").get(0);
            meanwhile.write(Update.Type.MODIFY, counted(user));
            TableEntry route = entries(meanwhile, "ipv4_routes").get(0);
            meanwhile.write(
                    Update.Type.INSERT,
                    Entity.newBuilder().setTableEntry(unknown(route)).build());
        }
        Process second = onos("second", "--netcfg", netcfg.toString());
        awaitReady("second");
        try (Rival reader = new Rival(s1.port(), 1)) {
            assertTrue(said("second").contains("its entries stay"), said("second"));
            assertEquals(200, put("second", "/users/2", "{\"prefix\": \"10.1.0.2/32\", \"weight\": 2}"));
            assertEquals(400, put("second", "", "{\"scheduler\": \"fdpa\"} and more"));
            assertEquals(2, entries(reader, "users_by_prefix").size());
            await().atMost(PATIENCE).until(() -> entries(reader, "ipv4_routes").size() == 1);
            // neither the pipeline nor the entry was written again: its counter has gone on
            assertEquals(
                    PACKETS,
                    entries(reader, "users_by_prefix").get(0).getCounterData().getPacketCount());
        }
        second.destroy();
        assertEquals(0, second.onExit().join().exitValue());
    }

    @Test
    void aBadConfigurationEndsItWithOneLine() throws Exception {
        Path netcfg = folder.resolve("netcfg.json");
        Files.writeString(netcfg, netcfg().replace("\"weight\": 1", "\"weight\": 0"));
        Process process = onos("bad", "--netcfg", netcfg.toString());
        assertEquals(2, process.onExit().join().exitValue());
        Optional<String> line = said("bad")
                .lines()
                .filter(text -> text.startsWith("p4sched-onos: "))
                .findFirst();
        assertTrue(line.orElseThrow().contains("devices.device:s1.p4schedScheduler.users[0].weight"), line.get());
    }

    private String netcfg() {
        return "{\"devices\": {\"device:s1\": {"
                + "\"basic\": {\"managementAddress\": \"" + s1.address() + "\", \"driver\": \"bmv2\","
                + " \"pipeconf\": \"org.p4sched.pipeconf.fdpa\"},"
                + "\"p4schedScheduler\": {\"scheduler\": \"fdpa\","
                + " \"users\": [{\"user\": 1, \"prefix\": \"10.1.0.1/32\", \"weight\": 1}],"
                + " \"routes\": [{\"prefix\": \"10.0.1.0/24\", \"port\": 1, \"mac\": \"00:00:0a:00:01:01\"}],"
                + " \"ports\": {\"1\": {\"rate\": \"50mbit\"}}}}}}";
    }

    private Process onos(String name, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "--add-opens",
                "java.base/java.lang.invoke=ALL-UNNAMED",
                "--add-opens",
                "java.base/java.util.concurrent.atomic=ALL-UNNAMED",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Main.class.getName(),
                "--rest",
                "127.0.0.1:0"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectOutput(folder.resolve(name + ".out").toFile())
                .redirectError(folder.resolve(name + ".err").toFile())
                .start();
        started.add(process);
        return process;
    }

    private void awaitReady(String name) {
        await().atMost(PATIENCE)
                .until(() -> Files.readString(folder.resolve(name + ".out")).equals("ready\n"));
    }

    /** The status that answers a request for the switch. */
    private int put(String name, String path, String body) throws IOException, InterruptedException {
        Matcher rest = Pattern.compile("REST on (http://\\S+)").matcher(said(name));
        assertTrue(rest.find(), said(name));
        HttpResponse<Void> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(rest.group(1) + "/devices/device:s1" + path))
                                .header("Content-Type", "application/json")
                                .PUT(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
        return answer.statusCode();
    }

    private String said(String name) throws IOException {
        return Files.readString(folder.resolve(name + ".err"));
    }

    private static List<TableEntry> entries(Rival reader, String table) {
        int id = Program.tableId("fdpa", table);
        List<TableEntry> found = new ArrayList<>();
        reader.read(Entity.newBuilder()
                        .setTableEntry(
                                TableEntry.newBuilder().setTableId(id).setCounterData(CounterData.getDefaultInstance()))
                        .build())
                .forEach(entity -> found.add(entity.getTableEntry()));
        return found;
    }

    private static Entity counted(TableEntry entry) {
        return Entity.newBuilder()
                .setDirectCounterEntry(DirectCounterEntry.newBuilder()
                        .setTableEntry(TableEntry.newBuilder()
                                .setTableId(entry.getTableId())
                                .addAllMatch(entry.getMatchList()))
                        .setData(CounterData.newBuilder().setPacketCount(PACKETS)))
                .build();
    }

    /** The same route for the prefix beside it, so that ONOS does not know it. */
    private static TableEntry unknown(TableEntry route) {
        TableEntry.Builder other = route.toBuilder().clearCounterData();
        byte[] address = other.getMatch(0).getLpm().getValue().toByteArray();
        address[2]++;
        other.getMatchBuilder(0).getLpmBuilder().setValue(ByteString.copyFrom(address));
        return other.build();
    }
}
