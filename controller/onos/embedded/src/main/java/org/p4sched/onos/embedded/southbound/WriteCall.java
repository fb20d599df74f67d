package org.p4sched.onos.embedded.southbound;

import static org.onosproject.p4runtime.ctl.codec.Codecs.CODECS;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.runtime.PiEntity;
import org.onosproject.net.pi.runtime.PiHandle;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.Atomicity;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateRequest;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateResponse;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.EntityUpdateStatus;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.UpdateType;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.WriteRequest;
import org.onosproject.p4runtime.api.P4RuntimeWriteClient.WriteResponse;
import org.onosproject.p4runtime.ctl.codec.CodecException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import p4.v1.P4RuntimeOuterClass;
import p4.v1.P4RuntimeOuterClass.Entity;
import p4.v1.P4RuntimeOuterClass.Update;

/** One P4Runtime Write: its updates and their status. */
final class WriteCall implements WriteRequest {
    private static final Logger log = LoggerFactory.getLogger(WriteCall.class);

    private final DeviceConnection connection;
    private final PiPipeconf pipeconf;
    private final P4RuntimeOuterClass.WriteRequest.Builder request;
    /** All updates, in order. Those that cannot be encoded have failed, and are not sent. */
    private final List<EntityUpdate> updates = new ArrayList<>();

    WriteCall(DeviceConnection connection, long p4DeviceId, PiPipeconf pipeconf) {
        this.connection = connection;
        this.pipeconf = pipeconf;
        this.request = P4RuntimeOuterClass.WriteRequest.newBuilder().setDeviceId(p4DeviceId);
    }

    @Override
    public WriteRequest withAtomicity(Atomicity atomicity) {
        request.setAtomicity(P4RuntimeOuterClass.WriteRequest.Atomicity.valueOf(atomicity.name()));
        return this;
    }

    @Override
    public WriteRequest insert(PiEntity entity) {
        return entity(entity, UpdateType.INSERT);
    }

    @Override
    public WriteRequest insert(Iterable<? extends PiEntity> entities) {
        return entities(entities, UpdateType.INSERT);
    }

    @Override
    public WriteRequest modify(PiEntity entity) {
        return entity(entity, UpdateType.MODIFY);
    }

    @Override
    public WriteRequest modify(Iterable<? extends PiEntity> entities) {
        return entities(entities, UpdateType.MODIFY);
    }

    @Override
    public WriteRequest delete(PiHandle handle) {
        return add(new EntityUpdate(handle, null, UpdateType.DELETE));
    }

    @Override
    public WriteRequest delete(Iterable<? extends PiHandle> handles) {
        handles.forEach(this::delete);
        return this;
    }

    @Override
    public WriteRequest entity(PiEntity entity, UpdateType type) {
        PiHandle handle = entity.handle(connection.device());
        return type == UpdateType.DELETE ? delete(handle) : add(new EntityUpdate(handle, entity, type));
    }

    @Override
    public WriteRequest entities(Iterable<? extends PiEntity> entities, UpdateType type) {
        entities.forEach(entity -> entity(entity, type));
        return this;
    }

    @Override
    public Collection<EntityUpdateRequest> pendingUpdates() {
        return sent().stream().map(EntityUpdateRequest.class::cast).collect(Collectors.toUnmodifiableList());
    }

    @Override
    public CompletableFuture<WriteResponse> submit() {
        CompletableFuture<WriteResponse> future = new CompletableFuture<>();
        List<EntityUpdate> sent = sent();
        if (sent.isEmpty()) {
            future.complete(new Result(updates));
            return future;
        }
        P4RuntimeOuterClass.WriteRequest message =
                request.setElectionId(connection.electionId()).build();
        connection.stub().write(message, new StreamObserver<>() {
            @Override
            public void onNext(P4RuntimeOuterClass.WriteResponse response) {
                sent.forEach(update -> update.answered(EntityUpdateStatus.OK, null, null));
                future.complete(new Result(updates));
            }

            @Override
            public void onError(Throwable error) {
                refused(sent, error);
                future.complete(new Result(updates));
            }

            @Override
            public void onCompleted() {}
        });
        return future;
    }

