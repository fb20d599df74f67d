package org.p4sched.onos.pipeconf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.onlab.packet.Ethernet;
import org.onlab.packet.Ip4Prefix;
import org.onlab.packet.MacAddress;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.onosproject.net.PortNumber;
import org.onosproject.net.behaviour.NextGroup;
import org.onosproject.net.behaviour.Pipeliner;
import org.onosproject.net.behaviour.PipelinerContext;
import org.onosproject.net.driver.AbstractHandlerBehaviour;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleOperations;
import org.onosproject.net.flow.FlowRuleOperationsContext;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.flow.TrafficSelector;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.flow.criteria.Criterion;
import org.onosproject.net.flow.criteria.EthTypeCriterion;
import org.onosproject.net.flow.criteria.IPCriterion;
import org.onosproject.net.flow.instructions.Instruction;
import org.onosproject.net.flow.instructions.Instructions.OutputInstruction;
import org.onosproject.net.flow.instructions.L2ModificationInstruction.L2SubType;
import org.onosproject.net.flow.instructions.L2ModificationInstruction.ModEtherInstruction;
import org.onosproject.net.flowobjective.DefaultNextTreatment;
import org.onosproject.net.flowobjective.FilteringObjective;
import org.onosproject.net.flowobjective.ForwardingObjective;
import org.onosproject.net.flowobjective.NextObjective;
import org.onosproject.net.flowobjective.NextTreatment;
import org.onosproject.net.flowobjective.Objective;
import org.onosproject.net.flowobjective.ObjectiveContext;
import org.onosproject.net.flowobjective.ObjectiveError;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.p4sched.onos.config.Group;
import org.p4sched.onos.config.Hop;
import org.p4sched.onos.config.Route;
import org.p4sched.onos.control.Rules;

/**
 * Translates ONOS's objectives to routes and groups. A forwarding objective for an IPv4 prefix is a route. A simple
 * next objective is a hop; a hashed one is a group of equal-cost paths with equal weights.
 *
 * <p>Groups of next objectives have numbers from 32768 on. Those of the network configuration have smaller ones.
 */
public class LabPipeliner extends AbstractHandlerBehaviour implements Pipeliner {
    private static final int FIRST_GROUP = Route.LARGEST_GROUP + 1;
    private static final int GROUPS = 0x10000 - FIRST_GROUP;

    private DeviceId device;
    private PipelinerContext context;
    private FlowRuleService flowRules;

    /** An objective that the programs do not support. */
    private static final class ObjectiveException extends Exception {
        private static final long serialVersionUID = 1L;

        private final ObjectiveError error;

        ObjectiveException(ObjectiveError error, String message) {
            super(message);
            this.error = error;
        }
    }

    /** Stored form of a next objective: its hops, each as PORT/MAC, and whether it is a group. */
    private static final class Hops implements NextGroup {
        private final boolean hashed;
        private final List<Hop> hops;

        Hops(boolean hashed, List<Hop> hops) {
            this.hashed = hashed;
            this.hops = List.copyOf(hops);
        }

        static Hops of(NextGroup stored) {
            String[] words = new String(stored.data(), StandardCharsets.UTF_8).split(" ");
            List<Hop> hops = new ArrayList<>();
            for (String word : List.of(words).subList(1, words.length)) {
                String[] parts = word.split("/", 2);
                hops.add(new Hop(Integer.parseInt(parts[0]), MacAddress.valueOf(parts[1])));
            }
            return new Hops(words[0].equals("hashed"), hops);
        }

        @Override
        public byte[] data() {
            String text =
                    hops.stream().map(hop -> " " + hop.port() + "/" + hop.mac()).collect(Collectors.joining());
            return ((hashed ? "hashed" : "simple") + text).getBytes(StandardCharsets.UTF_8);
        }
    }

    @Override
    public void init(DeviceId deviceId, PipelinerContext pipelinerContext) {
        device = deviceId;
        context = pipelinerContext;
        flowRules = context.directory().get(FlowRuleService.class);
    }

