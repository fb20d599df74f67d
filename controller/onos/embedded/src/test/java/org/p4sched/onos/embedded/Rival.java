package org.p4sched.onos.embedded;

import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import p4.v1.P4RuntimeGrpc;
import p4.v1.P4RuntimeOuterClass.Entity;
import p4.v1.P4RuntimeOuterClass.MasterArbitrationUpdate;
import p4.v1.P4RuntimeOuterClass.ReadRequest;
import p4.v1.P4RuntimeOuterClass.ReadResponse;
import p4.v1.P4RuntimeOuterClass.StreamMessageRequest;
import p4.v1.P4RuntimeOuterClass.StreamMessageResponse;
import p4.v1.P4RuntimeOuterClass.Uint128;
import p4.v1.P4RuntimeOuterClass.Update;
import p4.v1.P4RuntimeOuterClass.WriteRequest;

/** Another controller of the same switch, on bare P4Runtime. */
final class Rival implements AutoCloseable {
    private static final int PATIENCE_S = 20;

    private final Uint128 electionId;
    private final ManagedChannel channel;
    private final BlockingQueue<MasterArbitrationUpdate> answers = new ArrayBlockingQueue<>(100);
    private StreamObserver<StreamMessageRequest> stream;

    Rival(int port, long electionId) {
        this.electionId = Uint128.newBuilder().setLow(electionId).build();
        this.channel = ManagedChannelBuilder.forAddress("127.0.0.1", port)
                .usePlaintext()
                .build();
    }

    /** Asks to be primary; returns the switch's answer. */
    MasterArbitrationUpdate ask() throws InterruptedException {
        stream = P4RuntimeGrpc.newStub(channel).withWaitForReady().streamChannel(new StreamObserver<>() {
            @Override
            public void onNext(StreamMessageResponse message) {
                if (message.hasArbitration()) {
                    answers.add(message.getArbitration());
                }
            }

            @Override
            public void onError(Throwable error) {}

            @Override
            public void onCompleted() {}
        });
        stream.onNext(StreamMessageRequest.newBuilder()
                .setArbitration(
                        MasterArbitrationUpdate.newBuilder().setDeviceId(1).setElectionId(electionId))
                .build());
        return answers.poll(PATIENCE_S, TimeUnit.SECONDS);
    }

    void write(Update.Type type, Entity entity) {
        P4RuntimeGrpc.newBlockingStub(channel)
                .write(WriteRequest.newBuilder()
                        .setDeviceId(1)
                        .setElectionId(electionId)
                        .addUpdates(Update.newBuilder().setType(type).setEntity(entity))
                        .build());
    }

    List<Entity> read(Entity wildcard) {
        Iterator<ReadResponse> responses = P4RuntimeGrpc.newBlockingStub(channel)
                .read(ReadRequest.newBuilder()
                        .setDeviceId(1)
                        .addEntities(wildcard)
                        .build());
        List<Entity> all = new ArrayList<>();
        responses.forEachRemaining(response -> all.addAll(response.getEntitiesList()));
        return all;
    }

    @Override
    public void close() {
        if (stream != null) {
            stream.onCompleted();
        }
        channel.shutdownNow();
    }
}
