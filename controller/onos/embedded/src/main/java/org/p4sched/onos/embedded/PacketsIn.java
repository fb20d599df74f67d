package org.p4sched.onos.embedded;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.onosproject.net.Device;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.packet.DefaultOutboundPacket;
import org.onosproject.net.packet.DefaultPacketContext;
import org.onosproject.net.packet.InboundPacket;
import org.onosproject.net.packet.OutboundPacket;
import org.onosproject.net.packet.PacketProgrammable;
import org.onosproject.net.packet.PacketProvider;
import org.onosproject.net.packet.PacketProviderRegistry;
import org.onosproject.net.packet.PacketProviderService;
import org.onosproject.net.pi.model.PiPipelineInterpreter;
import org.onosproject.net.pi.model.PiPipelineInterpreter.PiInterpreterException;
import org.onosproject.net.provider.AbstractProvider;
import org.onosproject.net.provider.ProviderId;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.onosproject.p4runtime.api.P4RuntimeEvent;
import org.onosproject.p4runtime.api.P4RuntimeEventListener;
import org.onosproject.p4runtime.api.P4RuntimePacketIn;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes packets from the switches to ONOS's packet service. The pipeconf's interpreter reads their metadata. */
final class PacketsIn extends AbstractProvider implements PacketProvider {
    private static final Logger log = LoggerFactory.getLogger(PacketsIn.class);

    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread created = new Thread(task, "packets in");
        created.setDaemon(true);
        return created;
    });
    private final P4RuntimeEventListener listener = event -> thread.execute(() -> packetIn(event));
    private P4RuntimeController controller;
    private DeviceService devices;
    private PacketProviderRegistry registry;
    private PacketProviderService core;

    PacketsIn() {
        super(new ProviderId("device", "org.p4sched.onos.embedded.packets"));
    }

    void activate() {
        core = registry.register(this);
        controller.addListener(listener);
    }

    void deactivate() {
        controller.removeListener(listener);
        registry.unregister(this);
        thread.shutdownNow();
    }

    @Override
    public void emit(OutboundPacket packet) {
        Device device = devices.getDevice(packet.sendThrough());
        if (device != null && device.is(PacketProgrammable.class)) {
            device.as(PacketProgrammable.class).emit(packet);
        }
    }

    private void packetIn(P4RuntimeEvent event) {
        P4RuntimePacketIn received = (P4RuntimePacketIn) event.subject();
        Device device = devices.getDevice(received.deviceId());
        if (device == null || !device.is(PiPipelineInterpreter.class)) {
            log.warn("{}: a packet is dropped: the pipeconf has no interpreter", received.deviceId());
            return;
        }
        try {
            InboundPacket inbound =
                    device.as(PiPipelineInterpreter.class).mapInboundPacket(received.packetOperation(), device.id());
            OutboundPacket outbound = new DefaultOutboundPacket(device.id(), null, inbound.unparsed());
            core.processPacket(new Context(inbound, outbound));
        } catch (PiInterpreterException e) {
            log.warn("{}: a packet is dropped: {}", device.id(), e.getMessage());
        }
    }

    private final class Context extends DefaultPacketContext {
        Context(InboundPacket inbound, OutboundPacket outbound) {
            super(System.currentTimeMillis(), inbound, outbound, false);
        }

        @Override
        public void send() {
            if (!block()) {
                TrafficTreatment treatment = treatmentBuilder().build();
                emit(new DefaultOutboundPacket(
                        outPacket().sendThrough(), treatment, outPacket().data()));
            }
        }
    }
}
