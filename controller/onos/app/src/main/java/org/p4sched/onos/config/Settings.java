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

/** Settings of a switch: the value of {@code p4schedScheduler}, checked as far as possible without the switch. */
public final class Settings {
    /** The key of the settings of a device in ONOS's network configuration. */
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
        scheduler = members.parse("scheduler", Scheduler::named)
                .orElseThrow(() -> members.wrong("scheduler", "is missing; for example fdpa"));
        rankSource = members.parse("rankSource", RankSource::parse).orElse(null);
        if (rankSource != null && !scheduler.ranked()) {
            throw members.wrong("rankSource", "packets have no ranks under " + scheduler);
        }
        parameters = parameters(members);
        users = Users.parse(members.objects("users"));
        groups = groups(members);
        routes = routes(members, groups);
        ports = ports(members, scheduler);
        if (parameters != null && !ports.isEmpty()) {
            throw members.wrong("parameters", "the law of port " + ports.firstKey() + " sets them");
        }
        members.end();
    }

    /** Reads the value of {@code p4schedScheduler}. Throws SettingsException if it is invalid. */
    public static Settings parse(JsonNode value) {
        return new Settings(new Members(KEY, value));
    }

    private static Map<String, Long> parameters(Members members) {
        return members.object("parameters")
                .map(object -> {
                    Map<String, Long> values = new LinkedHashMap<>();
                    for (String name : object.names()) {
                        values.put(name, object.neededWhole(name, 0, LARGEST_PARAMETER));
                    }
                    return Collections.unmodifiableMap(values);
                })
                .orElse(null);
    }

    private static List<Group> groups(Members members) {
        List<Group> result = new ArrayList<>();
        for (Members member : members.objects("groups")) {
            Group group = Group.parse(member);
            if (result.stream().anyMatch(other -> other.number() == group.number())) {
                throw member.wrong("group", "there is a group " + group.number() + " already");
            }
            result.add(group);
        }
        return List.copyOf(result);
    }

    private static List<Route> routes(Members members, List<Group> groups) {
        List<Route> result = new ArrayList<>();
        Set<Object> prefixes = new HashSet<>();
        for (Members member : members.objects("routes")) {
            Route route = Route.parse(member);
            if (!prefixes.add(route.prefix())) {
                throw member.wrong("prefix", "there is a route to " + route.prefix() + " already");
            }
            if (route.hop().isEmpty() && groups.stream().noneMatch(group -> group.number() == route.group())) {
                throw member.wrong("group", "there is no group " + route.group());
            }
            result.add(route);
        }
        return List.copyOf(result);
    }

    private static SortedMap<Integer, PortSettings> ports(Members members, Scheduler scheduler) {
        SortedMap<Integer, PortSettings> result = new TreeMap<>();
        members.object("ports").ifPresent(ports -> {
            if (scheduler.law().isEmpty()) {
                throw new SettingsException(ports.path(), scheduler + " has no control law");
            }
            for (String name : ports.names()) {
                Members port = ports.object(name).orElseThrow(() -> ports.wrong(name, "is null"));
                if (!name.matches("[0-9]{1,3}") || Integer.parseInt(name) > Hop.LARGEST_PORT) {
                    throw new SettingsException(port.path(), "'" + name + "' is not a port from 0 to 511");
                }
                result.put(Integer.parseInt(name), PortSettings.parse(scheduler, port));
                // only the law can check the values together
                try {
                    scheduler
                            .law()
                            .orElseThrow()
                            .config(result.get(Integer.parseInt(name)).configuration());
                } catch (IllegalArgumentException e) {
                    throw new SettingsException(port.path(), e.getMessage());
                }
            }
            if (!scheduler.ranked() && result.size() > 1) {
                throw new SettingsException(
                        ports.path(), "the users of " + scheduler.title() + " share one link, so there is one port");
            }
        });
        return Collections.unmodifiableSortedMap(result);
    }

    /** The scheduler of the switch. */
    public Scheduler scheduler() {
        return scheduler;
    }

    /** The rank source of ports without their own; empty for the program's default. */
    public Optional<RankSource> rankSource() {
        return Optional.ofNullable(rankSource);
    }

    /** Parameters of all ports by their names in the P4 action; empty for those of a law or of the program. */
    public Optional<Map<String, Long>> parameters() {
        return Optional.ofNullable(parameters);
    }

    public List<User> users() {
        return users;
    }

    /** The routes, to different prefixes. */
    public List<Route> routes() {
        return routes;
    }

    public List<Group> groups() {
        return groups;
    }

    /** The egress ports with a law. */
    public SortedMap<Integer, PortSettings> ports() {
        return ports;
    }
}
