package org.p4sched.onos.embedded;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.onlab.packet.DeserializationException;
import org.onlab.packet.Ethernet;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.ConnectPoint;
import org.onosproject.net.DeviceId;
import org.onosproject.net.PortNumber;
import org.onosproject.net.driver.AbstractHandlerBehaviour;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.flow.criteria.Criterion;
import org.onosproject.net.flow.instructions.Instructions;
import org.onosproject.net.packet.DefaultInboundPacket;
import org.onosproject.net.packet.InboundPacket;
import org.onosproject.net.packet.OutboundPacket;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiPacketMetadataId;
import org.onosproject.net.pi.model.PiPacketOperationType;
import org.onosproject.net.pi.model.PiPipelineInterpreter;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiPacketMetadata;
import org.onosproject.net.pi.runtime.PiPacketOperation;

/** Tests use PI criteria and actions, so that only packets need an interpreter: those of everything.p4. */
public final class PlainInterpreter extends AbstractHandlerBehaviour implements PiPipelineInterpreter {
    private static final int PORT_BITS = 9;

    @Override
    public Optional<PiMatchFieldId> mapCriterionType(Criterion.Type type) {
        return Optional.empty();
    }

    @Override
    public Optional<PiTableId> mapFlowRuleTableId(int id) {
        return Optional.empty();
    }

    @Override
    public PiAction mapTreatment(TrafficTreatment treatment, PiTableId table) throws PiInterpreterException {
        throw new PiInterpreterException("only PI actions");
    }

    @Override
    public Collection<PiPacketOperation> mapOutboundPacket(OutboundPacket packet) throws PiInterpreterException {
        Instructions.OutputInstruction out = (Instructions.OutputInstruction)
                packet.treatment().allInstructions().get(0);
        try {
            return List.of(PiPacketOperation.builder()
                    .withType(PiPacketOperationType.PACKET_OUT)
                    .withData(ImmutableByteSequence.copyFrom(packet.data()))
                    .withMetadata(metadata("egress_port", out.port().toLong(), PORT_BITS))
                    .withMetadata(metadata("unused", 0, Short.SIZE - PORT_BITS))
                    .build());
        } catch (ImmutableByteSequence.ByteSequenceTrimException e) {
            throw new PiInterpreterException(e.getMessage());
        }
    }

    @Override
    public InboundPacket mapInboundPacket(PiPacketOperation packet, DeviceId device) throws PiInterpreterException {
        PiPacketMetadata port = packet.metadatas().stream()
                .filter(metadata -> metadata.id().equals(PiPacketMetadataId.of("ingress_port")))
                .findFirst()
                .orElseThrow();
        ByteBuffer frame = packet.data().asReadOnlyBuffer();
        byte[] bytes = packet.data().asArray();
        try {
            return new DefaultInboundPacket(
                    new ConnectPoint(
                            device,
                            PortNumber.portNumber(port.value()
                                    .fit(Short.SIZE)
                                    .asReadOnlyBuffer()
                                    .getShort())),
                    Ethernet.deserializer().deserialize(bytes, 0, bytes.length),
                    frame);
        } catch (DeserializationException | ImmutableByteSequence.ByteSequenceTrimException e) {
            throw new PiInterpreterException(e.getMessage());
        }
    }

    private static PiPacketMetadata metadata(String name, long value, int bits)
            throws ImmutableByteSequence.ByteSequenceTrimException {
        return PiPacketMetadata.builder()
                .withId(PiPacketMetadataId.of(name))
                .withValue(ImmutableByteSequence.copyFrom(value).fit(bits))
                .build();
    }
}
