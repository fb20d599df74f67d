package org.p4sched.onos;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.p4sched.onos.World.SWITCH;
import static org.p4sched.onos.World.json;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.group.GroupDescription;
import org.p4sched.laws.Fdpa;
import org.p4sched.laws.log.Replay;
import org.p4sched.laws.record.Fields;
import org.p4sched.laws.record.Json;
import org.p4sched.onos.config.SettingsException;
import org.p4sched.onos.control.SwitchException;

@Timeout(60)
class SchedulerManagerTest {
    private static final String TWO_USERS =
            "'users': [{'user': 1, 'prefix': '10.1.0.1/32'}," + " {'user': 2, 'prefix': '10.1.0.2/32'}]";
    private static final String FDPA =
            "{'scheduler': 'fdpa', " + TWO_USERS + ", 'ports': {'3': {'rate': '50mbit', 'rtt': '10ms'}}}";

    @TempDir
    Path folder;

    private final List<SchedulerManager> managers = new ArrayList<>();

    /** An instance of ONOS. A second passes between two looks at the clock. */
    private SchedulerManager started(World world, String node) {
        SchedulerManager manager = new SchedulerManager(
                world.services(node), Optional.of(folder.resolve(node)), () -> world.clock.getAndAdd(1_000_000_000));
        managers.add(manager);
        manager.start();
        return manager;
    }

    @AfterEach
    void stop() {
        managers.forEach(SchedulerManager::stop);
    }

    private static void done(CompletableFuture<Void> change) throws Exception {
        change.get(20, TimeUnit.SECONDS);
    }

    private static <T extends Exception> T failure(Class<T> type, CompletableFuture<Void> change) {
        ExecutionException error = assertThrows(ExecutionException.class, () -> change.get(20, TimeUnit.SECONDS));
        return assertInstanceOf(type, error.getCause());
    }

    private static DeviceStatus status(SchedulerManager manager) {
        return manager.status(SWITCH).orElseThrow();
    }

    private static long rounds(SchedulerManager manager) {
        return status(manager).ports().get(0).rounds;
    }

    private static Fdpa.Config fiftyMbit() {
        return Fdpa.LAW.config(
                Map.of("capacity_bps", 50_000_000L, "bands", "1+4*0.5", "interval_us", 60_000L, "rtt_ns", 10_000_000L));
    }

