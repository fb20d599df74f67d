package org.p4sched.onos.embedded.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.onosproject.drivers.p4runtime.AbstractP4RuntimePipelineProgrammable;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeActionProfileGroupMirror;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeActionProfileMemberMirror;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeDefaultEntryMirror;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimePreEntryMirror;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeTableMirror;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.model.PiTableModel;
import org.onosproject.net.pi.runtime.PiActionProfileGroup;
import org.onosproject.net.pi.runtime.PiActionProfileMember;
import org.onosproject.net.pi.runtime.PiCloneSessionEntryHandle;
import org.onosproject.net.pi.runtime.PiMulticastGroupEntryHandle;
import org.onosproject.net.pi.runtime.PiPreEntry;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadRequest;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadResponse;

/** Sets BMv2 JSON and P4Info. A switch that already runs them keeps them, with all entries. */
public final class AdoptingPipeline extends AbstractP4RuntimePipelineProgrammable {

    @Override
    public ByteBuffer createDeviceDataBuffer(PiPipeconf pipeconf) {
        InputStream json =
                pipeconf.extension(PiPipeconf.ExtensionType.BMV2_JSON).orElse(null);
        if (json == null) {
            log.error("pipeconf {} has no BMv2 JSON", pipeconf.id());
            return null;
        }
        try (json) {
            return ByteBuffer.wrap(json.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException("BMv2 JSON of pipeconf " + pipeconf.id(), e);
        }
    }

    @Override
    public CompletableFuture<Boolean> setPipeconf(PiPipeconf wanted) {
        return isPipeconfSet(wanted).thenCompose(set -> set ? adopt(wanted) : super.setPipeconf(wanted));
    }

    @Override
    public Optional<PiPipeconf> getDefaultPipeconf() {
        return Optional.empty();
    }

    /**
     * Reads all entries into the drivers' mirrors. A mirror tells whether an entry is new, changed or present, so it
     * must be right before ONOS writes the first entry.
     *
     * @return whether the switch has answered
     */
    public boolean takeStock() {
        if (!setupBehaviour("takeStock()")) {
            return false;
        }
        Collection<PiTableId> tables = pipeconf.pipelineModel().tables().stream()
                .filter(table -> !table.isConstantTable())
                .map(PiTableModel::id)
                .collect(Collectors.toList());
        ReadRequest request =
                client.read(p4DeviceId, pipeconf).tableEntries(tables).defaultTableEntry(changeable());
        pipeconf.pipelineModel().actionProfiles().forEach(profile -> request.actionProfileGroups(profile.id())
                .actionProfileMembers(profile.id()));
        ReadResponse result = request.submitSync();
        if (result.isSuccess()) {
            handler().get(P4RuntimeTableMirror.class).sync(deviceId, result.all(PiTableEntry.class));
            handler()
                    .get(P4RuntimeActionProfileGroupMirror.class)
                    .sync(deviceId, result.all(PiActionProfileGroup.class));
            handler()
                    .get(P4RuntimeActionProfileMemberMirror.class)
                    .sync(deviceId, result.all(PiActionProfileMember.class));
            takeStockOfReplication();
        }
        return result.isSuccess();
    }

    /** Identifier 0 means all entries. If a switch cannot read them, the mirror keeps what ONOS has written. */
    private void takeStockOfReplication() {
        ReadResponse result = client.read(p4DeviceId, pipeconf)
                .handle(PiCloneSessionEntryHandle.of(deviceId, 0))
                .handle(PiMulticastGroupEntryHandle.of(deviceId, 0))
                .submitSync();
        if (result.isSuccess()) {
            handler().get(P4RuntimePreEntryMirror.class).sync(deviceId, result.all(PiPreEntry.class));
        }
    }

    private CompletableFuture<Boolean> adopt(PiPipeconf running) {
        return client.read(p4DeviceId, running)
                .defaultTableEntry(changeable())
                .submit()
                .thenApply(result -> {
                    if (result.isSuccess()) {
                        log.info("{}: the switch already runs pipeline {}; its entries stay", deviceId, running.id());
                        handler().get(P4RuntimeDefaultEntryMirror.class).sync(deviceId, result.all(PiTableEntry.class));
                        handler().get(Adoption.class).begin(deviceId);
                    }
                    return result.isSuccess();
                });
    }

    private Collection<PiTableId> changeable() {
        return pipeconf.pipelineModel().tables().stream()
                .filter(table ->
                        !table.isConstantTable() && table.constDefaultAction().isEmpty())
                .map(PiTableModel::id)
                .collect(Collectors.toList());
    }
}
