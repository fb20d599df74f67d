package org.p4sched.onos.embedded;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The command line. */
final class Options {
    static final String USAGE = "p4sched-onos --netcfg FILE [--log-dir DIR] [--rest HOST:PORT] [--p4 DIR]";

    /** The network configuration, in ONOS's JSON. */
    final Path netcfg;
    /** Folder of the decision logs; empty for no logs. */
    final Optional<Path> logFolder;
    /** Address of REST. */
    final URI rest;
    /** Folder of compiled programs that replace those of the application. */
    final Optional<Path> programs;

    private Options(Path netcfg, Optional<Path> logFolder, URI rest, Optional<Path> programs) {
        this.netcfg = netcfg;
        this.logFolder = logFolder;
        this.rest = rest;
        this.programs = programs;
    }

    /** Reads the arguments. The message of the exception is one sentence. */
    static Options parse(List<String> arguments) throws BadInput {
        Path netcfg = null;
        Path logFolder = null;
        Path programs = null;
        String rest = "127.0.0.1:8181";
        Deque<String> left = new ArrayDeque<>(arguments);
        while (!left.isEmpty()) {
            String flag = left.pop();
            if (!List.of("--netcfg", "--log-dir", "--rest", "--p4").contains(flag)) {
                throw new BadInput("unknown argument " + flag + "; usage: " + USAGE);
            }
            if (left.isEmpty()) {
                throw new BadInput(flag + " needs a value; usage: " + USAGE);
            }
            String value = left.pop();
            switch (flag) {
                case "--netcfg":
                    netcfg = Path.of(value);
                    break;
                case "--log-dir":
                    logFolder = Path.of(value);
                    break;
                case "--p4":
                    programs = Path.of(value);
                    break;
                default:
                    rest = value;
            }
        }
        if (netcfg == null) {
            throw new BadInput("--netcfg is missing; usage: " + USAGE);
        }
        return new Options(netcfg, Optional.ofNullable(logFolder), address(rest), Optional.ofNullable(programs));
    }

    private static URI address(String hostAndPort) throws BadInput {
        try {
            URI address = URI.create("http://" + hostAndPort + "/p4sched/");
            if (address.getHost() != null && address.getPort() >= 0) {
                return address;
            }
        } catch (IllegalArgumentException e) {
            throw new BadInput("--rest is HOST:PORT, not " + hostAndPort, e);
        }
        throw new BadInput("--rest is HOST:PORT, not " + hostAndPort);
    }
}
