package org.p4sched.onos.pipeconf;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.onlab.packet.DeserializationException;
import org.onlab.packet.Ethernet;
import org.onlab.packet.MacAddress;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.ConnectPoint;
import org.onosproject.net.DeviceId;
import org.onosproject.net.PortNumber;
import org.onosproject.net.driver.AbstractHandlerBehaviour;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.flow.criteria.Criterion;
import org.onosproject.net.flow.instructions.Instruction;
import org.onosproject.net.flow.instructions.Instructions.OutputInstruction;
import org.onosproject.net.flow.instructions.L2ModificationInstruction;
import org.onosproject.net.flow.instructions.L2ModificationInstruction.L2SubType;
import org.onosproject.net.flow.instructions.L2ModificationInstruction.ModEtherInstruction;
import org.onosproject.net.packet.DefaultInboundPacket;
import org.onosproject.net.packet.InboundPacket;
import org.onosproject.net.packet.OutboundPacket;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiPacketOperationType;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiPipelineInterpreter;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.onosproject.net.pi.runtime.PiPacketOperation;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.p4sched.onos.config.Constants;

/**
 * Translates ONOS's criteria, treatments and packets to those of the programs.
 *
 * <p>The programs route IPv4 packets, so the treatment of a route is a port and the MAC address of the next hop. They
 * have no headers for packets to and from the controller: a packet-out follows its route, and a packet-in does not
 * carry its ingress port.
 */
public class LabInterpreter extends AbstractHandlerBehaviour implements PiPipelineInterpreter {
    private static final String V1MODEL = "v1model";
    private static final Map<Criterion.Type, String> FIELDS = Map.of(
            Criterion.Type.IPV4_SRC, "hdr.ipv4.src_addr",
            Criterion.Type.IPV4_DST, "hdr.ipv4.dst_addr",
            Criterion.Type.IP_PROTO, "hdr.ipv4.protocol",
            Criterion.Type.TCP_SRC, "meta.l4_src_port",
            Criterion.Type.UDP_SRC, "meta.l4_src_port",
            Criterion.Type.TCP_DST, "meta.l4_dst_port",
            Criterion.Type.UDP_DST, "meta.l4_dst_port");

    @Override
    public Optional<PiMatchFieldId> mapCriterionType(Criterion.Type type) {
        return Optional.ofNullable(FIELDS.get(type)).map(PiMatchFieldId::of);
    }

    /** Table 0 is the table of routes. */
    @Override
    public Optional<PiTableId> mapFlowRuleTableId(int flowRuleTableId) {
        return flowRuleTableId == 0
                ? pipeconf().map(result -> new Names(result.pipelineModel()).tableId(Names.ROUTES))
                : Optional.empty();
    }

    @Override
    public PiAction mapTreatment(TrafficTreatment treatment, PiTableId table) throws PiInterpreterException {
        PiPipeconf pipeconf = pipeconf()
                .orElseThrow(() -> new PiInterpreterException("device " + data().deviceId() + " has no pipeconf"));
        Names names = new Names(pipeconf.pipelineModel());
        String name = Names.isNamed(table.id(), Names.ROUTES)
                ? Names.ROUTES
                : Names.isNamed(table.id(), Names.PATHS) ? Names.PATHS : null;
        List<Instruction> instructions = treatment.allInstructions();
        if (name == null) {
            if (instructions.size() == 1 && instructions.get(0).type() == Instruction.Type.NOACTION) {
                return PiAction.builder()
                        .withId(names.actionId(shortName(table), "NoAction"))
                        .build();
            }
            throw new PiInterpreterException(
                    "table " + table + " takes only actions of the program (PiTableAction), not " + treatment);
        }
        Optional<OutputInstruction> output = output(treatment);
        if (output.isEmpty()) {
            return PiAction.builder().withId(names.actionId(name, "drop")).build();
        }
        PortNumber port = output.get().port();
        int number = port.isLogical()
                ? mapLogicalPortNumber(port)
                        .orElseThrow(() -> new PiInterpreterException(
                                "a route to logical port " + port + ": CONTROLLER is the only one"))
                : Math.toIntExact(port.toLong());
        MacAddress mac = nextHop(treatment)
                .or(() -> port.equals(PortNumber.CONTROLLER) ? Optional.of(MacAddress.ZERO) : Optional.empty())
                .orElseThrow(() -> new PiInterpreterException(
                        "a route needs the MAC address of the next hop (ETH_DST): " + treatment));
        return PiAction.builder()
                .withId(names.actionId(name, "forward"))
                .withParameter(new PiActionParam(PiActionParamId.of("port"), number))
                .withParameter(new PiActionParam(PiActionParamId.of("dst_mac"), mac.toLong()))
                .build();
    }

