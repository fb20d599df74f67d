package org.p4sched.onos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.p4sched.onos.World.SWITCH;
import static org.p4sched.onos.World.proxy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.onlab.osgi.ServiceDirectory;
import org.onlab.packet.Ethernet;
import org.onlab.packet.IpPrefix;
import org.onlab.packet.MacAddress;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.PortNumber;
import org.onosproject.net.behaviour.NextGroup;
import org.onosproject.net.behaviour.PipelinerContext;
import org.onosproject.net.driver.DriverData;
import org.onosproject.net.driver.DriverHandler;
import org.onosproject.net.flow.DefaultTrafficSelector;
import org.onosproject.net.flow.DefaultTrafficTreatment;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.flow.TrafficSelector;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.flow.criteria.Criterion;
import org.onosproject.net.flowobjective.DefaultForwardingObjective;
import org.onosproject.net.flowobjective.DefaultNextObjective;
import org.onosproject.net.flowobjective.FlowObjectiveStore;
import org.onosproject.net.flowobjective.ForwardingObjective;
import org.onosproject.net.flowobjective.NextObjective;
import org.onosproject.net.flowobjective.Objective;
import org.onosproject.net.flowobjective.ObjectiveContext;
import org.onosproject.net.flowobjective.ObjectiveError;
import org.onosproject.net.packet.DefaultOutboundPacket;
import org.onosproject.net.pi.model.PiPacketOperationType;
import org.onosproject.net.pi.model.PiPipelineInterpreter.PiInterpreterException;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiPacketOperation;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.p4sched.onos.pipeconf.LabInterpreter;
import org.p4sched.onos.pipeconf.LabPipeliner;
import org.p4sched.onos.pipeconf.Names;

/** Interpreter and pipeliner. */
class LabBehavioursTest {
    private static final MacAddress NEIGHBOUR = MacAddress.valueOf("00:00:0a:00:01:01");

    private final World world = new World("fdpa");
    private final OnosServices onos = world.services("a");
    private final LabInterpreter interpreter = new LabInterpreter();
    private final LabPipeliner pipeliner = new LabPipeliner();
    private final Map<Integer, NextGroup> nexts = new HashMap<>();
    private final List<String> answers = new ArrayList<>();

    @BeforeEach
    void install() {
        DriverData data = proxy(DriverData.class, (method, arguments) -> SWITCH);
        interpreter.setData(data);
        interpreter.setHandler(proxy(DriverHandler.class, (method, arguments) -> service((Class<?>) arguments[0])));
        FlowObjectiveStore store = proxy(FlowObjectiveStore.class, (method, arguments) -> {
            switch (method) {
                case "getNextGroup":
                    return nexts.get(arguments[0]);
                case "putNextGroup":
                    // as a store of several instances: bytes only
                    byte[] bytes = ((NextGroup) arguments[1]).data();
                    NextGroup kept = () -> bytes;
                    return nexts.put((Integer) arguments[0], kept);
                default:
                    return nexts.remove(arguments[0]);
            }
        });
        ServiceDirectory directory =
                proxy(ServiceDirectory.class, (method, arguments) -> service((Class<?>) arguments[0]));
        pipeliner.init(
                SWITCH,
                proxy(PipelinerContext.class, (method, arguments) -> method.equals("store") ? store : directory));
    }

    private Object service(Class<?> type) {
        return type.equals(PiPipeconfService.class)
                ? onos.pipeconfs
                : type.equals(FlowRuleService.class) ? onos.flowRules : null;
    }

    private static TrafficTreatment hop(int port, MacAddress mac) {
        return DefaultTrafficTreatment.builder()
                .setEthDst(mac)
                .setOutput(PortNumber.portNumber(port))
                .build();
    }

    private PiAction mapped(TrafficTreatment treatment) throws PiInterpreterException {
        return interpreter.mapTreatment(treatment, world.names.tableId(Names.ROUTES));
    }

    private static Map<String, Long> values(PiAction action) {
        return action.parameters().stream()
                .collect(Collectors.toMap(parameter -> parameter.id().id(), parameter -> {
                    byte[] bytes = parameter.value().asArray();
                    long value = 0;
                    for (byte each : bytes) {
                        value = value << 8 | (each & 0xff);
                    }
                    return value;
                }));
    }