    /** Fails: the programs accept any IPv4 packet on any port. */
    @Override
    public void filter(FilteringObjective objective) {
        fail(objective, ObjectiveError.UNSUPPORTED);
    }

    @Override
    public void forward(ForwardingObjective objective) {
        try {
            Rules rules = rules(objective);
            Ip4Prefix prefix = prefix(objective.selector());
            boolean remove = objective.op() == Objective.Operation.REMOVE;
            FlowRule rule = rules.route(remove ? Route.byGroup(prefix, FIRST_GROUP) : route(prefix, objective));
            write(objective, remove ? List.of() : List.of(rule), remove ? List.of(rule) : List.of(), () -> {});
        } catch (ObjectiveException e) {
            fail(objective, e.error);
        }
    }

    private Route route(Ip4Prefix prefix, ForwardingObjective objective) throws ObjectiveException {
        if (objective.nextId() == null) {
            return Route.by(prefix, hop(objective.treatment()));
        }
        NextGroup stored = context.store().getNextGroup(objective.nextId());
        if (stored == null) {
            throw new ObjectiveException(ObjectiveError.GROUPMISSING, "no next objective " + objective.nextId());
        }
        Hops next = Hops.of(stored);
        return next.hashed ? Route.byGroup(prefix, group(objective.nextId())) : Route.by(prefix, next.hops.get(0));
    }

