package org.p4sched.onos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.onlab.packet.IpAddress;
import org.onosproject.cluster.ClusterServiceAdapter;
import org.onosproject.cluster.ControllerNode;
import org.onosproject.cluster.DefaultControllerNode;
import org.onosproject.cluster.Leader;
import org.onosproject.cluster.Leadership;
import org.onosproject.cluster.LeadershipEvent;
import org.onosproject.cluster.LeadershipEventListener;
import org.onosproject.cluster.LeadershipServiceAdapter;
import org.onosproject.cluster.NodeId;
import org.onosproject.core.ApplicationId;
import org.onosproject.core.CoreServiceAdapter;
import org.onosproject.core.DefaultApplicationId;
import org.onosproject.net.DefaultPort;
import org.onosproject.net.DeviceId;
import org.onosproject.net.Port;
import org.onosproject.net.PortNumber;
import org.onosproject.net.config.Config;
import org.onosproject.net.config.NetworkConfigEvent;
import org.onosproject.net.config.NetworkConfigListener;
import org.onosproject.net.config.NetworkConfigRegistryAdapter;
import org.onosproject.net.config.basics.BasicDeviceConfig;
import org.onosproject.net.device.DeviceServiceAdapter;
import org.onosproject.net.flow.DefaultFlowEntry;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleOperation;
import org.onosproject.net.flow.FlowRuleOperations;
import org.onosproject.net.flow.FlowRuleServiceAdapter;
import org.onosproject.net.flow.criteria.Criterion;
import org.onosproject.net.flow.criteria.PiCriterion;
import org.onosproject.net.flow.instructions.PiInstruction;
import org.onosproject.net.group.GroupDescription;
import org.onosproject.net.group.GroupService;
import org.onosproject.net.pi.PiPipeconfServiceAdapter;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiCounterCell;
import org.onosproject.net.pi.runtime.PiCounterCellData;
import org.onosproject.net.pi.runtime.PiCounterCellHandle;
import org.onosproject.net.pi.runtime.PiEntity;
import org.onosproject.net.pi.runtime.PiMatchKey;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.p4runtime.api.P4RuntimeClient;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadRequest;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadResponse;
import org.p4sched.onos.config.SchedulerConfig;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.pipeconf.Names;
import org.p4sched.onos.pipeconf.Pipeconfs;

/** A cluster of ONOS with one switch, as far as the application sees it: one store, and services of each instance. */
final class World {
    static final DeviceId SWITCH = DeviceId.deviceId("device:p4sched:s1");
    static final ObjectMapper JSON = new ObjectMapper();
    static final ApplicationId APP = new DefaultApplicationId(7, SchedulerManager.APP);

    private static final Collection<PiPipeconf> PROGRAMS = Pipeconfs.inApp();

    final PiPipeconf pipeconf;
    final Names names;
    /** Rules in ONOS's store, by table and match. */
    final Map<List<Object>, FlowRule> rules = new ConcurrentHashMap<>();
    /** Changes to the switch, in this order: "add" or "remove", and the rule. */
    final List<Map.Entry<String, FlowRule>> writes = new CopyOnWriteArrayList<>();
    /** Groups that ONOS was given. */
    final List<GroupDescription> groups = new CopyOnWriteArrayList<>();
    /** Bytes from users, by their number. */
    final Map<Long, Long> sent = new ConcurrentHashMap<>();
    /** A moment in each sample. */
    final AtomicLong clock = new AtomicLong(1_000_000_000);

    volatile String refusesReads;
    volatile boolean available = true;

    private final Map<DeviceId, JsonNode> configurations = new ConcurrentHashMap<>();
    private final List<NetworkConfigListener> configListeners = new CopyOnWriteArrayList<>();
    private final List<LeadershipEventListener> leadershipListeners = new CopyOnWriteArrayList<>();
    private final List<NodeId> candidates = new CopyOnWriteArrayList<>();

    World(String program) {
        pipeconf = PROGRAMS.stream()
                .filter(each -> each.id().id().equals(Pipeconfs.PREFIX + program))
                .findFirst()
                .orElseThrow();
        names = new Names(pipeconf.pipelineModel());
    }

