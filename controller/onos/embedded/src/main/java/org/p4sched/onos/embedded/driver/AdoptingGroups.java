package org.p4sched.onos.embedded.driver;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.onosproject.drivers.p4runtime.P4RuntimeGroupProgrammable;
import org.onosproject.drivers.p4runtime.P4RuntimeReplicationGroupProgrammable;
import org.onosproject.drivers.p4runtime.mirror.P4RuntimeActionProfileGroupMirror;
import org.onosproject.drivers.p4runtime.mirror.TimedEntry;
import org.onosproject.net.group.DefaultGroup;
import org.onosproject.net.group.Group;
import org.onosproject.net.pi.runtime.PiActionProfileGroup;
import org.onosproject.net.pi.service.PiGroupTranslator;
import org.onosproject.net.pi.service.PiTranslatedEntity;
import org.onosproject.net.pi.service.PiTranslationService;

/** ONOS's groups on P4Runtime. During the adoption of a switch, groups unknown to ONOS stay. */
public final class AdoptingGroups extends P4RuntimeGroupProgrammable {

    @Override
    public Collection<Group> getGroups() {
        if (!handler().get(Adoption.class).isAdopting(data().deviceId())) {
            return super.getGroups();
        }
        PiGroupTranslator translator = handler().get(PiTranslationService.class).groupTranslator();
        P4RuntimeReplicationGroupProgrammable replication = new P4RuntimeReplicationGroupProgrammable();
        replication.setData(data());
        replication.setHandler(handler());
        List<Group> known = new ArrayList<>(replication.getGroups());
        for (TimedEntry<PiActionProfileGroup> result :
                handler().get(P4RuntimeActionProfileGroupMirror.class).getAll(data().deviceId())) {
            translator
                    .lookup(result.entry().handle(data().deviceId()))
                    .filter(group -> group.translated().equals(result.entry()))
                    .map(PiTranslatedEntity::original)
                    .ifPresent(original -> {
                        DefaultGroup group = new DefaultGroup(original.id(), original);
                        group.setState(Group.GroupState.ADDED);
                        group.setLife(result.lifeSec());
                        known.add(group);
                    });
        }
        return known;
    }
}
