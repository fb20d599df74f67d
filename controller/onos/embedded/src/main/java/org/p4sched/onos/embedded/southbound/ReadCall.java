package org.p4sched.onos.embedded.southbound;

import static org.onosproject.p4runtime.ctl.codec.Codecs.CODECS;

import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.onosproject.net.pi.model.PiActionProfileId;
import org.onosproject.net.pi.model.PiCounterId;
import org.onosproject.net.pi.model.PiMeterId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiEntity;
import org.onosproject.net.pi.runtime.PiHandle;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadRequest;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadResponse;
import org.onosproject.p4runtime.ctl.codec.CodecException;
import org.onosproject.p4runtime.ctl.utils.P4InfoBrowser;
import org.onosproject.p4runtime.ctl.utils.PipeconfHelper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import p4.v1.P4RuntimeOuterClass;
import p4.v1.P4RuntimeOuterClass.ActionProfileGroup;
import p4.v1.P4RuntimeOuterClass.ActionProfileMember;
import p4.v1.P4RuntimeOuterClass.CounterData;
import p4.v1.P4RuntimeOuterClass.CounterEntry;
import p4.v1.P4RuntimeOuterClass.DirectCounterEntry;
import p4.v1.P4RuntimeOuterClass.DirectMeterEntry;
import p4.v1.P4RuntimeOuterClass.Entity;
import p4.v1.P4RuntimeOuterClass.MeterEntry;
import p4.v1.P4RuntimeOuterClass.TableEntry;

/** One P4Runtime Read. Entities that the program does not have are logged and left out. */
final class ReadCall implements ReadRequest {
    private static final Logger log = LoggerFactory.getLogger(ReadCall.class);

    private final DeviceConnection connection;
    private final PiPipeconf pipeconf;
    private final P4InfoBrowser names;
    private final P4RuntimeOuterClass.ReadRequest.Builder request;

    ReadCall(DeviceConnection connection, long p4DeviceId, PiPipeconf pipeconf) {
        this.connection = connection;
        this.pipeconf = pipeconf;
        this.names = PipeconfHelper.getP4InfoBrowser(pipeconf);
        this.request = P4RuntimeOuterClass.ReadRequest.newBuilder().setDeviceId(p4DeviceId);
    }

    @Override
    public ReadRequest handle(PiHandle handle) {
        try {
            request.addEntities(CODECS.handle().encode(handle, null, pipeconf));
        } catch (CodecException e) {
            log.warn("{}: {} cannot be read: {}", connection.device(), handle, e.getMessage());
        }
        return this;
    }

    @Override
    public ReadRequest handles(Iterable<? extends PiHandle> handles) {
        handles.forEach(this::handle);
        return this;
    }

    @Override
    public ReadRequest tableEntries(PiTableId table) {
        return add(() -> Entity.newBuilder().setTableEntry(tableEntry(table, true)));
    }

    @Override
    public ReadRequest tableEntries(Iterable<PiTableId> tables) {
        tables.forEach(this::tableEntries);
        return this;
    }

    @Override
    public ReadRequest defaultTableEntry(PiTableId table) {
        // BMv2 has no direct counter of a default action
        return add(
                () -> Entity.newBuilder().setTableEntry(tableEntry(table, false).setIsDefaultAction(true)));
    }

    @Override
    public ReadRequest defaultTableEntry(Iterable<PiTableId> tables) {
        tables.forEach(this::defaultTableEntry);
        return this;
    }

    @Override
    public ReadRequest actionProfileGroups(PiActionProfileId profile) {
        return add(() -> Entity.newBuilder()
                .setActionProfileGroup(ActionProfileGroup.newBuilder().setActionProfileId(id(profile))));
    }

    @Override
    public ReadRequest actionProfileGroups(Iterable<PiActionProfileId> profiles) {
        profiles.forEach(this::actionProfileGroups);
        return this;
    }

    @Override
    public ReadRequest actionProfileMembers(PiActionProfileId profile) {
        return add(() -> Entity.newBuilder()
                .setActionProfileMember(ActionProfileMember.newBuilder().setActionProfileId(id(profile))));
    }

    @Override
    public ReadRequest actionProfileMembers(Iterable<PiActionProfileId> profiles) {
        profiles.forEach(this::actionProfileMembers);
        return this;
    }

    @Override
    public ReadRequest counterCells(PiCounterId counter) {
        return add(() -> Entity.newBuilder()
                .setCounterEntry(CounterEntry.newBuilder()
                        .setCounterId(names.counters()
                                .getByName(counter.id())
                                .getPreamble()
                                .getId())));
    }

