package org.p4sched.onos.embedded.southbound;

import com.google.protobuf.ByteString;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.onosproject.net.DeviceId;
import org.onosproject.net.device.DeviceAgentEvent;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.runtime.PiPacketOperation;
import org.onosproject.p4runtime.api.P4RuntimeClient;
import org.onosproject.p4runtime.ctl.utils.PipeconfHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import p4.config.v1.P4InfoOuterClass.P4Info;
import p4.v1.P4RuntimeGrpc;
import p4.v1.P4RuntimeGrpc.P4RuntimeStub;
import p4.v1.P4RuntimeOuterClass.ForwardingPipelineConfig;
import p4.v1.P4RuntimeOuterClass.GetForwardingPipelineConfigRequest;
import p4.v1.P4RuntimeOuterClass.GetForwardingPipelineConfigResponse;
import p4.v1.P4RuntimeOuterClass.SetForwardingPipelineConfigRequest;
import p4.v1.P4RuntimeOuterClass.SetForwardingPipelineConfigResponse;

/** P4Runtime client of one switch: ONOS's interface on grpc-java. */
final class DeviceConnection implements P4RuntimeClient {
    private static final Logger log = LoggerFactory.getLogger(DeviceConnection.class);
    private static final int CALL_SECONDS = 10;
    /** Longer than other calls: the switch compiles the program. */
    private static final int SET_PIPELINE_SECONDS = 60;

    private final DeviceId device;
    private final ManagedChannel channel;
    private final P4RuntimeConnections connections;
    private final ArbitrationStream stream;
    private volatile boolean channelReady;

    DeviceConnection(DeviceId device, ManagedChannel channel, P4RuntimeConnections connections) {
        this.device = device;
        this.channel = channel;
        this.connections = connections;
        this.stream = new ArbitrationStream(device, () -> P4RuntimeGrpc.newStub(channel), connections);
        followChannel();
    }

    DeviceId device() {
        return device;
    }

    P4RuntimeStub stub() {
        return stub(CALL_SECONDS);
    }

    /** This controller's election id, for writes; the switch accepts writes only from the primary controller. */
    p4.v1.P4RuntimeOuterClass.Uint128 electionId() {
        return stream.electionId();
    }

    /** Logs a failed call in one line. */
    void failed(String call, Throwable error) {
        Status status = Status.fromThrowable(error);
        if (status.getCode() == Status.Code.UNIMPLEMENTED) {
            log.warn("{}: the switch does not implement this {}: {}", device, call, status.getDescription());
        } else {
            log.warn("{}: {} failed: {} {}", device, call, status.getCode(), status.getDescription());
        }
        if (status.getCode() == Status.Code.PERMISSION_DENIED) {
            connections.notifyAgents(device, DeviceAgentEvent.Type.NOT_MASTER);
        }
    }

    @Override
    public ReadRequest read(long p4DeviceId, PiPipeconf pipeconf) {
        return new ReadCall(this, p4DeviceId, pipeconf);
    }

    @Override
    public WriteRequest write(long p4DeviceId, PiPipeconf pipeconf) {
        return new WriteCall(this, p4DeviceId, pipeconf);
    }

    @Override
    public CompletableFuture<Boolean> setPipelineConfig(long p4DeviceId, PiPipeconf pipeconf, ByteBuffer program) {
        P4Info p4info = PipeconfHelper.getP4Info(pipeconf);
        if (p4info == null) {
            log.error("{}: pipeconf {} has no readable P4Info", device, pipeconf.id());
            return CompletableFuture.completedFuture(false);
        }
        log.info("{}: setting pipeline {}", device, pipeconf.id());
        SetForwardingPipelineConfigRequest request = SetForwardingPipelineConfigRequest.newBuilder()
                .setDeviceId(p4DeviceId)
                .setElectionId(electionId())
                .setAction(SetForwardingPipelineConfigRequest.Action.VERIFY_AND_COMMIT)
                .setConfig(ForwardingPipelineConfig.newBuilder()
                        .setP4Info(p4info)
                        .setP4DeviceConfig(ByteString.copyFrom(program))
                        .setCookie(ForwardingPipelineConfig.Cookie.newBuilder().setCookie(pipeconf.fingerprint())))
                .build();
        return this.<SetForwardingPipelineConfigRequest, SetForwardingPipelineConfigResponse>call(
                        request, stub(SET_PIPELINE_SECONDS)::setForwardingPipelineConfig)
                .thenApply(response -> true)
                .exceptionally(error -> {
                    failed("SetForwardingPipelineConfig of " + pipeconf.id(), error);
                    return false;
                });
    }