    @Test
    void aTreatmentIsAHopOrADrop() throws Exception {
        PiAction forward = mapped(hop(3, NEIGHBOUR));
        assertEquals("FdpaIngress.forwarding.forward", forward.id().id());
        assertEquals(Map.of("port", 3L, "dst_mac", NEIGHBOUR.toLong()), values(forward));
        assertEquals(
                "FdpaIngress.forwarding.drop",
                mapped(DefaultTrafficTreatment.builder().drop().build()).id().id());
        TrafficTreatment cpu = DefaultTrafficTreatment.builder()
                .setOutput(PortNumber.CONTROLLER)
                .build();
        assertEquals(509L, values(mapped(cpu)).get("port"));
    }

    @Test
    void aTreatmentThatIsNoHopIsRefused() {
        TrafficTreatment noMac = DefaultTrafficTreatment.builder()
                .setOutput(PortNumber.portNumber(3))
                .build();
        assertTrue(assertThrows(PiInterpreterException.class, () -> mapped(noMac))
                .getMessage()
                .startsWith("a route needs the MAC address of the next hop"));
        TrafficTreatment flood = DefaultTrafficTreatment.builder()
                .setEthDst(NEIGHBOUR)
                .setOutput(PortNumber.FLOOD)
                .build();
        assertTrue(assertThrows(PiInterpreterException.class, () -> mapped(flood))
                .getMessage()
                .startsWith("a route to logical port"));
    }

    @Test
    void criteriaAreTheFiveTuple() {
        assertEquals(
                "hdr.ipv4.dst_addr",
                interpreter
                        .mapCriterionType(Criterion.Type.IPV4_DST)
                        .orElseThrow()
                        .id());
        assertEquals(
                "meta.l4_dst_port",
                interpreter
                        .mapCriterionType(Criterion.Type.TCP_DST)
                        .orElseThrow()
                        .id());
        assertEquals(Optional.empty(), interpreter.mapCriterionType(Criterion.Type.VLAN_VID));
        assertEquals(
                world.names.tableId(Names.ROUTES),
                interpreter.mapFlowRuleTableId(0).orElseThrow());
    }

    @Test
    void theOriginalDefaultActionIsThatOfTheProgram() {
        PiAction bands = interpreter
                .getOriginalDefaultAction(world.names.tableId("fdpa_params"))
                .orElseThrow();
        assertEquals(60_000L, values(bands).get("interval_us"));
        assertEquals(0xffff_ffffL, values(bands).get("edge_1"));
        assertEquals(26, bands.parameters().size());
    }

    @Test
    void packetsToTheControllerHaveNoPortAndThoseFromItAreRouted() throws Exception {
        Ethernet frame = new Ethernet();
        frame.setDestinationMACAddress(NEIGHBOUR)
                .setSourceMACAddress(MacAddress.NONE)
                .setEtherType((short) 0x9000);
        PiPacketOperation in = PiPacketOperation.builder()
                .withType(PiPacketOperationType.PACKET_IN)
                .withData(ImmutableByteSequence.copyFrom(frame.serialize()))
                .build();
        assertEquals(
                PortNumber.ANY,
                interpreter.mapInboundPacket(in, SWITCH).receivedFrom().port());
        ByteBuffer bytes = ByteBuffer.wrap(frame.serialize());
        TrafficTreatment routed =
                DefaultTrafficTreatment.builder().setOutput(PortNumber.TABLE).build();
        assertEquals(
                1,
                interpreter
                        .mapOutboundPacket(new DefaultOutboundPacket(SWITCH, routed, bytes))
                        .size());
        TrafficTreatment port = DefaultTrafficTreatment.builder()
                .setOutput(PortNumber.portNumber(1))
                .build();
        assertThrows(
                PiInterpreterException.class,
                () -> interpreter.mapOutboundPacket(new DefaultOutboundPacket(SWITCH, port, bytes)));
    }

    private ObjectiveContext answer() {
        return new ObjectiveContext() {
            @Override
            public void onSuccess(Objective objective) {
                answers.add("done");
            }

            @Override
            public void onError(Objective objective, ObjectiveError error) {
                answers.add(error.toString());
            }
        };
    }