    @Override
    public WriteResponse submitSync() {
        return submit().join();
    }

    private List<EntityUpdate> sent() {
        return updates.stream()
                .filter(update -> update.status() != EntityUpdateStatus.CODEC_ERROR)
                .collect(Collectors.toList());
    }

    private WriteRequest add(EntityUpdate update) {
        try {
            Entity entity = update.entity() == null
                    ? CODECS.handle().encode(update.handle(), null, pipeconf)
                    : CODECS.entity().encode(update.entity(), null, pipeconf);
            request.addUpdates(Update.newBuilder()
                    .setType(Update.Type.valueOf(update.updateType().name()))
                    .setEntity(entity));
        } catch (CodecException e) {
            log.warn(
                    "{}: {} of {} is not sent: {}",
                    connection.device(),
                    update.updateType(),
                    update.handle(),
                    e.getMessage());
            update.answered(EntityUpdateStatus.CODEC_ERROR, e.getMessage(), e);
        }
        updates.add(update);
        return this;
    }

    /** Sets the status of each update from the details of the error (P4Runtime 1.4, section 10), if there are any. */
    private void refused(List<EntityUpdate> sent, Throwable error) {
        com.google.rpc.Status status = StatusProto.fromThrowable(error);
        List<Any> details = status == null ? List.of() : status.getDetailsList();
        if (Status.fromThrowable(error).getCode() != Status.Code.UNKNOWN || details.size() != sent.size()) {
            connection.failed("Write", error);
            sent.forEach(update -> update.answered(EntityUpdateStatus.OTHER_ERROR, error.getMessage(), error));
            return;
        }
        for (int i = 0; i < sent.size(); i++) {
            EntityUpdate update = sent.get(i);
            try {
                P4RuntimeOuterClass.Error detail = details.get(i).unpack(P4RuntimeOuterClass.Error.class);
                Status.Code code =
                        Status.fromCodeValue(detail.getCanonicalCode()).getCode();
                String explanation = code + " " + detail.getMessage();
                update.answered(of(code), explanation, error);
                if (code != Status.Code.OK) {
                    log.warn(
                            "{}: {} of {} is refused: {}",
                            connection.device(),
                            update.updateType(),
                            update.handle(),
                            explanation);
                }
            } catch (InvalidProtocolBufferException e) {
                update.answered(EntityUpdateStatus.OTHER_ERROR, e.getMessage(), e);
            }
        }
    }

    private static EntityUpdateStatus of(Status.Code code) {
        switch (code) {
            case OK:
                return EntityUpdateStatus.OK;
            case NOT_FOUND:
                return EntityUpdateStatus.NOT_FOUND;
            case ALREADY_EXISTS:
                return EntityUpdateStatus.ALREADY_EXIST;
            default:
                return EntityUpdateStatus.OTHER_ERROR;
        }
    }

    private static final class Result implements WriteResponse {
        private final List<EntityUpdateResponse> updates;

        Result(List<EntityUpdate> updates) {
            this.updates = List.copyOf(updates);
        }

        @Override
        public boolean isSuccess() {
            return failed().isEmpty();
        }

        @Override
        public Collection<EntityUpdateResponse> all() {
            return updates;
        }

        @Override
        public Collection<EntityUpdateResponse> success() {
            return updates.stream().filter(EntityUpdateResponse::isSuccess).collect(Collectors.toList());
        }

        @Override
        public Collection<EntityUpdateResponse> failed() {
            return updates.stream().filter(update -> !update.isSuccess()).collect(Collectors.toList());
        }

        @Override
        public Collection<EntityUpdateResponse> status(EntityUpdateStatus status) {
            return updates.stream().filter(update -> update.status() == status).collect(Collectors.toList());
        }
    }
}
