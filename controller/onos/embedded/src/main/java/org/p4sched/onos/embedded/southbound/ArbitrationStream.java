package org.p4sched.onos.embedded.southbound;

import static org.onosproject.p4runtime.ctl.codec.Codecs.CODECS;

import com.google.rpc.Code;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.math.BigInteger;
import java.util.function.Supplier;
import org.onosproject.net.DeviceId;
import org.onosproject.net.device.DeviceAgentEvent;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.runtime.PiPacketOperation;
import org.onosproject.p4runtime.ctl.codec.CodecException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import p4.v1.P4RuntimeGrpc.P4RuntimeStub;
import p4.v1.P4RuntimeOuterClass.MasterArbitrationUpdate;
import p4.v1.P4RuntimeOuterClass.StreamMessageRequest;
import p4.v1.P4RuntimeOuterClass.StreamMessageResponse;
import p4.v1.P4RuntimeOuterClass.Uint128;

/**
 * The stream with a switch: election of the primary controller (P4Runtime 1.4, section 5), and packets to and from the
 * switch.
 *
 * <p>If another controller with a higher election id is primary, this one is a backup. When that controller has gone,
 * the switch has no primary (NOT_FOUND). Then this one asks with an id above all that the switch has seen.
 */
final class ArbitrationStream {
    private static final Logger log = LoggerFactory.getLogger(ArbitrationStream.class);

    private final DeviceId device;
    private final Supplier<P4RuntimeStub> stubs;
    private final P4RuntimeConnections connections;

    // guarded by this
    private long p4DeviceId;
    private boolean wanted;
    private BigInteger requestedId = BigInteger.ZERO;
    private boolean primary;
    /** The switch's last answer to {@link #requestedId} on this stream; null before the first answer. */
    private DeviceAgentEvent.Type role;

    private Answers answers;
    private StreamObserver<StreamMessageRequest> requests;

    ArbitrationStream(DeviceId device, Supplier<P4RuntimeStub> stubs, P4RuntimeConnections connections) {
        this.device = device;
        this.stubs = stubs;
        this.connections = connections;
    }

    /**
     * Asks to be primary ({@code master}) or a backup, on a new stream if there is none. ONOS asks repeatedly, and
     * gives up a switch that does not answer. BMv2 does not answer an id that it already knows from this stream; then
     * its last answer holds.
     */
    void ask(long p4Device, boolean master, BigInteger electionId) {
        DeviceAgentEvent.Type known;
        synchronized (this) {
            p4DeviceId = p4Device;
            wanted = master;
            if (electionId.compareTo(requestedId) > 0) {
                requestedId = electionId;
                role = null;
            }
            if (requests == null) {
                answers = new Answers();
                requests = stubs.get().streamChannel(answers);
                role = null;
            }
            known = role;
            if (known == null) {
                sendArbitration();
            }
        }
        if (known != null) {
            connections.notifyAgents(device, known);
        }
    }

    synchronized boolean isOpen() {
        return requests != null;
    }

    synchronized boolean isPrimary() {
        return primary;
    }

    synchronized Uint128 electionId() {
        return message(requestedId);
    }

    synchronized void close() {
        if (requests != null) {
            StreamObserver<StreamMessageRequest> old = requests;
            requests = null;
            answers = null;
            primary = false;
            old.onCompleted();
        }
    }

    synchronized void packetOut(PiPacketOperation packet, PiPipeconf pipeconf) {
        if (requests == null) {
            log.warn("{}: a packet is not sent: there is no stream", device);
            return;
        }
        try {
            requests.onNext(StreamMessageRequest.newBuilder()
                    .setPacket(CODECS.packetOut().encode(packet, null, pipeconf))
                    .build());
        } catch (CodecException e) {
            log.warn("{}: a packet is not sent: {}", device, e.getMessage());
        }
    }

    private void sendArbitration() {
        requests.onNext(StreamMessageRequest.newBuilder()
                .setArbitration(MasterArbitrationUpdate.newBuilder()
                        .setDeviceId(p4DeviceId)
                        .setElectionId(message(requestedId)))
                .build());
    }

    private DeviceAgentEvent.Type arbitration(MasterArbitrationUpdate update) {
        BigInteger highest = number(update.getElectionId());
        synchronized (this) {
            boolean was = primary;
            primary = update.getStatus().getCode() == Code.OK_VALUE;
            if (primary) {
                if (!was) {
                    log.info("{}: ONOS is the primary controller, election id {}", device, highest);
                }
                role = DeviceAgentEvent.Type.ROLE_MASTER;
                return role;
            }
            if (update.getStatus().getCode() == Code.NOT_FOUND_VALUE && wanted && requests != null) {
                requestedId = requestedId.max(highest.add(BigInteger.ONE));
                role = null;
                log.info("{}: the switch has no primary controller; ONOS sends election id {}", device, requestedId);
                sendArbitration();
                return null;
            }
            log.warn(
                    "{}: another controller is primary with election id {} (ONOS: {}); ONOS is a backup",
                    device,
                    highest,
                    requestedId);
            role = DeviceAgentEvent.Type.ROLE_STANDBY;
            return role;
        }
    }

    private void packetIn(p4.v1.P4RuntimeOuterClass.PacketIn packet) {
        PiPipeconf pipeconf = connections.pipeconfs().getPipeconf(device).orElse(null);
        if (pipeconf == null) {
            return;
        }
        try {
            connections.packetIn(device, CODECS.packetIn().decode(packet, null, pipeconf));
        } catch (CodecException e) {
            log.warn("{}: a packet cannot be read: {}", device, e.getMessage());
        }
    }

    private static Uint128 message(BigInteger number) {
        return Uint128.newBuilder()
                .setHigh(number.shiftRight(Long.SIZE).longValue())
                .setLow(number.longValue())
                .build();
    }

    private static BigInteger number(Uint128 message) {
        return new BigInteger(Long.toUnsignedString(message.getHigh()))
                .shiftLeft(Long.SIZE)
                .add(new BigInteger(Long.toUnsignedString(message.getLow())));
    }

    /** Receives the answers on one stream. Answers on a replaced stream are ignored. */
    private final class Answers implements StreamObserver<StreamMessageResponse> {
        @Override
        public void onNext(StreamMessageResponse message) {
            switch (message.getUpdateCase()) {
                case ARBITRATION:
                    DeviceAgentEvent.Type role = arbitration(message.getArbitration());
                    if (role != null) {
                        connections.notifyAgents(device, role);
                    }
                    break;
                case PACKET:
                    packetIn(message.getPacket());
                    break;
                case ERROR:
                    log.warn("{}: {}", device, message.getError().getMessage());
                    break;
                default:
                    log.debug("{}: message {} is not used", device, message.getUpdateCase());
            }
        }

        @Override
        public void onError(Throwable error) {
            Status status = Status.fromThrowable(error);
            ended(status.getCode() + " " + status.getDescription());
        }

        @Override
        public void onCompleted() {
            ended("closed by the switch");
        }

        private void ended(String reason) {
            synchronized (ArbitrationStream.this) {
                if (answers != this) {
                    return;
                }
                answers = null;
                requests = null;
                primary = false;
            }
            log.warn("{}: the stream has ended: {}", device, reason);
            connections.notifyAgents(device, DeviceAgentEvent.Type.ROLE_NONE);
        }
    }
}