    @Override
    public CompletableFuture<Boolean> isPipelineConfigSet(long p4DeviceId, PiPipeconf pipeconf) {
        return pipelineCookie(p4DeviceId)
                .thenApply(cookie -> cookie != null && cookie == pipeconf.fingerprint())
                .exceptionally(error -> false);
    }

    @Override
    public CompletableFuture<Boolean> isAnyPipelineConfigSet(long p4DeviceId) {
        return pipelineCookie(p4DeviceId).thenApply(Objects::nonNull).exceptionally(error -> false);
    }

    @Override
    public void setMastership(long p4DeviceId, boolean master, BigInteger electionId) {
        stream.ask(p4DeviceId, master, electionId);
    }

    @Override
    public boolean isSessionOpen(long p4DeviceId) {
        return stream.isOpen();
    }

    @Override
    public void closeSession(long p4DeviceId) {
        stream.close();
    }

    @Override
    public boolean isMaster(long p4DeviceId) {
        return stream.isPrimary();
    }

    @Override
    public void packetOut(long p4DeviceId, PiPacketOperation packet, PiPipeconf pipeconf) {
        stream.packetOut(packet, pipeconf);
    }

    @Override
    public boolean isServerReachable() {
        return channelReady;
    }

    @Override
    public CompletableFuture<Boolean> probeService() {
        channel.getState(true);
        // without a pipeline the answer is an error, but it also comes from a P4Runtime server
        return pipelineCookie(1)
                .handle((cookie, error) ->
                        error == null || Status.fromThrowable(error).getCode() != Status.Code.UNAVAILABLE);
    }

    @Override
    public void shutdown() {
        stream.close();
    }

    /** The cookie of the pipeline; null for a pipeline without a cookie. Fails if there is no pipeline. */
    private CompletableFuture<Long> pipelineCookie(long p4DeviceId) {
        GetForwardingPipelineConfigRequest request = GetForwardingPipelineConfigRequest.newBuilder()
                .setDeviceId(p4DeviceId)
                .setResponseType(GetForwardingPipelineConfigRequest.ResponseType.COOKIE_ONLY)
                .build();
        return this.<GetForwardingPipelineConfigRequest, GetForwardingPipelineConfigResponse>call(
                        request, stub()::getForwardingPipelineConfig)
                .thenApply(
                        response -> response.hasConfig() && response.getConfig().hasCookie()
                                ? response.getConfig().getCookie().getCookie()
                                : null);
    }

    private P4RuntimeStub stub(int seconds) {
        return P4RuntimeGrpc.newStub(channel).withDeadlineAfter(seconds, TimeUnit.SECONDS);
    }

    private <Q, A> CompletableFuture<A> call(Q request, BiConsumer<Q, StreamObserver<A>> method) {
        CompletableFuture<A> answer = new CompletableFuture<>();
        method.accept(request, new StreamObserver<>() {
            @Override
            public void onNext(A value) {
                answer.complete(value);
            }

            @Override
            public void onError(Throwable error) {
                answer.completeExceptionally(error);
            }

            @Override
            public void onCompleted() {}
        });
        return answer;
    }

    private void followChannel() {
        ConnectivityState state = channel.getState(true);
        boolean ready = state == ConnectivityState.READY;
        if (ready != channelReady) {
            channelReady = ready;
            connections.notifyAgents(
                    device, ready ? DeviceAgentEvent.Type.CHANNEL_OPEN : DeviceAgentEvent.Type.CHANNEL_CLOSED);
        }
        if (state != ConnectivityState.SHUTDOWN) {
            channel.notifyWhenStateChanged(state, this::followChannel);
        }
    }
}