    @Override
    public void next(NextObjective objective) {
        try {
            boolean hashed = objective.type() == NextObjective.Type.HASHED;
            if (!hashed && objective.type() != NextObjective.Type.SIMPLE) {
                throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "next objectives are simple or hashed");
            }
            NextGroup stored = context.store().getNextGroup(objective.id());
            Hops before = stored == null ? new Hops(hashed, List.of()) : Hops.of(stored);
            Hops now = new Hops(hashed, changed(before.hops, objective));
            if (now.hops.size() > (hashed ? Group.BUCKETS : 1)) {
                throw new ObjectiveException(
                        ObjectiveError.BADPARAMS, "a group has at most " + Group.BUCKETS + " hops");
            }
            boolean gone = now.hops.isEmpty();
            Rules rules = rules(objective);
            List<FlowRule> paths = !hashed || (gone && before.hops.isEmpty())
                    ? List.of()
                    : rules.paths(new Group(group(objective.id()), gone ? before.hops : now.hops));
            write(objective, gone ? List.of() : paths, gone ? paths : List.of(), () -> {
                if (gone) {
                    context.store().removeNextGroup(objective.id());
                } else {
                    context.store().putNextGroup(objective.id(), now);
                }
            });
        } catch (ObjectiveException e) {
            fail(objective, e.error);
        }
    }

    private static List<Hop> changed(List<Hop> before, NextObjective objective) throws ObjectiveException {
        List<Hop> newHops = new ArrayList<>();
        for (NextTreatment next : objective.nextTreatments()) {
            if (!(next instanceof DefaultNextTreatment)) {
                throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "a group contains hops, not other groups");
            }
            newHops.add(hop(((DefaultNextTreatment) next).treatment()));
        }
        List<Hop> hops = new ArrayList<>(before);
        switch (objective.op()) {
            case ADD:
            case MODIFY:
                return newHops;
            case ADD_TO_EXISTING:
                newHops.stream()
                        .filter(hop -> before.stream().noneMatch(other -> same(hop, other)))
                        .forEach(hops::add);
                return hops;
            case REMOVE_FROM_EXISTING:
                hops.removeIf(hop -> newHops.stream().anyMatch(other -> same(hop, other)));
                return hops;
            case REMOVE:
                return List.of();
            default:
                throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "unsupported operation " + objective.op());
        }
    }

    private static boolean same(Hop one, Hop other) {
        return one.port() == other.port() && one.mac().equals(other.mac());
    }

    private static int group(int nextId) throws ObjectiveException {
        if (nextId < 0 || nextId >= GROUPS) {
            throw new ObjectiveException(ObjectiveError.BADPARAMS, "groups are 16 bits wide");
        }
        return FIRST_GROUP + nextId;
    }

    private static Ip4Prefix prefix(TrafficSelector selector) throws ObjectiveException {
        Ip4Prefix result = null;
        for (Criterion criterion : selector.criteria()) {
            if (criterion.type() == Criterion.Type.IPV4_DST) {
                result = ((IPCriterion) criterion).ip().getIp4Prefix();
            } else if (criterion.type() != Criterion.Type.ETH_TYPE
                    || ((EthTypeCriterion) criterion).ethType().toShort() != Ethernet.TYPE_IPV4) {
                throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "a route matches IPv4 destinations only");
            }
        }
        if (result == null) {
            throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "a route matches an IPv4 destination");
        }
        return result;
    }

    private static Hop hop(TrafficTreatment treatment) throws ObjectiveException {
        PortNumber port = null;
        MacAddress mac = null;
        for (Instruction instruction : treatment == null ? List.<Instruction>of() : treatment.allInstructions()) {
            if (instruction instanceof OutputInstruction && port == null) {
                port = ((OutputInstruction) instruction).port();
            } else if (instruction instanceof ModEtherInstruction) {
                // the programs set the source address
                mac = isDestination((ModEtherInstruction) instruction)
                        ? ((ModEtherInstruction) instruction).mac()
                        : mac;
            } else {
                throw new ObjectiveException(ObjectiveError.UNSUPPORTED, "a hop has only OUTPUT and ETH_DST");
            }
        }
        if (port == null || port.isLogical() || port.toLong() > Hop.LARGEST_PORT || mac == null) {
            throw new ObjectiveException(
                    ObjectiveError.BADPARAMS,
                    "a hop needs a port (OUTPUT) and the MAC address of the neighbour (ETH_DST)");
        }
        return new Hop((int) port.toLong(), mac);
    }

    private static boolean isDestination(ModEtherInstruction instruction) {
        return instruction.subtype() == L2SubType.ETH_DST;
    }

    private Rules rules(Objective objective) throws ObjectiveException {
        Optional<PiPipeconf> pipeconf =
                context.directory().get(PiPipeconfService.class).getPipeconf(device);
        if (pipeconf.isEmpty()) {
            throw new ObjectiveException(ObjectiveError.NOPIPELINER, "the device has no pipeconf");
        }
        return new Rules(objective.appId(), device, new Names(pipeconf.get().pipelineModel()));
    }

    private void write(Objective objective, Collection<FlowRule> added, Collection<FlowRule> removed, Runnable then) {
        FlowRuleOperations.Builder operations = FlowRuleOperations.builder();
        added.forEach(operations::add);
        removed.forEach(operations::remove);
        Runnable success = () -> {
            then.run();
            report(objective, context -> context.onSuccess(objective));
        };
        if (added.isEmpty() && removed.isEmpty()) {
            success.run();
            return;
        }
        flowRules.apply(operations.build(new FlowRuleOperationsContext() {
            @Override
            public void onSuccess(FlowRuleOperations written) {
                success.run();
            }

            @Override
            public void onError(FlowRuleOperations failed) {
                fail(objective, ObjectiveError.FLOWINSTALLATIONFAILED);
            }
        }));
    }

    private static void fail(Objective objective, ObjectiveError error) {
        report(objective, context -> context.onError(objective, error));
    }

    private static void report(Objective objective, Consumer<ObjectiveContext> message) {
        objective.context().ifPresent(message);
    }

    /** Removes the rules of the application. */
    @Override
    public void purgeAll(ApplicationId appId) {
        flowRules.removeFlowRulesById(appId);
    }

    @Override
    public List<String> getNextMappings(NextGroup nextGroup) {
        return Hops.of(nextGroup).hops.stream()
                .map(hop -> hop.port() + "/" + hop.mac())
                .collect(Collectors.toList());
    }
}
