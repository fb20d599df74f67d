package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionsTest {
    @Test
    void onlyTheNetworkConfigurationMustBeGiven() throws BadInput {
        Options options = Options.parse(List.of("--netcfg", "netcfg.json"));
        assertEquals(Path.of("netcfg.json"), options.netcfg);
        assertEquals(Optional.empty(), options.logFolder);
        assertEquals(Optional.empty(), options.programs);
        assertEquals(URI.create("http://127.0.0.1:8181/p4sched/"), options.rest);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--log-dir logs | --netcfg is missing; usage: " + Options.USAGE,
                "--netcfg | --netcfg needs a value; usage: " + Options.USAGE,
                "--netcfg a --port 1 | unknown argument --port; usage: " + Options.USAGE,
                "--netcfg a --rest 8181 | --rest is HOST:PORT, not 8181",
                "--netcfg a --rest :x | --rest is HOST:PORT, not :x",
            })
    void mistakesAreSaidInOneSentence(String arguments, String message) {
        BadInput mistake = assertThrows(BadInput.class, () -> Options.parse(List.of(arguments.split(" "))));
        assertEquals(message, mistake.getMessage());
    }
}
