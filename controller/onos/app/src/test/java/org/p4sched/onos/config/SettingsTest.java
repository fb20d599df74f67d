package org.p4sched.onos.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.InvalidFieldException;

class SettingsTest {
    private static JsonNode json(String text) throws Exception {
        return new ObjectMapper().readTree(text.replace('\'', '"'));
    }

    private static Settings settings(String text) throws Exception {
        return Settings.parse(json(text));
    }

    @Test
    void everythingThatCanBeAskedOfFdpa() throws Exception {
        Settings found = settings("{'scheduler': 'fdpa',"
                + " 'users': [{'user': 1, 'prefix': '10.1.0.1/32', 'weight': 2},"
                + "           {'user': 2, 'address': '10.9.0.1', 'tcpPort': 5001}],"
                + " 'routes': [{'prefix': '10.0.1.0/24', 'port': 1, 'mac': '00:00:0a:00:01:01'},"
                + "            {'prefix': '10.0.2.0/24', 'group': 7}],"
                + " 'groups': [{'group': 7, 'paths': [{'port': 3, 'mac': '00:00:0a:00:02:01'}]}],"
                + " 'ports': {'3': {'rate': '50mbit', 'rtt': '10ms', 'flowletGap': '1us'}}}");
        assertEquals(Scheduler.named("fdpa"), found.scheduler());
        assertEquals(128, found.users().get(0).scale());
        assertEquals(256, found.users().get(1).scale());
        assertEquals(7, found.routes().get(1).group());
        assertEquals(
                Map.of(
                        "capacity_bps", 50_000_000L,
                        "bands", "1+4*0.5",
                        // 6 RTTs
                        "interval_us", 60_000L,
                        "rtt_ns", 10_000_000L,
                        "token_bucket", false,
                        "burst_bytes", 0L,
                        "flowlet_gap_us", 1L),
                found.ports().get(3).configuration());
    }

