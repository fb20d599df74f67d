package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.onlab.packet.Ip4Prefix;
import org.onlab.packet.IpAddress;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.onosproject.net.flow.DefaultFlowRule;
import org.onosproject.net.flow.DefaultTrafficSelector;
import org.onosproject.net.flow.DefaultTrafficTreatment;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.TrafficSelector;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.flow.criteria.PiCriterion;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.p4sched.onos.config.Group;
import org.p4sched.onos.config.Hop;
import org.p4sched.onos.config.RankSource;
import org.p4sched.onos.config.Route;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.User;
import org.p4sched.onos.pipeconf.Names;

/**
 * Flow rules of one switch. Each rule is one table entry, with the values that the Python controller writes
 * (controller/p4sched/p4rt). A rule without a match is the table's default action; ONOS writes it by one MODIFY.
 */
public final class Rules {
    private static final int PRIORITY = 1;
    private static final byte PROTOCOL_TCP = 6;

    private final ApplicationId app;
    private final DeviceId device;
    private final Names names;

    /** {@code names} are those of the program on the switch. */
    public Rules(ApplicationId app, DeviceId device, Names names) {
        this.app = app;
        this.device = device;
        this.names = names;
    }

    /** All rules of the settings, without the parameters that laws set. A group's paths come before its routes. */
    public List<FlowRule> all(Settings settings) {
        List<FlowRule> rules = new ArrayList<>();
        settings.groups().forEach(group -> rules.addAll(paths(group)));
        settings.routes().forEach(route -> rules.add(route(route)));
        settings.users().forEach(user -> rules.add(user(user)));
        settings.rankSource().ifPresent(source -> rules.add(rankSource(source)));
        settings.ports()
                .forEach((port, portSettings) ->
                        portSettings.rankSource().ifPresent(source -> rules.add(rankSource(port, source))));
        settings.parameters().ifPresent(data -> rules.add(parameters(settings.scheduler(), data)));
        return rules;
    }

    /** The rule of a route. */
    public FlowRule route(Route route) {
        PiAction action = route.hop()
                .map(hop -> forward(Names.ROUTES, hop))
                .orElseGet(() -> action(Names.ROUTES, "choose_path", Map.of("group", (long) route.group())));
        return rule(Names.ROUTES, prefix(Names.ROUTES, "hdr.ipv4.dst_addr", route.prefix()), action);
    }

    /** The rules of a group's 64 buckets, which go to its paths in turn. */
    public List<FlowRule> paths(Group group) {
        List<FlowRule> rules = new ArrayList<>();
        for (int bucket = 0; bucket < Group.BUCKETS; bucket++) {
            PiCriterion match = PiCriterion.builder()
                    .matchExact(names.field(Names.PATHS, "ecmp_group"), group.number())
                    .matchExact(names.field(Names.PATHS, "ecmp_bucket"), bucket)
                    .build();
            rules.add(rule(Names.PATHS, selector(match), forward(Names.PATHS, group.path(bucket))));
        }
        return rules;
    }

    /** The rule of a user. On a Tofino each of the two tables has its own action, because it has its own counter. */
    public FlowRule user(User user) {
        Map<String, Long> data = Map.of("user", (long) user.number(), "scale", (long) user.scale());
        if (user.prefix().isPresent()) {
            return rule(
                    Names.USERS_BY_PREFIX,
                    prefix(
                            Names.USERS_BY_PREFIX,
                            "hdr.ipv4.src_addr",
                            user.prefix().get()),
                    action(Names.USERS_BY_PREFIX, "set_user", data));
        }
        byte[] address = user.address().map(IpAddress::toOctets).orElseThrow();
        PiCriterion match = PiCriterion.builder()
                .matchTernary(
                        names.field(Names.USERS_BY_FLOW, "hdr.ipv4.dst_addr"), address, new byte[] {-1, -1, -1, -1})
                .matchTernary(
                        names.field(Names.USERS_BY_FLOW, "hdr.ipv4.protocol"), new byte[] {PROTOCOL_TCP}, new byte[] {-1
                        })
                .matchTernary(names.field(Names.USERS_BY_FLOW, "meta.l4_dst_port"), user.tcpPort(), 0xffff)
                .build();
        String action = names.hasAction(Names.USERS_BY_FLOW, "set_flow_user") ? "set_flow_user" : "set_user";
        return rule(Names.USERS_BY_FLOW, selector(match), action(Names.USERS_BY_FLOW, action, data));
    }

