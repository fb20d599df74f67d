package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** What is asked of one switch: the value of {@code p4schedScheduler}, checked as far as no switch is needed for it. */
public final class Settings {
    /** The key below a device in ONOS's network configuration. */
    public static final String KEY = "p4schedScheduler";

    private static final long LARGEST_PARAMETER = 0xffff_ffffL;

    private final Scheduler scheduler;
    private final RankSource rankSource;
    private final Map<String, Long> parameters;
    private final List<User> users;
    private final List<Route> routes;
    private final List<Group> groups;
    private final SortedMap<Integer, PortSettings> ports;

    private Settings(Members members) {
        scheduler = members.parsed("scheduler", Scheduler::named)
                .orElseThrow(() -> members.wrong("scheduler", "is missing; for example fdpa"));
        rankSource = members.parsed("rankSource", RankSource::parse).orElse(null);
        if (rankSource != null && !scheduler.ranked()) {
            throw members.wrong("rankSource", scheduler + " ranks no packets");
        }
        parameters = parameters(members);
        users = Users.parse(members.objects("users"));
        groups = groups(members);
        routes = routes(members, groups);
        ports = ports(members, scheduler);
        if (parameters != null && !ports.isEmpty()) {
            throw members.wrong("parameters", "a law sets them, that of port " + ports.firstKey());
        }
        members.end();
    }

    /** Reads the value of {@code p4schedScheduler}. Throws SettingsException for one that makes no sense. */
    public static Settings parse(JsonNode value) {
        return new Settings(new Members(KEY, value));
    }

    private static Map<String, Long> parameters(Members members) {
        return members.object("parameters")
                .map(given -> {
                    Map<String, Long> values = new LinkedHashMap<>();
                    for (String name : given.names()) {
                        values.put(name, given.neededWhole(name, 0, LARGEST_PARAMETER));
                    }
                    return Collections.unmodifiableMap(values);
                })
                .orElse(null);
    }

    private static List<Group> groups(Members members) {
        List<Group> found = new ArrayList<>();
        for (Members member : members.objects("groups")) {
            Group group = Group.parse(member);
            if (found.stream().anyMatch(other -> other.number() == group.number())) {
                throw member.wrong("group", "there is a group " + group.number() + " already");
            }
            found.add(group);
        }
        return List.copyOf(found);
    }

    private static List<Route> routes(Members members, List<Group> groups) {
        List<Route> found = new ArrayList<>();
        Set<Object> prefixes = new HashSet<>();
        for (Members member : members.objects("routes")) {
            Route route = Route.parse(member);
            if (!prefixes.add(route.prefix())) {
                throw member.wrong("prefix", "there is a route to " + route.prefix() + " already");
            }
            if (route.hop().isEmpty() && groups.stream().noneMatch(group -> group.number() == route.group())) {
                throw member.wrong("group", "there is no group " + route.group());
            }
            found.add(route);
        }
        return List.copyOf(found);
    }

    private static SortedMap<Integer, PortSettings> ports(Members members, Scheduler scheduler) {
        SortedMap<Integer, PortSettings> found = new TreeMap<>();
        members.object("ports").ifPresent(ports -> {
            if (scheduler.law().isEmpty()) {
                throw new SettingsException(ports.path(), scheduler + " has no parameters that follow the traffic");
            }
            for (String name : ports.names()) {
                Members port = ports.object(name).orElseThrow(() -> ports.wrong(name, "is null"));
                if (!name.matches("[0-9]{1,3}") || Integer.parseInt(name) > Hop.LARGEST_PORT) {
                    throw new SettingsException(port.path(), "'" + name + "' is no port from 0 to 511");
                }
                found.put(Integer.parseInt(name), PortSettings.parse(scheduler, port));
                // what is wrong with the values together, only the law knows
                try {
                    scheduler
                            .law()
                            .orElseThrow()
                            .config(found.get(Integer.parseInt(name)).configuration());
                } catch (IllegalArgumentException e) {
                    throw new SettingsException(port.path(), e.getMessage());
                }
            }
            if (scheduler == Scheduler.FDPA && found.size() > 1) {
                throw new SettingsException(ports.path(), "the users of FDPA share one link, so there is one port");
            }
        });
        return Collections.unmodifiableSortedMap(found);
    }

    /** Which program the switch runs. */
    public Scheduler scheduler() {
        return scheduler;
    }

    /** Where ranks come from on all ports that say nothing else; none: as the program does. */
    public Optional<RankSource> rankSource() {
        return Optional.ofNullable(rankSource);
    }

    /** Parameters of all ports, by their names in the P4 action, without a law; none: those of the program, or a law's. */
    public Optional<Map<String, Long>> parameters() {
        return Optional.ofNullable(parameters);
    }

    /** Whose packets are whose. */
    public List<User> users() {
        return users;
    }

    /** To different prefixes. */
    public List<Route> routes() {
        return routes;
    }

    /** Those that routes name. */
    public List<Group> groups() {
        return groups;
    }

    /** Egress ports with a law. */
    public SortedMap<Integer, PortSettings> ports() {
        return ports;
    }
}
