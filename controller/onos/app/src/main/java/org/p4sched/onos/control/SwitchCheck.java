package org.p4sched.onos.control;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.onosproject.net.DeviceId;
import org.onosproject.net.Port;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.pi.model.PiActionModel;
import org.onosproject.net.pi.model.PiActionParamModel;
import org.onosproject.net.pi.model.PiPipeconf;
import org.p4sched.laws.Target;
import org.p4sched.onos.config.Group;
import org.p4sched.onos.config.Hop;
import org.p4sched.onos.config.RankSource;
import org.p4sched.onos.config.Route;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.SettingsException;
import org.p4sched.onos.pipeconf.Names;

/** Checks settings against a switch: its ports, and the tables and parameters of its program. */
public final class SwitchCheck {
    private final Settings settings;
    private final Names names;
    private final PiPipeconf pipeconf;
    private final SortedSet<Integer> ports;

    private SwitchCheck(Settings settings, PiPipeconf pipeconf, SortedSet<Integer> ports) {
        this.settings = settings;
        this.pipeconf = pipeconf;
        this.names = new Names(pipeconf.pipelineModel());
        this.ports = ports;
    }

    /** Throws SettingsException, which names the JSON path. Ports are checked only if ONOS knows them. */
    public static void check(Settings settings, DeviceId device, PiPipeconf pipeconf, DeviceService devices) {
        SortedSet<Integer> ports = new TreeSet<>();
        for (Port port : devices.getPorts(device)) {
            if (!port.number().isLogical()) {
                ports.add((int) port.number().toLong());
            }
        }
        SwitchCheck check = new SwitchCheck(settings, pipeconf, ports);
        check.program();
        check.entries();
        check.ports();
        check.laws();
        check.rankSources();
        check.parameters();
    }

    private void program() {
        if (!names.hasTable(settings.scheduler().table())) {
            throw wrong(
                    "scheduler",
                    String.format(
                            "the switch's pipeconf %s is not a program of %s", pipeconf.id(), settings.scheduler()));
        }
    }

    private void entries() {
        long prefixes = settings.users().stream()
                .filter(user -> user.prefix().isPresent())
                .count();
        room("users", Names.USERS_BY_PREFIX, prefixes);
        room("users", Names.USERS_BY_FLOW, settings.users().size() - prefixes);
        room("routes", Names.ROUTES, settings.routes().size());
        room("groups", Names.PATHS, (long) settings.groups().size() * Group.BUCKETS);
    }

    private void room(String path, String table, long wanted) {
        if (wanted == 0) {
            return;
        }
        if (!names.hasTable(table)) {
            throw wrong(path, String.format("the switch's pipeconf %s has no table %s", pipeconf.id(), table));
        }
        long most = names.table(table).maxSize();
        if (wanted > most) {
            throw wrong(path, String.format("%d entries do not fit: table %s has room for %d", wanted, table, most));
        }
    }

    private void ports() {
        if (ports.isEmpty()) {
            return;
        }
        settings.ports().keySet().forEach(port -> port("ports." + port, port));
        List<Route> routes = settings.routes();
        for (int i = 0; i < routes.size(); i++) {
            String path = "routes[" + i + "].port";
            routes.get(i).hop().ifPresent(hop -> port(path, hop.port()));
        }
        List<Group> groups = settings.groups();
        for (int i = 0; i < groups.size(); i++) {
            List<Hop> paths = groups.get(i).paths();
            for (int j = 0; j < paths.size(); j++) {
                port("groups[" + i + "].paths[" + j + "].port", paths.get(j).port());
            }
        }
    }

    private void port(String path, int port) {
        if (!ports.contains(port)) {
            throw wrong(path, "the switch has no port " + port + "; it has " + text(ports));
        }
    }

    private void laws() {
        settings.ports().forEach((port, portSettings) -> {
            try {
                settings.scheduler()
                        .law()
                        .orElseThrow()
                        .config(portSettings.configuration())
                        .on(names.target());
            } catch (IllegalArgumentException e) {
                throw wrong("ports." + port, e.getMessage());
            }
        });
    }

    private void rankSources() {
        if (names.target() == Target.V1MODEL) {
            return;
        }
        settings.rankSource().filter(RankSource.STFQ::equals).ifPresent(source -> {
            throw wrong("rankSource", "a Tofino has no ranks of STFQ");
        });
        settings.ports().forEach((port, portSettings) -> portSettings
                .rankSource()
                .filter(RankSource.STFQ::equals)
                .ifPresent(source -> {
                    throw wrong("ports." + port + ".rankSource", "a Tofino has no ranks of STFQ");
                }));
    }

    private void parameters() {
        if (settings.parameters().isEmpty()) {
            return;
        }
        Map<String, Long> parameters = settings.parameters().get();
        Scheduler scheduler = settings.scheduler();
        PiActionModel action = names.action(scheduler.table(), scheduler.action());
        for (PiActionParamModel parameter : action.params()) {
            String name = parameter.id().id();
            Long value = parameters.get(name);
            if (value == null) {
                throw wrong("parameters." + name, "is missing: one write sets all parameters");
            }
            if (parameter.bitWidth() < Long.SIZE - 1 && value >>> parameter.bitWidth() != 0) {
                throw wrong(
                        "parameters." + name,
                        String.format("%d does not fit into %d bits", value, parameter.bitWidth()));
            }
        }
        for (String name : parameters.keySet()) {
            if (action.params().stream()
                    .noneMatch(parameter -> parameter.id().id().equals(name))) {
                throw wrong("parameters." + name, scheduler.action() + " has no such parameter");
            }
        }
    }

    private static SettingsException wrong(String path, String why) {
        return new SettingsException(Settings.KEY + "." + path, why);
    }

    private static String text(Set<Integer> numbers) {
        StringBuilder text = new StringBuilder();
        numbers.forEach(number -> text.append(text.length() == 0 ? "" : ", ").append(number));
        return text.toString();
    }
}