    @Test
    void theRankedSchemesHaveTheDefaultsOfThePythonController() throws Exception {
        Settings found = settings("{'scheduler': 'aifo', 'rankSource': 'tos', 'ports': {'3': {'rate': '50mbit',"
                + " 'window': 16, 'fixed': {'k': 0.1}, 'rankSource': 'header'}}}");
        assertEquals(RankSource.TOS, found.rankSource().orElseThrow());
        assertEquals(RankSource.HEADER, found.ports().get(3).rankSource().orElseThrow());
        assertEquals(
                Map.of(
                        "rate_bps", 50_000_000L,
                        "delay_ns", 5_000_000L,
                        "queue_packets", 512L,
                        "span_ns", 0L,
                        "fixed", Map.of("k", 0.1),
                        "window_ranks", 16L),
                found.ports().get(3).configuration());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'scheduler': 'fifoo'} | p4schedScheduler.scheduler: no scheduler 'fifoo'; use one of: fifo, fdpa,",
                "{} | p4schedScheduler.scheduler: is missing; for example fdpa",
                "[] | p4schedScheduler: is not a JSON object: []",
                "{'scheduler': 'fdpa', 'user': []} | p4schedScheduler.user: is not known here; use one of scheduler,",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.0.1/32', 'weight': 0}]}"
                        + " | p4schedScheduler.users[0].weight: 0 is not in (1/256, 256]",
                "{'scheduler': 'fdpa', 'users': [{'user': 4096, 'prefix': '10.1.0.1/32'}]}"
                        + " | p4schedScheduler.users[0].user: 4096 is not a whole number from 1 to 4095",
                "{'scheduler': 'fdpa', 'users': [{'user': 1}]}"
                        + " | p4schedScheduler.users[0]: a user has either a prefix",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.0.0/16'}, {'user': 2, 'prefix': '10.1.7.0/24'}]}"
                        + " | p4schedScheduler.users[1]: user 2 (10.1.7.0/24) and users[0], user 1 (10.1.0.0/16), overlap",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.7.0/24'}, {'user': 2, 'prefix': '10.1.0.0/16'}]}"
                        + " | p4schedScheduler.users[1]: user 2 (10.1.0.0/16) and users[0], user 1 (10.1.7.0/24), overlap",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '0.0.0.0/0'}, {'user': 2, 'prefix': '255.255.255.255/32'}]}"
                        + " | p4schedScheduler.users[1]: user 2 (255.255.255.255/32) and users[0], user 1 (0.0.0.0/0), overlap",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'address': '10.2.0.1', 'tcpPort': 80}, {'user': 1, 'address': '10.2.0.1', 'tcpPort': 80}]}"
                        + " | p4schedScheduler.users[1]: user 1 (10.2.0.1:80) and users[0], user 1 (10.2.0.1:80), overlap",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.0.1/32'}, {'user': 1, 'prefix': '10.1.0.2/32', 'weight': 2}]}"
                        + " | p4schedScheduler.users[1].weight: user 1 has another weight in users[0]",
                "{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.0.0/300'}]}"
                        + " | p4schedScheduler.users[0].prefix: ",
                "{'scheduler': 'fdpa', 'ports': {'3': {'rate': '50'}}}"
                        + " | p4schedScheduler.ports.3.rate: rate '50' has no unit",
                "{'scheduler': 'fdpa', 'ports': {'3': {'rate': '50ms'}}}"
                        + " | p4schedScheduler.ports.3.rate: rate '50ms' has unknown unit 'ms'",
                "{'scheduler': 'fdpa', 'ports': {'512': {'rate': '50mbit'}}}"
                        + " | p4schedScheduler.ports.512: '512' is not a port from 0 to 511",
                "{'scheduler': 'fdpa', 'ports': {'3': {'rate': '50mbit', 'bands': '1+9*0.5'}}}"
                        + " | p4schedScheduler.ports.3: ",
                "{'scheduler': 'fdpa', 'ports': {'3': {'rate': '50mbit'}, '4': {'rate': '50mbit'}}}"
                        + " | p4schedScheduler.ports: the users of FDPA share one link",
                "{'scheduler': 'fdpa', 'ports': {'3': {'rate': '50mbit', 'delay': '5ms'}}}"
                        + " | p4schedScheduler.ports.3.delay: is not known here",
                "{'scheduler': 'rifo', 'ports': {'3': {'rate': '50mbit', 'window': 16}}}"
                        + " | p4schedScheduler.ports.3.window: is not known here",
                "{'scheduler': 'aifo', 'ports': {'3': {'rate': '50mbit', 'fixed': {'q': 1}}}}"
                        + " | p4schedScheduler.ports.3: no parameter of AIFO 'q'",
                "{'scheduler': 'sp_pifo', 'ports': {'3': {'rate': '50mbit'}}}"
                        + " | p4schedScheduler.ports: sp_pifo has no control law",
                "{'scheduler': 'fdpa', 'rankSource': 'tos'} | p4schedScheduler.rankSource: packets have no ranks under fdpa",
                "{'scheduler': 'aifo', 'rankSource': 'dscp'}"
                        + " | p4schedScheduler.rankSource: no rank source 'dscp'; use one of: static, header, tos, stfq",
                "{'scheduler': 'aifo', 'parameters': {'sampling': 1}, 'ports': {'3': {'rate': '50mbit'}}}"
                        + " | p4schedScheduler.parameters: the law of port 3 sets them",
                "{'scheduler': 'fifo', 'parameters': {'depth': -1}}"
                        + " | p4schedScheduler.parameters.depth: -1 is not a whole number",
                "{'scheduler': 'fifo', 'routes': [{'prefix': '10.0.1.0/24', 'group': 2}]}"
                        + " | p4schedScheduler.routes[0].group: there is no group 2",
                "{'scheduler': 'fifo', 'groups': [{'group': 2, 'paths': []}]}"
                        + " | p4schedScheduler.groups[0].paths: group 2 has 0 paths; a group has 1 to 64",
                "{'scheduler': 'fifo', 'routes': [{'prefix': '10.0.1.0/24', 'port': 1, 'mac': 'router'}]}"
                        + " | p4schedScheduler.routes[0].mac: "
            })
    void whatMakesNoSenseIsToldWithItsPath(String given, String told) {
        String message =
                assertThrows(SettingsException.class, () -> settings(given)).getMessage();
        assertTrue(message.startsWith(told), message);
    }

    @Test
    void onosIsToldThePathToo() throws Exception {
        SchedulerConfig config = new SchedulerConfig();
        JsonNode node = json("{'scheduler': 'fdpa', 'users': [{'user': 1, 'prefix': '10.1.0.1/32', 'weight': 0}]}");
        config.init(DeviceId.deviceId("device:s1"), Settings.KEY, node, new ObjectMapper(), changed -> {});
        InvalidFieldException error = assertThrows(InvalidFieldException.class, config::isValid);
        assertTrue(error.getMessage().contains("p4schedScheduler.users[0].weight"), error.getMessage());
    }
}