    @Override
    public ReadRequest counterCells(Iterable<PiCounterId> counters) {
        counters.forEach(this::counterCells);
        return this;
    }

    @Override
    public ReadRequest directCounterCells(PiTableId table) {
        return add(() -> Entity.newBuilder()
                .setDirectCounterEntry(DirectCounterEntry.newBuilder().setTableEntry(tableEntry(table, false))));
    }

    @Override
    public ReadRequest directCounterCells(Iterable<PiTableId> tables) {
        tables.forEach(this::directCounterCells);
        return this;
    }

    @Override
    public ReadRequest meterCells(PiMeterId meter) {
        return add(() -> Entity.newBuilder()
                .setMeterEntry(MeterEntry.newBuilder()
                        .setMeterId(names.meters()
                                .getByName(meter.id())
                                .getPreamble()
                                .getId())));
    }

    @Override
    public ReadRequest meterCells(Iterable<PiMeterId> meters) {
        meters.forEach(this::meterCells);
        return this;
    }

    @Override
    public ReadRequest directMeterCells(PiTableId table) {
        return add(() -> Entity.newBuilder()
                .setDirectMeterEntry(DirectMeterEntry.newBuilder().setTableEntry(tableEntry(table, false))));
    }

    @Override
    public ReadRequest directMeterCells(Iterable<PiTableId> tables) {
        tables.forEach(this::directMeterCells);
        return this;
    }

    @Override
    public CompletableFuture<ReadResponse> submit() {
        Answer answer = new Answer();
        if (request.getEntitiesCount() == 0) {
            answer.onCompleted();
        } else {
            connection.stub().read(request.build(), answer);
        }
        return answer.future;
    }

    @Override
    public ReadResponse submitSync() {
        return submit().join();
    }

    private int id(PiActionProfileId profile) throws P4InfoBrowser.NotFoundException {
        return names.actionProfiles().getByName(profile.id()).getPreamble().getId();
    }

    private TableEntry.Builder tableEntry(PiTableId table, boolean counted) throws P4InfoBrowser.NotFoundException {
        TableEntry.Builder entry = TableEntry.newBuilder()
                .setTableId(names.tables().getByName(table.id()).getPreamble().getId());
        boolean hasCounter = pipeconf.pipelineModel()
                .table(table)
                .filter(model -> !model.counters().isEmpty())
                .isPresent();
        // an empty counter_data also requests the entry's counter
        return counted && hasCounter ? entry.setCounterData(CounterData.getDefaultInstance()) : entry;
    }

    private ReadRequest add(Wildcard wildcard) {
        try {
            request.addEntities(wildcard.entity());
        } catch (P4InfoBrowser.NotFoundException e) {
            log.warn("{}: {} of pipeconf {} cannot be read", connection.device(), e.getMessage(), pipeconf.id());
        }
        return this;
    }

    private interface Wildcard {
        Entity.Builder entity() throws P4InfoBrowser.NotFoundException;
    }

    private final class Answer implements StreamObserver<P4RuntimeOuterClass.ReadResponse> {
        private final CompletableFuture<ReadResponse> future = new CompletableFuture<>();
        private final List<PiEntity> entities = new ArrayList<>();
        private String problem;

        @Override
        public void onNext(P4RuntimeOuterClass.ReadResponse response) {
            for (Entity entity : response.getEntitiesList()) {
                try {
                    entities.add(CODECS.entity().decode(entity, null, pipeconf));
                } catch (CodecException e) {
                    problem = e.getMessage();
                    log.warn(
                            "{}: the switch returned an entity that pipeconf {} does not have: {}",
                            connection.device(),
                            pipeconf.id(),
                            problem);
                }
            }
        }

        @Override
        public void onError(Throwable error) {
            connection.failed("Read", error);
            future.complete(new Result(entities, error.getMessage(), error));
        }

        @Override
        public void onCompleted() {
            future.complete(new Result(entities, problem, null));
        }
    }

    private static final class Result implements ReadResponse {
        private final List<PiEntity> entities;
        private final String problem;
        private final Throwable error;

        Result(List<PiEntity> entities, String problem, Throwable error) {
            this.entities = entities;
            this.problem = problem;
            this.error = error;
        }

        @Override
        public boolean isSuccess() {
            return problem == null && error == null;
        }

        @Override
        public Collection<PiEntity> all() {
            return entities;
        }

        @Override
        public <E extends PiEntity> Collection<E> all(Class<E> type) {
            return entities.stream().filter(type::isInstance).map(type::cast).collect(Collectors.toList());
        }

        @Override
        public String explanation() {
            return problem;
        }

        @Override
        public Throwable throwable() {
            return error;
        }
    }
}