    @Test
    void writesRoutesGroupsUsersAndTheFirstBands() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(
                SWITCH,
                json("{'scheduler': 'fdpa', " + TWO_USERS + ","
                        + " 'routes': [{'prefix': '10.0.1.0/24', 'port': 1, 'mac': '00:00:0a:00:01:01'},"
                        + "            {'prefix': '10.0.2.0/24', 'group': 7}],"
                        + " 'groups': [{'group': 7, 'paths': [{'port': 2, 'mac': '00:00:0a:00:02:01'},"
                        + "                                   {'port': 3, 'mac': '00:00:0a:00:03:01'}]}],"
                        + " 'ports': {'3': {'rate': '50mbit'}}}")));
        assertEquals(2, world.count("ipv4_routes"));
        assertEquals(64, world.count("ecmp_paths"));
        assertEquals(2, world.count("users_by_prefix"));
        Fdpa.Sample nobody = new Fdpa.Sample(0, Map.of());
        assertEquals(
                Fdpa.LAW
                        .decide(fiftyMbit(), Fdpa.LAW.takeOver(Optional.empty()), nobody)
                        .parameters
                        .actionData(),
                world.parameters("fdpa_params").orElseThrow());
        assertTrue(manager.status(SWITCH).orElseThrow().inForce());
        assertEquals(
                world.parameters("fdpa_params").orElseThrow(),
                manager.parameters(SWITCH).get("default"));
    }

    @Test
    void anotherInstanceGoesOnFromTheParametersInForce() throws Exception {
        World world = new World("fdpa");
        SchedulerManager first = started(world, "a");
        done(first.configure(SWITCH, json(FDPA)));
        SchedulerManager second = started(world, "b");
        done(second.configure(SWITCH, json(FDPA)));
        assertEquals(0, second.status(SWITCH).orElseThrow().ports().size(), "only the leader decides");

        world.sent.put(1L, 1_000_000L);
        world.sent.put(2L, 1_000_000L);
        // a changed configuration is answered after a whole round, so the law has seen the bytes
        done(first.configure(SWITCH, json(FDPA)));
        Map<String, Long> inForce = world.parameters("fdpa_params").orElseThrow();
        assertEquals(187_500L, inForce.get("edge_1"), "half of 50 Mbit/s in 60 ms");

        int before = world.writes.size();
        first.stop();
        managers.remove(first);
        done(second.configure(SWITCH, json(FDPA)));
        DeviceStatus status = second.status(SWITCH).orElseThrow();
        assertEquals("b", status.leader().orElseThrow().id());
        assertEquals(inForce, status.ports().get(0).parameters);
        world.writes.subList(before, world.writes.size()).stream()
                .filter(write -> write.getValue().table().equals(world.names.tableId("fdpa_params")))
                .forEach(write -> assertEquals(inForce, World.data(write.getValue())));
        List<String> log = Files.readAllLines(folder.resolve("b/p4sched_s1/decisions.jsonl"));
        assertEquals(
                inForce,
                Fields.wholeNumbers(
                        "found", Fields.object("line", Json.parse(log.get(0))).get("found")));
    }

    @Test
    void theDecisionLogIsReplayedWithoutADifference() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        for (long round = 0; round < 5; round++) {
            world.sent.put(1L, round * 100_000);
            world.sent.put(2L, round / 3 * 100_000);
            done(manager.configure(SWITCH, json(FDPA)));
        }
        manager.stop();
        managers.clear();
        Path log = folder.resolve("a/p4sched_s1/decisions.jsonl");
        assertTrue(Files.readAllLines(log).size() > 5);
        assertTrue(Replay.replay(log) > 5);
    }

    @Test
    void entriesThatStayAreNotTouched() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(SWITCH, json("{'scheduler': 'fdpa', " + TWO_USERS + "}")));
        world.writes.clear();
        done(manager.putUser(SWITCH, 3, json("{'prefix': '10.1.0.3/32', 'weight': 2}")));
        done(manager.removeUser(SWITCH, 1));
        assertEquals(2, world.writes.size());
        assertEquals("add", world.writes.get(0).getKey());
        assertEquals(128L, World.data(world.writes.get(0).getValue()).get("scale"));
        assertEquals("remove", world.writes.get(1).getKey());
        assertEquals(1L, World.data(world.writes.get(1).getValue()).get("user"));
    }

    @Test
    void parametersWithoutALawAreOneWriteEach() throws Exception {
        World world = new World("fifo");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(SWITCH, json("{'scheduler': 'fifo'}")));
        for (long depth = 1; depth <= 20; depth++) {
            done(manager.setParameters(SWITCH, json("{'depth': " + depth + "}")));
            assertEquals(Map.of("depth", depth), world.parameters("fifo_params").orElseThrow());
        }
        assertEquals(20, world.writes.size());
        assertTrue(failure(SettingsException.class, manager.setParameters(SWITCH, json("{'depth': 65536}")))
                .getMessage()
                .startsWith("p4schedScheduler.parameters.depth: 65536 does not fit into 16 bits"));
        assertTrue(failure(SettingsException.class, manager.setParameters(SWITCH, json("{'size': 1}")))
                .getMessage()
                .startsWith("p4schedScheduler.parameters.depth: is missing"));
    }

    @Test
    void severalPortsHaveParametersOfTheirOwn() throws Exception {
        World world = new World("aifo");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(
                SWITCH,
                json("{'scheduler': 'aifo', 'rankSource': 'tos',"
                        + " 'ports': {'2': {'rate': '50mbit'}, '3': {'rate': '10mbit', 'rankSource': 'header'}}}")));
        assertEquals(2, world.count("aifo_params"));
        assertTrue(world.parameters("aifo_params").isEmpty());
        Map<String, Map<String, Long>> inForce = manager.parameters(SWITCH);
        // 5 ms of frames of 1514 bytes
        assertEquals(21L, inForce.get("2").get("target_packets"));
        assertEquals(4L, inForce.get("3").get("target_packets"));
        assertEquals(2, world.count("rank_sources"));
        assertTrue(Files.exists(folder.resolve("a/p4sched_s1/port-2.jsonl")));
        assertTrue(Files.exists(folder.resolve("a/p4sched_s1/port-3.jsonl")));
    }

    @Test
    void theLawOfTheOnlyPortLeftSetsTheParametersOfAllPorts() throws Exception {
        World world = new World("aifo");
        SchedulerManager manager = started(world, "a");
        String both = "{'scheduler': 'aifo', 'ports': {'2': {'rate': '50mbit'}, '3': {'rate': '10mbit'}}}";
        done(manager.configure(SWITCH, json(both)));
        Map<String, Long> ofPort3 = manager.parameters(SWITCH).get("3");
        done(manager.removePort(SWITCH, 2));
        // port 2 keeps what it had; the entry of port 3 would hide the default action
        assertEquals(Set.of("2", "default"), manager.parameters(SWITCH).keySet());
        assertEquals(ofPort3, manager.parameters(SWITCH).get("default"));
        done(manager.removePort(SWITCH, 3));
        assertEquals(ofPort3, manager.parameters(SWITCH).get("default"));
        Map<String, Long> given = new TreeMap<>(ofPort3);
        given.put("sampling", 77L);
        done(manager.setParameters(SWITCH, World.JSON.valueToTree(given)));
        assertEquals(Set.of("default"), manager.parameters(SWITCH).keySet());
        assertEquals(77L, manager.parameters(SWITCH).get("default").get("sampling"));
    }

    @Test
    void whatIsAskedOfASwitchNoMoreGoesButForTheParameters() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(SWITCH, json(FDPA)));
        Map<String, Long> inForce = world.parameters("fdpa_params").orElseThrow();
        done(manager.remove(SWITCH));
        assertEquals(1, world.rules.size());
        assertEquals(inForce, world.parameters("fdpa_params").orElseThrow());
        assertTrue(manager.devices().isEmpty());
    }

    @Test
    void departuresFromATofino1ReportTheLengthsOfTheirQueues() throws Exception {
        World world = new World("tna.aifo");
        done(started(world, "a").configure(SWITCH, json("{'scheduler': 'aifo', 'ports': {'3': {'rate': '50mbit'}}}")));
        GroupDescription session = world.groups.get(0);
        assertEquals(GroupDescription.Type.CLONE, session.type());
        assertEquals(1, session.givenGroupId());
        assertEquals(
                "[TRUNCATE:32, OUTPUT:68]",
                session.buckets().buckets().get(0).treatment().allInstructions().toString());
        // the window of a Tofino has 16 ranks
        assertEquals(16L, world.parameters("aifo_params").orElseThrow().get("window_ranks"));
    }

    @Test
    void aPortThatTheSwitchDoesNotHaveIsToldWithItsPath() {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        CompletableFuture<Void> change =
                manager.configure(SWITCH, json("{'scheduler': 'fdpa', 'ports': {'9': {'rate': '50mbit'}}}"));
        assertEquals(
                "p4schedScheduler.ports.9: the switch has no port 9; it has 1, 2, 3",
                failure(SettingsException.class, change).getMessage());
        assertTrue(world.writes.isEmpty());
        assertTrue(manager.configuration(SWITCH).isEmpty(), "nothing is stored");
    }

    @Test
    void whatTheSwitchCannotDoLeavesItsLawAtWork() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(SWITCH, json(FDPA)));
        world.store(json("{'scheduler': 'fdpa', 'ports': {'9': {'rate': '50mbit'}}}"));
        await().until(() -> status(manager).problem().isPresent());
        assertEquals(
                "p4schedScheduler.ports.9: the switch has no port 9; it has 1, 2, 3",
                status(manager).problem().orElseThrow());
        assertFalse(status(manager).inForce());
        long rounds = rounds(manager);
        await().until(() -> rounds(manager) > rounds);
        done(manager.configure(SWITCH, json(FDPA)));
        assertTrue(status(manager).problem().isEmpty());
        assertTrue(rounds(manager) > rounds, "the law was not begun anew");
    }

    @Test
    void parametersThatGotLostAreWrittenAgain() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        done(manager.configure(SWITCH, json(FDPA)));
        Map<List<Object>, FlowRule> before = Map.copyOf(world.rules);
        done(manager.putPort(SWITCH, 3, json("{'rate': '20mbit'}")));
        Map<String, Long> inForce = world.parameters("fdpa_params").orElseThrow();
        world.rules.putAll(before);
        assertNotEquals(inForce, world.parameters("fdpa_params").orElseThrow());
        await().until(() -> world.parameters("fdpa_params").orElseThrow().equals(inForce));
    }

    @Test
    void aRankSourceThatIsAskedForNoMoreGoes() throws Exception {
        World world = new World("aifo");
        SchedulerManager manager = started(world, "a");
        String law = "'ports': {'3': {'rate': '50mbit'}}}";
        done(manager.configure(SWITCH, json("{'scheduler': 'aifo', 'rankSource': 'tos', " + law)));
        long rounds = rounds(manager);
        done(manager.configure(SWITCH, json("{'scheduler': 'aifo', " + law)));
        assertEquals(0, world.count("rank_sources"));
        assertTrue(rounds(manager) > rounds, "the law was not begun anew");
    }

    @Test
    void moreUsersThanTheTableHasRoomForAreToldWithTheirPath() {
        World world = new World("fdpa");
        StringBuilder users = new StringBuilder();
        for (int i = 0; i < 5000; i++) {
            String prefix = String.format("10.1.%d.%d/32", i / 250, i % 250);
            users.append(i == 0 ? "" : ", ").append("{'user': 1, 'prefix': '" + prefix + "'}");
        }
        assertEquals(
                "p4schedScheduler.users: 5000 entries do not fit: table users_by_prefix has room for 4096",
                failure(
                                SettingsException.class,
                                started(world, "a")
                                        .configure(SWITCH, json("{'scheduler': 'fdpa', 'users': [" + users + "]}")))
                        .getMessage());
    }

    @Test
    void aPipeconfOfAnotherSchedulerIsToldWithItsPath() {
        World world = new World("aifo");
        SchedulerManager manager = started(world, "a");
        assertEquals(
                "p4schedScheduler.scheduler: the switch's pipeconf org.p4sched.pipeconf.aifo is not a program of fdpa",
                failure(SettingsException.class, manager.configure(SWITCH, json(FDPA)))
                        .getMessage());
    }

    @Test
    void aSwitchThatAnswersUnimplementedIsAskedAgainUntilItAnswers() throws Exception {
        World world = new World("fdpa");
        world.refusesReads = "UNIMPLEMENTED: not here";
        SchedulerManager manager = started(world, "a");
        SwitchException refused = failure(SwitchException.class, manager.configure(SWITCH, json(FDPA)));
        assertEquals("refuses a Read: UNIMPLEMENTED: not here", refused.getMessage());
        assertEquals(
                "refuses a Read: UNIMPLEMENTED: not here",
                manager.status(SWITCH).orElseThrow().problem().orElseThrow());
        world.refusesReads = null;
        done(manager.configure(SWITCH, json(FDPA)));
        assertTrue(manager.status(SWITCH).orElseThrow().problem().isEmpty());
        assertTrue(manager.status(SWITCH).orElseThrow().inForce());
    }

    @Test
    void nothingIsLostWhileTheSwitchIsAway() throws Exception {
        World world = new World("fdpa");
        SchedulerManager manager = started(world, "a");
        world.available = false;
        failure(SwitchException.class, manager.configure(SWITCH, json(FDPA)));
        failure(SwitchException.class, manager.putUser(SWITCH, 3, json("{'prefix': '10.1.0.3/32'}")));
        assertTrue(world.writes.isEmpty());
        world.available = true;
        done(manager.configure(SWITCH, manager.configuration(SWITCH).orElseThrow()));
        assertEquals(3, world.count("users_by_prefix"));
    }
}
