package org.p4sched.onos.embedded.southbound;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.DeviceId;
import org.onosproject.net.device.DeviceAgentEvent;
import org.onosproject.net.pi.model.PiActionId;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.provider.ProviderId;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadResponse;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateResponse;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateStatus;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.WriteResponse;
import org.p4sched.onos.pipeconf.Pipeconfs;
import p4.v1.P4RuntimeGrpc;
import p4.v1.P4RuntimeOuterClass;
import p4.v1.P4RuntimeOuterClass.ReadRequest;
import p4.v1.P4RuntimeOuterClass.StreamMessageRequest;
import p4.v1.P4RuntimeOuterClass.StreamMessageResponse;
import p4.v1.P4RuntimeOuterClass.WriteRequest;

/** Answers that other switches may give. */
class DeviceConnectionTest {
    private static final DeviceId DEVICE = DeviceId.deviceId("device:s1");
    private static final PiTableId PARAMETERS = PiTableId.of("FdpaIngress.fdpa_params");
    private static final PiTableId USERS = PiTableId.of("FdpaIngress.users.users_by_prefix");

    private final List<Status> errors = new ArrayList<>();
    private final List<Long> electionIds = new ArrayList<>();
    private final PiPipeconf fdpa = Pipeconfs.inApp().stream()
            .filter(pipeconf -> pipeconf.id().id().equals(Pipeconfs.PREFIX + "fdpa"))
            .findFirst()
            .orElseThrow();
    private Server server;
    private ManagedChannel channel;
    private P4RuntimeConnections connections;
    private DeviceConnection connection;

    @BeforeEach
    void connect() throws IOException {
        server = InProcessServerBuilder.forName("switch")
                .directExecutor()
                .addService(new Refusing())
                .build()
                .start();
        channel = InProcessChannelBuilder.forName("switch").directExecutor().build();
        connections = new P4RuntimeConnections();
        connection = new DeviceConnection(DEVICE, channel, connections);
    }

    @AfterEach
    void disconnect() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    @Test
    void aReadThatIsNotImplementedFailsWithItsReasonAndTheNextOneWorks() {
        ReadResponse refused = connection.read(1, fdpa).tableEntries(PARAMETERS).submitSync();
        assertFalse(refused.isSuccess());
        assertTrue(refused.explanation().contains("UNIMPLEMENTED: no registers"), refused.explanation());
        assertTrue(refused.all().isEmpty());
        assertTrue(connection.read(1, fdpa).tableEntries(USERS).submitSync().isSuccess());
    }

    @Test
    void onosLearnsItsRoleEachTimeItAsksAlsoIfTheSwitchAnswersOnce() {
        List<DeviceAgentEvent.Type> events = new ArrayList<>();
        connections.addDeviceAgentListener(DEVICE, new ProviderId("test", "test"), event -> events.add(event.type()));
        for (long electionId : List.of(20L, 20L, 21L)) {
            connection.setMastership(1, true, BigInteger.valueOf(electionId));
        }
        assertEquals(
                List.of(
                        DeviceAgentEvent.Type.ROLE_MASTER,
                        DeviceAgentEvent.Type.ROLE_MASTER,
                        DeviceAgentEvent.Type.ROLE_MASTER),
                events);
        assertEquals(List.of(20L, 21L), electionIds);
    }

    @Test
    void eachUpdateOfAWriteHasItsOwnStatus() {
        errors.addAll(List.of(Status.OK, Status.ALREADY_EXISTS, Status.NOT_FOUND, Status.RESOURCE_EXHAUSTED));
        WriteResponse response = connection
                .write(1, fdpa)
                .modify(List.of(parameters(), parameters(), parameters(), parameters()))
                .submitSync();
        assertFalse(response.isSuccess());
        assertEquals(
                List.of(
                        EntityUpdateStatus.OK,
                        EntityUpdateStatus.ALREADY_EXIST,
                        EntityUpdateStatus.NOT_FOUND,
                        EntityUpdateStatus.OTHER_ERROR),
                response.all().stream().map(EntityUpdateResponse::status).collect(Collectors.toList()));
    }

    @Test
    void whatThePipeconfDoesNotHaveIsNotSent() {
        PiTableEntry unknown = PiTableEntry.builder()
                .forTable(PiTableId.of("FdpaIngress.gone"))
                .withAction(setBands())
                .build();
        WriteResponse response = connection.write(1, fdpa).modify(unknown).submitSync();
        assertEquals(1, response.status(EntityUpdateStatus.CODEC_ERROR).size());
        assertTrue(connection
                .read(1, fdpa)
                .tableEntries(PiTableId.of("FdpaIngress.gone"))
                .submitSync()
                .isSuccess());
    }

    private static PiTableEntry parameters() {
        return PiTableEntry.builder()
                .forTable(PARAMETERS)
                .withAction(setBands())
                .build();
    }

    private static PiAction setBands() {
        return PiAction.builder()
                .withId(PiActionId.of("FdpaIngress.set_bands"))
                .withParameter(new PiActionParam(PiActionParamId.of("interval_us"), ImmutableByteSequence.copyFrom(1)))
                .build();
    }

    /**
     * Answers Reads of parameters with UNIMPLEMENTED, Writes with the errors given, and each election id once, as BMv2
     * does.
     */
    private final class Refusing extends P4RuntimeGrpc.P4RuntimeImplBase {
        @Override
        public StreamObserver<StreamMessageRequest> streamChannel(StreamObserver<StreamMessageResponse> answers) {
            return new StreamObserver<>() {
                @Override
                public void onNext(StreamMessageRequest message) {
                    long id = message.getArbitration().getElectionId().getLow();
                    if (!electionIds.contains(id)) {
                        electionIds.add(id);
                        answers.onNext(StreamMessageResponse.newBuilder()
                                .setArbitration(message.getArbitration())
                                .build());
                    }
                }

                @Override
                public void onError(Throwable error) {}

                @Override
                public void onCompleted() {
                    answers.onCompleted();
                }
            };
        }

        @Override
        public void read(ReadRequest request, StreamObserver<P4RuntimeOuterClass.ReadResponse> answer) {
            int table = request.getEntities(0).getTableEntry().getTableId();
            boolean users = request.getEntities(0).getTableEntry().hasCounterData();
            if (table != 0 && !users) {
                answer.onError(
                        Status.UNIMPLEMENTED.withDescription("no registers").asRuntimeException());
            } else {
                answer.onCompleted();
            }
        }

        @Override
        public void write(WriteRequest request, StreamObserver<P4RuntimeOuterClass.WriteResponse> answer) {
            com.google.rpc.Status.Builder status =
                    com.google.rpc.Status.newBuilder().setCode(Status.Code.UNKNOWN.value());
            for (Status error : errors) {
                status.addDetails(Any.pack(P4RuntimeOuterClass.Error.newBuilder()
                        .setCanonicalCode(error.getCode().value())
                        .build()));
            }
            answer.onError(StatusProto.toStatusRuntimeException(status.build()));
        }
    }
}