    /** The rank source of ports without their own. */
    public FlowRule rankSource(RankSource source) {
        return rule(Names.RANK_SOURCES, DefaultTrafficSelector.emptySelector(), rankSourceAction(source));
    }

    /** The rank source of one port. */
    public FlowRule rankSource(int port, RankSource source) {
        return rule(Names.RANK_SOURCES, port(Names.RANK_SOURCES, port), rankSourceAction(source));
    }

    /** The parameters of ports without their own. */
    public FlowRule parameters(Scheduler scheduler, Map<String, Long> data) {
        return rule(
                scheduler.table(),
                DefaultTrafficSelector.emptySelector(),
                action(scheduler.table(), scheduler.action(), data));
    }

    /** The parameters of one port. */
    public FlowRule parameters(Scheduler scheduler, int port, Map<String, Long> data) {
        return rule(
                scheduler.table(), port(scheduler.table(), port), action(scheduler.table(), scheduler.action(), data));
    }

    /** Whether a rule sets parameters of this scheduler, for all ports or for one. */
    boolean isParameters(Scheduler scheduler, FlowRule rule) {
        return names.hasTable(scheduler.table()) && rule.table().equals(names.tableId(scheduler.table()));
    }

    /** Whether a rule sets the parameters of this port. */
    boolean isOfPort(Scheduler scheduler, int port, FlowRule rule) {
        return rule.selector().equals(port(scheduler.table(), port));
    }

    /** The same rule for all ports. */
    FlowRule ofAllPorts(FlowRule rule) {
        return rule((PiTableId) rule.table(), DefaultTrafficSelector.emptySelector(), rule.treatment());
    }

    private PiAction rankSourceAction(RankSource source) {
        return action(Names.RANK_SOURCES, "set_rank_source", Map.of("rank_source", (long) source.number()));
    }

    private PiAction forward(String table, Hop hop) {
        return action(
                table,
                "forward",
                Map.of("port", (long) hop.port(), "dst_mac", hop.mac().toLong()));
    }

    private PiAction action(String table, String name, Map<String, Long> data) {
        PiAction.Builder action = PiAction.builder().withId(names.actionId(table, name));
        data.forEach(
                (parameter, value) -> action.withParameter(new PiActionParam(PiActionParamId.of(parameter), value)));
        return action.build();
    }

    private TrafficSelector prefix(String table, String field, Ip4Prefix prefix) {
        PiCriterion.Builder match = PiCriterion.builder();
        match.matchLpm(names.field(table, field), prefix.address().toOctets(), prefix.prefixLength());
        return selector(match.build());
    }

    private TrafficSelector port(String table, int port) {
        return selector(PiCriterion.builder()
                .matchExact(names.field(table, Names.EGRESS_PORT), port)
                .build());
    }

    private static TrafficSelector selector(PiCriterion match) {
        return DefaultTrafficSelector.builder().matchPi(match).build();
    }

    private FlowRule rule(String table, TrafficSelector match, PiAction action) {
        TrafficTreatment treatment =
                DefaultTrafficTreatment.builder().piTableAction(action).build();
        return rule(names.tableId(table), match, treatment);
    }

    private FlowRule rule(PiTableId table, TrafficSelector match, TrafficTreatment treatment) {
        return DefaultFlowRule.builder()
                .forDevice(device)
                .fromApp(app)
                .forTable(table)
                .withSelector(match)
                .withTreatment(treatment)
                .withPriority(PRIORITY)
                .makePermanent()
                .build();
    }
}
