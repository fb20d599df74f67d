package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.TextFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import org.onosproject.net.pi.model.DefaultPiPipeconf;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiPipeconfId;
import org.onosproject.net.pi.model.PiPipelineInterpreter;
import org.onosproject.p4runtime.ctl.utils.PipeconfHelper;
import org.onosproject.p4runtime.model.P4InfoParser;
import org.onosproject.p4runtime.model.P4InfoParserException;
import org.p4sched.onos.pipeconf.Pipeconfs;
import p4.config.v1.P4InfoOuterClass.P4Info;
import p4.config.v1.P4InfoOuterClass.Table;

/** A program of the repository, compiled for a test. */
final class Program {
    private Program() {}

    /** The pipeconf of a program, for example {@code p4/fdpa.p4}. ONOS's P4Info is of P4Runtime 1.3; newer fields are left out. */
    static PiPipeconf pipeconf(String source, Path folder) {
        String name = source.substring(source.lastIndexOf('/') + 1, source.length() - ".p4".length());
        Path json = folder.resolve(name + ".json");
        Path p4info = folder.resolve(name + ".p4info.txtpb");
        int status = Switch.start(
                        Switch.binary("p4sched-p4c").toString(),
                        Switch.program(source).toString(),
                        "-o",
                        json.toString(),
                        "--p4runtime-files",
                        p4info.toString())
                .onExit()
                .join()
                .exitValue();
        assertEquals(0, status, source + " does not compile, see target/switch.log");
        try {
            P4Info.Builder known = P4Info.newBuilder();
            TextFormat.Parser.newBuilder().setAllowUnknownFields(true).build().merge(Files.readString(p4info), known);
            Files.writeString(p4info, TextFormat.printer().printToString(known));
            return pipeconf("org.p4sched.test." + name, json, p4info);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static PiPipeconf pipeconf(String id, Path json, Path p4info) throws IOException {
        URL p4infoUrl = p4info.toUri().toURL();
        try {
            return DefaultPiPipeconf.builder()
                    .withId(new PiPipeconfId(id))
                    .withPipelineModel(P4InfoParser.parse(p4infoUrl))
                    .addBehaviour(PiPipelineInterpreter.class, PlainInterpreter.class)
                    .addExtension(PiPipeconf.ExtensionType.P4_INFO_TEXT, p4infoUrl)
                    .addExtension(
                            PiPipeconf.ExtensionType.BMV2_JSON, json.toUri().toURL())
                    .build();
        } catch (P4InfoParserException e) {
            throw new IllegalStateException(p4info.toString(), e);
        }
    }

    /** The number of a table of one of the application's programs. */
    static int tableId(String program, String table) {
        PiPipeconf pipeconf = Pipeconfs.inApp().stream()
                .filter(known -> known.id().id().equals(Pipeconfs.PREFIX + program))
                .findFirst()
                .orElseThrow();
        return PipeconfHelper.getP4Info(pipeconf).getTablesList().stream()
                .map(Table::getPreamble)
                .filter(preamble -> preamble.getAlias().equals(table))
                .findFirst()
                .orElseThrow()
                .getId();
    }
}
