package org.p4sched.onos.pipeconf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.onosproject.net.behaviour.Pipeliner;
import org.onosproject.net.device.PortStatisticsDiscovery;
import org.onosproject.net.pi.model.DefaultPiPipeconf;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiPipeconf.ExtensionType;
import org.onosproject.net.pi.model.PiPipeconfId;
import org.onosproject.net.pi.model.PiPipelineInterpreter;
import org.onosproject.p4runtime.model.P4InfoParser;
import org.onosproject.p4runtime.model.P4InfoParserException;
import org.p4sched.laws.log.FileError;

/**
 * The programs as ONOS pipeconfs: P4Info, the compiled program, and the behaviours.
 *
 * <p>Those of p4/ are {@code org.p4sched.pipeconf.aifo} and so on. Those of tofino-port/ have {@code tna.} or
 * {@code t2na.} before their name; they are for the project's own switch. A program for a chip comes from the chip's
 * compiler, so it is read from a folder ({@link #inFolder}).
 */
public final class Pipeconfs {
    /** Prefix of a pipeconf's identifier. */
    public static final String PREFIX = "org.p4sched.pipeconf.";

    private static final String COMPILED = "/p4sched/programs/";
    private static final String P4INFO = ".p4info.txtpb";
    private static final String BMV2 = ".json";
    private static final String STRATUM = ".pb.bin";

    private Pipeconfs() {}

    /** All programs of the application. The build lists them in programs.txt: "aifo", "tna/aifo". */
    public static Collection<PiPipeconf> inApp() {
        return inApp(id -> true);
    }

    /** The programs of the application with the wanted identifiers. Reading one takes a tenth of a second. */
    public static Collection<PiPipeconf> inApp(Predicate<String> wanted) {
        List<PiPipeconf> result = new ArrayList<>();
        for (String program : lines(COMPILED + "programs.txt")) {
            String id = PREFIX + program.replace('/', '.');
            if (wanted.test(id)) {
                result.add(pipeconf(
                        id,
                        resource(COMPILED + program + P4INFO),
                        ExtensionType.BMV2_JSON,
                        resource(COMPILED + program + BMV2)));
            }
        }
        return result;
    }

    /**
     * The programs in a folder: NAME.p4info.txtpb with NAME.json (as {@code p4sched compile} writes it) or with
     * NAME.pb.bin (what Stratum loads into a Tofino). Throws IllegalArgumentException if a file is missing or invalid.
     */
    public static Collection<PiPipeconf> inFolder(Path folder) {
        List<Path> programs;
        try (Stream<Path> files = Files.list(folder)) {
            programs = files.filter(file -> file.toString().endsWith(P4INFO))
                    .sorted()
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    folder + ": cannot read the folder of programs: " + FileError.reason(e), e);
        }
        if (programs.isEmpty()) {
            throw new IllegalArgumentException(folder + ": contains no program (NAME" + P4INFO + ")");
        }
        return programs.stream().map(Pipeconfs::fromFile).collect(Collectors.toList());
    }

    private static PiPipeconf fromFile(Path p4info) {
        String file = p4info.getFileName().toString();
        String name = file.substring(0, file.length() - P4INFO.length());
        Path json = p4info.resolveSibling(name + BMV2);
        Path binary = p4info.resolveSibling(name + STRATUM);
        if (Files.isRegularFile(json) == Files.isRegularFile(binary)) {
            throw new IllegalArgumentException(String.format(
                    "%s: its folder must contain either %s or %s", p4info, json.getFileName(), binary.getFileName()));
        }
        boolean bmv2 = Files.isRegularFile(json);
        return pipeconf(
                PREFIX + name.toLowerCase(Locale.ROOT),
                url(p4info),
                bmv2 ? ExtensionType.BMV2_JSON : ExtensionType.RAW_DEVICE_CONFIG,
                url(bmv2 ? json : binary));
    }

    private static PiPipeconf pipeconf(String id, URL p4info, ExtensionType type, URL program) {
        try {
            URL readable = P4InfoForOnos.copy(p4info);
            return DefaultPiPipeconf.builder()
                    .withId(new PiPipeconfId(id))
                    .withPipelineModel(P4InfoParser.parse(readable))
                    .addBehaviour(PiPipelineInterpreter.class, LabInterpreter.class)
                    .addBehaviour(Pipeliner.class, LabPipeliner.class)
                    .addBehaviour(PortStatisticsDiscovery.class, LabPortStatistics.class)
                    .addExtension(ExtensionType.P4_INFO_TEXT, readable)
                    .addExtension(type, program)
                    .build();
        } catch (P4InfoParserException | IOException e) {
            Throwable reason = e.getCause() == null ? e : e.getCause();
            throw new IllegalArgumentException(p4info + ": not a P4Info that ONOS can read: " + reason.getMessage(), e);
        }
    }

    private static URL url(Path file) {
        try {
            return file.toUri().toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    private static URL resource(String name) {
        URL result = Pipeconfs.class.getResource(name);
        if (result == null) {
            throw new IllegalStateException(name + " is missing: the application was built without its programs");
        }
        return result;
    }

    private static List<String> lines(String name) {
        try (InputStream in = resource(name).openStream();
                BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return reader.lines().collect(Collectors.toList());
        } catch (IOException e) {
            throw new IllegalStateException(name + ": " + e.getMessage(), e);
        }
    }
}