    static JsonNode json(String text) {
        try {
            return JSON.readTree(text.replace('\'', '"'));
        } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    /** The services of one instance. */
    OnosServices services(String node) {
        NodeId id = NodeId.nodeId(node);
        return new OnosServices(
                new CoreServiceAdapter() {
                    @Override
                    public ApplicationId registerApplication(String name) {
                        return APP;
                    }
                },
                new ClusterServiceAdapter() {
                    @Override
                    public ControllerNode getLocalNode() {
                        return new DefaultControllerNode(id, IpAddress.valueOf("127.0.0.1"));
                    }
                },
                new Leaderships(id),
                new Devices(),
                new Rules(),
                proxy(GroupService.class, (method, arguments) -> {
                    if (method.equals("addGroup")) {
                        groups.add((GroupDescription) arguments[0]);
                    }
                    return null;
                }),
                new Netcfg(),
                new PiPipeconfServiceAdapter() {
                    @Override
                    public Optional<PiPipeconf> getPipeconf(DeviceId device) {
                        return Optional.of(pipeconf);
                    }
                },
                proxy(P4RuntimeController.class, (method, arguments) -> client()));
    }

    /** The parameters of the default action of a table, as ONOS's store has them. */
    Optional<Map<String, Long>> parameters(String table) {
        return rules.values().stream()
                .filter(rule -> rule.table().equals(names.tableId(table))
                        && rule.selector().criteria().isEmpty())
                .findFirst()
                .map(World::data);
    }

    long count(String table) {
        return rules.values().stream()
                .filter(rule -> rule.table().equals(names.tableId(table)))
                .count();
    }

    static Map<String, Long> data(FlowRule rule) {
        Map<String, Long> found = new LinkedHashMap<>();
        action(rule)
                .parameters()
                .forEach(parameter -> found.put(
                        parameter.id().id(),
                        parameter.value().asReadOnlyBuffer().getLong()));
        return found;
    }

    static PiAction action(FlowRule rule) {
        return (PiAction) ((PiInstruction) rule.treatment().allInstructions().get(0)).action();
    }

    private static List<Object> match(FlowRule rule) {
        return List.of(rule.table(), rule.selector());
    }

    private final class Rules extends FlowRuleServiceAdapter {
        @Override
        public Iterable<FlowEntry> getFlowEntries(DeviceId device) {
            return rules.values().stream()
                    .map(rule -> (FlowEntry) new DefaultFlowEntry(rule, FlowEntry.FlowEntryState.ADDED))
                    .collect(Collectors.toList());
        }

        @Override
        public void apply(FlowRuleOperations operations) {
            FlowRuleOperations.Builder failed = FlowRuleOperations.builder();
            boolean allDone = true;
            for (Set<FlowRuleOperation> stage : operations.stages()) {
                for (FlowRuleOperation operation : stage) {
                    if (operation.type() == FlowRuleOperation.Type.REMOVE) {
                        rules.remove(match(operation.rule()));
                        writes.add(Map.entry("remove", operation.rule()));
                        if (operation.rule().selector().criteria().isEmpty()) {
                            // ONOS brings back the program's default action, and tells that as failed
                            failed.add(operation.rule());
                            allDone = false;
                        }
                    } else {
                        rules.put(match(operation.rule()), operation.rule());
                        writes.add(Map.entry("add", operation.rule()));
                    }
                }
            }
            if (allDone) {
                operations.callback().onSuccess(operations);
            } else {
                operations.callback().onError(failed.build());
            }
        }
    }

    private final class Devices extends DeviceServiceAdapter {
        @Override
        public boolean isAvailable(DeviceId device) {
            return available;
        }

        @Override
        public List<Port> getPorts(DeviceId device) {
            List<Port> ports = new ArrayList<>();
            for (int number = 1; number <= 3; number++) {
                ports.add(new DefaultPort(null, PortNumber.portNumber(number), true));
            }
            return ports;
        }
    }

    /** The first candidate leads. */
    private final class Leaderships extends LeadershipServiceAdapter {
        private final NodeId node;

        Leaderships(NodeId node) {
            this.node = node;
        }

        @Override
        public NodeId getLeader(String topic) {
            return candidates.isEmpty() ? null : candidates.get(0);
        }

        @Override
        public Leadership runForLeadership(String topic) {
            candidates.add(node);
            return null;
        }

        @Override
        public void withdraw(String topic) {
            candidates.remove(node);
            if (!candidates.isEmpty()) {
                Leadership now = new Leadership(topic, new Leader(candidates.get(0), 2, 0), candidates);
                LeadershipEvent event = new LeadershipEvent(LeadershipEvent.Type.LEADER_CHANGED, now);
                leadershipListeners.forEach(listener -> listener.event(event));
            }
        }

        @Override
        public void addListener(LeadershipEventListener listener) {
            leadershipListeners.add(listener);
        }

        @Override
        public void removeListener(LeadershipEventListener listener) {
            leadershipListeners.remove(listener);
        }
    }

    /** The network configuration changes, and its listeners are notified. */
    void store(JsonNode configuration) {
        configurations.put(SWITCH, configuration);
        NetworkConfigEvent event =
                new NetworkConfigEvent(NetworkConfigEvent.Type.CONFIG_UPDATED, SWITCH, SchedulerConfig.class);
        configListeners.forEach(listener -> listener.event(event));
    }

    private final class Netcfg extends NetworkConfigRegistryAdapter {
        @Override
        public void addListener(NetworkConfigListener listener) {
            configListeners.add(listener);
        }

        @Override
        public <S, C extends Config<S>> Set<S> getSubjects(Class<S> subjects, Class<C> configs) {
            @SuppressWarnings("unchecked")
            Set<S> found = (Set<S>) Set.copyOf(configurations.keySet());
            return found;
        }

        @Override
        public <S, C extends Config<S>> C getConfig(S subject, Class<C> type) {
            if (type.equals(BasicDeviceConfig.class)) {
                BasicDeviceConfig basic = new BasicDeviceConfig();
                JsonNode node = json("{'managementAddress': 'grpc://127.0.0.1:9559?device_id=1'}");
                basic.init((DeviceId) subject, "basic", node, JSON, changed -> {});
                return type.cast(basic);
            }
            JsonNode node = configurations.get(subject);
            if (node == null) {
                return null;
            }
            SchedulerConfig config = new SchedulerConfig();
            config.init((DeviceId) subject, Settings.KEY, node, JSON, changed -> {});
            return type.cast(config);
        }

        @Override
        public <S, C extends Config<S>> C applyConfig(S subject, Class<C> type, JsonNode json) {
            configurations.put((DeviceId) subject, json);
            return getConfig(subject, type);
        }

        @Override
        public <S, C extends Config<S>> void removeConfig(S subject, Class<C> type) {
            configurations.remove(subject);
        }
    }

    private P4RuntimeClient client() {
        return proxy(P4RuntimeClient.class, (method, arguments) -> {
            List<PiEntity> found = new ArrayList<>();
            ReadRequest[] self = new ReadRequest[1];
            self[0] = proxy(ReadRequest.class, (asked, wanted) -> {
                switch (asked) {
                    case "submit":
                        Object answered = CompletableFuture.completedFuture(reply(found));
                        return answered;
                    case "tableEntries":
                        tables(wanted[0]).forEach(table -> found.addAll(entries(table, false)));
                        break;
                    case "defaultTableEntry":
                        tables(wanted[0]).forEach(table -> found.addAll(entries(table, true)));
                        break;
                    case "handles":
                        ((Iterable<?>) wanted[0])
                                .forEach(handle ->
                                        found.add(new PiCounterCell(((PiCounterCellHandle) handle).cellId(), 0, 0)));
                        break;
                    default:
                        throw new AssertionError("no " + asked);
                }
                return self[0];
            });
            return self[0];
        });
    }

    private ReadResponse reply(List<PiEntity> found) {
        String refused = refusesReads;
        return proxy(ReadResponse.class, (method, arguments) -> {
            switch (method) {
                case "isSuccess":
                    return refused == null;
                case "explanation":
                    return refused;
                case "all":
                    Class<?> type = (Class<?>) arguments[0];
                    return found.stream().filter(type::isInstance).collect(Collectors.toList());
                default:
                    return null;
            }
        });
    }

    private static List<PiTableId> tables(Object wanted) {
        return wanted instanceof PiTableId ? List.of((PiTableId) wanted) : new ArrayList<>(cast(wanted));
    }

    @SuppressWarnings("unchecked")
    private static Collection<PiTableId> cast(Object tables) {
        return (Collection<PiTableId>) tables;
    }

    private List<PiTableEntry> entries(PiTableId table, boolean defaults) {
        List<PiTableEntry> found = new ArrayList<>();
        for (FlowRule rule : rules.values()) {
            if (!rule.table().equals(table) || rule.selector().criteria().isEmpty() != defaults) {
                continue;
            }
            PiMatchKey.Builder key = PiMatchKey.builder();
            Criterion criterion = rule.selector().getCriterion(Criterion.Type.PROTOCOL_INDEPENDENT);
            if (criterion != null) {
                key.addFieldMatches(((PiCriterion) criterion).fieldMatches());
            }
            long bytes = sent.getOrDefault(data(rule).getOrDefault("user", 0L), 0L);
            found.add(PiTableEntry.builder()
                    .forTable(table)
                    .withMatchKey(key.build())
                    .withAction(action(rule))
                    .withCounterCellData(new PiCounterCellData(bytes / 1000, bytes))
                    .build());
        }
        return found;
    }

    /** Answers to the calls of an interface. */
    interface Handler {
        Object call(String method, Object[] arguments);
    }

    /** An object of an interface of which a test needs a part. */
    static <T> T proxy(Class<T> type, Handler handler) {
        Object made = Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> handler.call(method.getName(), arguments));
        return type.cast(made);
    }
}
