package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
                "{\"devices\": | :1: no JSON: Unexpected end-of-input",
                "[] | : must be an object",
                "{} | : no device: devices.ID.basic is missing",
                "{\"switches\": {}} | : switches: unknown \"switches\"; there are ",
                "{\"devices\": {\"device:s1\": {\"basic\": BASIC, \"p4sched\": {}}}}"
                        + " | : devices.device:s1.p4sched: unknown key; there are ",
                "{\"devices\": {\"device:s1\": {\"basic\": {\"managementAddress\": \"127.0.0.1:9559\"}}}}"
                        + " | : devices.device:s1.basic.managementAddress: must be grpc://HOST:PORT?device_id=N,"
                        + " not \"127.0.0.1:9559\"",
                "{\"devices\": {\"device:s1\": {\"basic\":"
                        + " {\"managementAddress\": \"grpc://a:1?device_id=1\", \"driver\": \"bmv3\"}}}}"
                        + " | : devices.device:s1.basic.driver: unknown \"bmv3\"; there are bmv2, p4runtime",
                "{\"devices\": {\"device:s1\": {\"basic\": {\"managementAddress\": \"grpc://a:1?device_id=1\","
                        + " \"driver\": \"bmv2\", \"pipeconf\": \"fdpa\"}}}}"
                        + " | : devices.device:s1.basic.pipeconf: unknown \"fdpa\"; there are org.p4sched.pipeconf.fdpa",
            })
    void mistakesAreNamedWithTheirPath(String json, String message) throws IOException {
        Path file = folder.resolve("netcfg.json");
        Files.writeString(file, json.replace("BASIC", "{}"));
        BadInput mistake = assertThrows(BadInput.class, () -> Netcfg.apply(file, onos));
        assertEquals(file + message, mistake.getMessage().substring(0, (file + message).length()));
    }

    @Test
    void aFileThatIsNotThereIsSaidSo() {
        Path file = folder.resolve("gone.json");
        BadInput mistake = assertThrows(BadInput.class, () -> Netcfg.pipeconfs(file));
        assertEquals("cannot read " + file + ": No such file or directory", mistake.getMessage());
    }
}
