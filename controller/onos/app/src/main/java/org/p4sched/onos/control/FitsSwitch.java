package org.p4sched.onos.control;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.onosproject.net.pi.model.PiActionModel;
import org.onosproject.net.pi.model.PiActionParamModel;
import org.onosproject.net.pi.model.PiPipeconf;
import org.p4sched.onos.config.Group;
import org.p4sched.onos.config.Hop;
import org.p4sched.onos.config.RankSource;
import org.p4sched.onos.config.Route;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.SettingsException;
import org.p4sched.onos.pipeconf.Names;

/** Whether a switch can do what is asked of it: has it such ports, and does its program know such parameters? */
final class FitsSwitch {
    private static final String V1MODEL = "v1model";

    private final Settings settings;
    private final Names names;
    private final PiPipeconf pipeconf;
    private final SortedSet<Integer> ports;

    private FitsSwitch(Settings settings, PiPipeconf pipeconf, Set<Integer> ports) {
        this.settings = settings;
        this.pipeconf = pipeconf;
        this.names = new Names(pipeconf.pipelineModel());
        this.ports = new TreeSet<>(ports);
    }

    /** Throws SettingsException, which names the JSON path. No ports: ONOS does not know which the switch has. */
    static void check(Settings settings, PiPipeconf pipeconf, Set<Integer> ports) {
        FitsSwitch check = new FitsSwitch(settings, pipeconf, ports);
        check.program();
        check.ports();
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
            throw wrong(path, "the switch has no port " + port + "; it has " + shown(ports));
        }
    }

    private void rankSources() {
        boolean software =
                pipeconf.pipelineModel().architecture().map(V1MODEL::equals).orElse(true);
        if (software) {
            return;
        }
        settings.rankSource().filter(RankSource.STFQ::equals).ifPresent(source -> {
            throw wrong("rankSource", "a Tofino has no ranks of STFQ");
        });
        settings.ports().forEach((port, asked) -> asked.rankSource()
                .filter(RankSource.STFQ::equals)
                .ifPresent(source -> {
                    throw wrong("ports." + port + ".rankSource", "a Tofino has no ranks of STFQ");
                }));
    }

    private void parameters() {
        if (settings.parameters().isEmpty()) {
            return;
        }
        Map<String, Long> given = settings.parameters().get();
        Scheduler scheduler = settings.scheduler();
        PiActionModel action = names.action(scheduler.table(), scheduler.action());
        for (PiActionParamModel parameter : action.params()) {
            String name = parameter.id().id();
            Long value = given.get(name);
            if (value == null) {
                throw wrong("parameters." + name, "is missing: one write sets all parameters");
            }
            if (parameter.bitWidth() < Long.SIZE - 1 && value >>> parameter.bitWidth() != 0) {
                throw wrong(
                        "parameters." + name,
                        String.format("%d does not fit into %d bits", value, parameter.bitWidth()));
            }
        }
        for (String name : given.keySet()) {
            if (action.params().stream()
                    .noneMatch(parameter -> parameter.id().id().equals(name))) {
                throw wrong("parameters." + name, scheduler.action() + " has no such parameter");
            }
        }
    }

    private static SettingsException wrong(String path, String why) {
        return new SettingsException(Settings.KEY + "." + path, why);
    }

    private static String shown(Set<Integer> numbers) {
        StringBuilder text = new StringBuilder();
        numbers.forEach(number -> text.append(text.length() == 0 ? "" : ", ").append(number));
        return text.toString();
    }
}