    private DefaultForwardingObjective.Builder forwarding(String prefix) {
        TrafficSelector selector = DefaultTrafficSelector.builder()
                .matchEthType(Ethernet.TYPE_IPV4)
                .matchIPDst(IpPrefix.valueOf(prefix))
                .build();
        return DefaultForwardingObjective.builder()
                .withSelector(selector)
                .withFlag(ForwardingObjective.Flag.SPECIFIC)
                .withPriority(10)
                .fromApp(World.APP);
    }

    private static DefaultNextObjective.Builder next(int id, NextObjective.Type type) {
        return DefaultNextObjective.builder().withId(id).withType(type).fromApp(World.APP);
    }

    @Test
    void aForwardingObjectiveIsARoute() {
        pipeliner.forward(
                forwarding("10.0.1.0/24").withTreatment(hop(3, NEIGHBOUR)).add(answer()));
        assertEquals(1, world.count(Names.ROUTES));
        assertEquals(Map.of("port", 3L, "dst_mac", NEIGHBOUR.toLong()), World.data(rule(Names.ROUTES)));
        pipeliner.forward(
                forwarding("10.0.1.0/24").withTreatment(hop(3, NEIGHBOUR)).remove(answer()));
        assertEquals(0, world.count(Names.ROUTES));
        assertEquals(List.of("done", "done"), answers);
    }

    @Test
    void aHashedNextObjectiveIsAGroupOf64Buckets() {
        pipeliner.next(next(5, NextObjective.Type.HASHED)
                .addTreatment(hop(1, NEIGHBOUR))
                .addTreatment(hop(2, NEIGHBOUR))
                .add(answer()));
        assertEquals(64, world.count(Names.PATHS));
        assertEquals(32, paths(1));
        pipeliner.forward(forwarding("10.0.1.0/24").nextStep(5).add(answer()));
        assertEquals(Map.of("group", 32768L + 5), World.data(rule(Names.ROUTES)));
        pipeliner.next(next(5, NextObjective.Type.HASHED)
                .addTreatment(hop(3, NEIGHBOUR))
                .addToExisting(answer()));
        assertEquals(22, paths(1));
        assertEquals(21, paths(3));
        pipeliner.next(next(5, NextObjective.Type.HASHED)
                .addTreatment(hop(1, NEIGHBOUR))
                .removeFromExisting(answer()));
        assertEquals(0, paths(1));
        assertEquals(List.of("2/00:00:0A:00:01:01", "3/00:00:0A:00:01:01"), pipeliner.getNextMappings(nexts.get(5)));
        pipeliner.next(next(5, NextObjective.Type.HASHED)
                .addTreatment(hop(2, NEIGHBOUR))
                .remove(answer()));
        assertEquals(0, world.count(Names.PATHS));
        assertEquals(List.of("done", "done", "done", "done", "done"), answers);
    }

    @Test
    void aSimpleNextObjectiveIsAHop() {
        pipeliner.next(next(6, NextObjective.Type.SIMPLE)
                .addTreatment(hop(2, NEIGHBOUR))
                .add(answer()));
        pipeliner.forward(forwarding("10.0.1.0/24").nextStep(6).add(answer()));
        assertEquals(2L, World.data(rule(Names.ROUTES)).get("port"));
        assertEquals(List.of("done", "done"), answers);
    }

    @Test
    void whatTheProgramsCannotDoIsRefused() {
        pipeliner.forward(forwarding("10.0.1.0/24").nextStep(9).add(answer()));
        pipeliner.next(next(7, NextObjective.Type.BROADCAST)
                .addTreatment(hop(2, NEIGHBOUR))
                .add(answer()));
        TrafficTreatment noMac = DefaultTrafficTreatment.builder()
                .setOutput(PortNumber.portNumber(3))
                .build();
        pipeliner.forward(forwarding("10.0.1.0/24").withTreatment(noMac).add(answer()));
        assertEquals(List.of("GROUPMISSING", "UNSUPPORTED", "BADPARAMS"), answers);
        assertTrue(world.rules.isEmpty());
    }

    private FlowRule rule(String table) {
        return world.rules.values().stream()
                .filter(each -> each.table().equals(world.names.tableId(table)))
                .findFirst()
                .orElseThrow();
    }

    private long paths(int port) {
        return world.rules.values().stream()
                .filter(each -> each.table().equals(world.names.tableId(Names.PATHS)))
                .filter(each -> World.data(each).get("port") == port)
                .count();
    }
}
