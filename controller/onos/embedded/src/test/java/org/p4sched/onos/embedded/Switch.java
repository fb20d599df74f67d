package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;

/** The embedded switch as a process, without ports and without a program. */
final class Switch implements AutoCloseable {
    private static final Path REPOSITORY = Path.of("../../..").toAbsolutePath().normalize();
    private static final Path BINARIES = REPOSITORY.resolve("switch/target/release");

    private final int port;
    private Process process;

    /** The test is skipped if the switch is not built. */
    Switch() {
        this.port = freePort();
        assumeTrue(
                Files.isExecutable(binary("p4sched-switch")), "the switch is not built: " + binary("p4sched-switch"));
    }

    static Path binary(String name) {
        return BINARIES.resolve(name);
    }

    static Path program(String path) {
        return REPOSITORY.resolve(path);
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String address() {
        return "grpc://127.0.0.1:" + port + "?device_id=1";
    }

    int port() {
        return port;
    }

    Switch start() {
        process = start(
                binary("p4sched-switch").toString(),
                "--no-p4",
                "--no-realtime",
                "--cpu-port",
                "510",
                "--grpc-server-addr",
                "127.0.0.1:" + port);
        return this;
    }

    void stop() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        if (process != null) {
            stop();
        }
    }

    static Process start(String... command) {
        try {
            File log = new File("target", "switch.log");
            return new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
