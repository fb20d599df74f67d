package org.p4sched.onos.pipeconf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.tools.ant.Project;
import org.apache.tools.ant.ProjectHelper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiPipeconf.ExtensionType;
import org.p4sched.onos.config.Scheduler;

class PipeconfsTest {
    private static final Path COMPILED = Path.of("target/classes/p4sched/programs");
    private static final Path REPOSITORY = Path.of("../../..");

    @TempDir
    Path folder;

    @Test
    void everyProgramOfTheRepositoryIsAPipeconf() throws IOException {
        Set<String> wanted = new TreeSet<>();
        for (String[] target : new String[][] {{"", "p4"}, {"tna.", "tofino-port"}, {"t2na.", "tofino-port/t2na"}}) {
            try (Stream<Path> files = Files.list(REPOSITORY.resolve(target[1]))) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".p4"))
                        .forEach(name -> wanted.add(Pipeconfs.PREFIX + target[0] + name.replace(".p4", "")));
            }
        }
        wanted.add(Pipeconfs.PREFIX + "aifo-worker_packets");
        wanted.add(Pipeconfs.PREFIX + "tna.aifo-worker_packets");
        Set<String> found =
                Pipeconfs.inApp().stream().map(each -> each.id().id()).collect(Collectors.toSet());
        assertEquals(wanted, new TreeSet<>(found));
    }

    /** Compiles all programs again. If this fails, the programs changed after the build: build again. */
    @Test
    void noProgramIsStale() throws IOException {
        Project ant = new Project();
        ant.init();
        ant.setUserProperty(
                "ant.file", Path.of("src/main/programs.xml").toAbsolutePath().toString());
        ant.setUserProperty("out", folder.toAbsolutePath().toString());
        ProjectHelper.configureProject(ant, Path.of("src/main/programs.xml").toFile());
        ant.executeTarget("compile");
        List<String> files = relativeFiles(folder);
        assertEquals(files, relativeFiles(COMPILED));
        for (String file : files) {
            assertArrayEquals(
                    Files.readAllBytes(folder.resolve(file)),
                    Files.readAllBytes(COMPILED.resolve(file)),
                    file + " is stale: a program changed after the build");
        }
    }

    private static List<String> relativeFiles(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile)
                    .map(file -> root.relativize(file).toString())
                    .sorted()
                    .collect(Collectors.toList());
        }
    }

    @Test
    void everyProgramHasTheTablesOfItsScheduler() {
        for (PiPipeconf pipeconf : Pipeconfs.inApp()) {
            String id = pipeconf.id().id();
            String program = id.substring(id.lastIndexOf('.') + 1);
            Scheduler scheduler = Scheduler.named(program.replace("-worker_packets", ""));
            Names names = new Names(pipeconf.pipelineModel());
            assertTrue(
                    names.actionId(scheduler.table(), scheduler.action()).id().endsWith(scheduler.action()));
            assertEquals(
                    scheduler.ranked(),
                    names.hasTable(Names.RANK_SOURCES),
                    pipeconf.id().id());
            names.field(scheduler.table(), Names.EGRESS_PORT);
            names.field(Names.ROUTES, "hdr.ipv4.dst_addr");
            names.field(Names.PATHS, "ecmp_bucket");
            names.field(Names.USERS_BY_FLOW, "meta.l4_dst_port");
        }
    }

    @Test
    void programsOfAFolderAreLoadedToo() throws IOException {
        copy("fdpa.p4info.txtpb", "fdpa.p4info.txtpb");
        copy("fdpa.json", "fdpa.json");
        copy("tna/aifo.p4info.txtpb", "aifo_tofino.p4info.txtpb");
        Files.write(folder.resolve("aifo_tofino.pb.bin"), new byte[] {1});
        List<PiPipeconf> found = List.copyOf(Pipeconfs.inFolder(folder));
        assertEquals("org.p4sched.pipeconf.aifo_tofino", found.get(0).id().id());
        assertTrue(found.get(0).extension(ExtensionType.RAW_DEVICE_CONFIG).isPresent());
        assertEquals("org.p4sched.pipeconf.fdpa", found.get(1).id().id());
        assertTrue(found.get(1).extension(ExtensionType.BMV2_JSON).isPresent());
    }

    @Test
    void aProgramWithoutItsOtherHalfIsToldByName() throws IOException {
        copy("fdpa.p4info.txtpb", "fdpa.p4info.txtpb");
        String message = assertThrows(IllegalArgumentException.class, () -> Pipeconfs.inFolder(folder))
                .getMessage();
        assertTrue(message.endsWith("its folder must contain either fdpa.json or fdpa.pb.bin"), message);
    }

    @Test
    void anEmptyFolderIsTold() {
        String message = assertThrows(IllegalArgumentException.class, () -> Pipeconfs.inFolder(folder))
                .getMessage();
        assertTrue(message.endsWith("contains no program (NAME.p4info.txtpb)"), message);
    }

    private void copy(String from, String to) throws IOException {
        Files.copy(COMPILED.resolve(from), folder.resolve(to));
    }
}