    private static Optional<OutputInstruction> output(TrafficTreatment treatment) throws PiInterpreterException {
        OutputInstruction result = null;
        for (Instruction instruction : treatment.allInstructions()) {
            switch (instruction.type()) {
                case OUTPUT:
                    if (result != null) {
                        throw new PiInterpreterException("a route has one output: " + treatment);
                    }
                    result = (OutputInstruction) instruction;
                    break;
                case NOACTION:
                    break;
                case L2MODIFICATION:
                    if (((L2ModificationInstruction) instruction).subtype() == L2SubType.ETH_DST) {
                        break;
                    }
                    throw unknown(instruction);
                default:
                    throw unknown(instruction);
            }
        }
        return Optional.ofNullable(result);
    }

    private static PiInterpreterException unknown(Instruction instruction) {
        return new PiInterpreterException("a route has OUTPUT and ETH_DST, not " + instruction);
    }

    private static Optional<MacAddress> nextHop(TrafficTreatment treatment) {
        return treatment.allInstructions().stream()
                .filter(ModEtherInstruction.class::isInstance)
                .map(instruction -> ((ModEtherInstruction) instruction).mac())
                .findFirst();
    }

    /** A packet follows its route, so the only output is TABLE. */
    @Override
    public Collection<PiPacketOperation> mapOutboundPacket(OutboundPacket packet) throws PiInterpreterException {
        List<Instruction> instructions = packet.treatment().allInstructions();
        boolean routed = instructions.size() == 1
                && instructions.get(0).type() == Instruction.Type.OUTPUT
                && ((OutputInstruction) instructions.get(0)).port().equals(PortNumber.TABLE);
        if (!routed) {
            throw new PiInterpreterException(
                    "the programs have no header with a port, so a packet-out follows its route: the "
                            + "treatment must be OUTPUT:TABLE, not " + packet.treatment());
        }
        return List.of(PiPacketOperation.builder()
                .withType(PiPacketOperationType.PACKET_OUT)
                .withData(ImmutableByteSequence.copyFrom(packet.data()))
                .build());
    }

    /** The ingress port is unknown, so it is ANY. */
    @Override
    public InboundPacket mapInboundPacket(PiPacketOperation packetIn, DeviceId deviceId) throws PiInterpreterException {
        byte[] bytes = packetIn.data().asArray();
        try {
            Ethernet parsed = Ethernet.deserializer().deserialize(bytes, 0, bytes.length);
            return new DefaultInboundPacket(new ConnectPoint(deviceId, PortNumber.ANY), parsed, ByteBuffer.wrap(bytes));
        } catch (DeserializationException e) {
            throw new PiInterpreterException(
                    "a packet-in from " + deviceId + " is not an Ethernet frame: " + e.getMessage());
        }
    }

    /** CONTROLLER is port CPU_PORT of a software switch; on a chip the platform chooses the port. */
    @Override
    public Optional<Integer> mapLogicalPortNumber(PortNumber port) {
        boolean software = pipeconf()
                .flatMap(result -> result.pipelineModel().architecture())
                .map(V1MODEL::equals)
                .orElse(false);
        return port.equals(PortNumber.CONTROLLER) && software ? Optional.of(Constants.CPU_PORT) : Optional.empty();
    }

    /** The action with which the program starts. */
    @Override
    public Optional<PiAction> getOriginalDefaultAction(PiTableId table) {
        return pipeconf().flatMap(result -> OriginalActions.of(result, table));
    }

    private Optional<PiPipeconf> pipeconf() {
        return handler().get(PiPipeconfService.class).getPipeconf(data().deviceId());
    }

    private static String shortName(PiTableId table) {
        return table.id().substring(table.id().lastIndexOf('.') + 1);
    }
}
