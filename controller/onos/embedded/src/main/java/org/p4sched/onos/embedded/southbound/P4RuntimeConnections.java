package org.p4sched.onos.embedded.southbound;

import io.grpc.ManagedChannel;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.event.AbstractListenerManager;
import org.onosproject.net.DeviceId;
import org.onosproject.net.device.DeviceAgentEvent;
import org.onosproject.net.device.DeviceAgentListener;
import org.onosproject.net.pi.runtime.PiPacketOperation;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.net.provider.ProviderId;
import org.onosproject.p4runtime.api.P4RuntimeClient;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.onosproject.p4runtime.api.P4RuntimeEvent;
import org.onosproject.p4runtime.api.P4RuntimeEventListener;
import org.onosproject.p4runtime.api.P4RuntimePacketIn;

/** ONOS's P4Runtime controller: one {@link DeviceConnection} for each switch. */
public final class P4RuntimeConnections extends AbstractListenerManager<P4RuntimeEvent, P4RuntimeEventListener>
        implements P4RuntimeController {
    private final Map<DeviceId, DeviceConnection> connections = new ConcurrentHashMap<>();
    private final Map<DeviceId, Map<ProviderId, DeviceAgentListener>> agentListeners = new ConcurrentHashMap<>();
    private PiPipeconfService pipeconfs;

    void activate() {
        eventDispatcher.addSink(P4RuntimeEvent.class, listenerRegistry);
    }

    void deactivate() {
        List.copyOf(connections.keySet()).forEach(this::remove);
        eventDispatcher.removeSink(P4RuntimeEvent.class);
    }

    @Override
    public boolean create(DeviceId device, ManagedChannel channel) {
        connections.compute(device, (id, existing) -> {
            if (existing != null) {
                throw new IllegalArgumentException("there is already a P4Runtime client for " + id);
            }
            return new DeviceConnection(id, channel, this);
        });
        return true;
    }

    @Override
    public P4RuntimeClient get(DeviceId device) {
        return connections.get(device);
    }

    @Override
    public void remove(DeviceId device) {
        DeviceConnection connection = connections.remove(device);
        if (connection != null) {
            connection.shutdown();
        }
    }

    @Override
    public void addDeviceAgentListener(DeviceId device, ProviderId provider, DeviceAgentListener listener) {
        agentListeners.computeIfAbsent(device, id -> new ConcurrentHashMap<>()).put(provider, listener);
    }

    @Override
    public void removeDeviceAgentListener(DeviceId device, ProviderId provider) {
        agentListeners.getOrDefault(device, new ConcurrentHashMap<>()).remove(provider);
    }

    void notifyAgents(DeviceId device, DeviceAgentEvent.Type type) {
        DeviceAgentEvent event = new DeviceAgentEvent(type, device);
        agentListeners.getOrDefault(device, Map.of()).values().forEach(listener -> listener.event(event));
    }

    void packetIn(DeviceId device, PiPacketOperation packet) {
        post(new P4RuntimeEvent(P4RuntimeEvent.Type.PACKET_IN, new PacketIn(device, packet)));
    }

    PiPipeconfService pipeconfs() {
        return pipeconfs;
    }

    private static final class PacketIn implements P4RuntimePacketIn {
        private final DeviceId device;
        private final PiPacketOperation packet;

        PacketIn(DeviceId device, PiPacketOperation packet) {
            this.device = device;
            this.packet = packet;
        }

        @Override
        public DeviceId deviceId() {
            return device;
        }

        @Override
        public PiPacketOperation packetOperation() {
            return packet;
        }
    }
}
