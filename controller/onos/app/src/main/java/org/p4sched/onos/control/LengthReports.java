package org.p4sched.onos.control;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.onosproject.net.PortNumber;
import org.onosproject.net.flow.DefaultTrafficTreatment;
import org.onosproject.net.flow.TrafficTreatment;
import org.onosproject.net.group.DefaultGroupBucket;
import org.onosproject.net.group.DefaultGroupDescription;
import org.onosproject.net.group.DefaultGroupKey;
import org.onosproject.net.group.GroupBuckets;
import org.onosproject.net.group.GroupDescription;
import org.onosproject.net.group.GroupKey;
import org.onosproject.net.group.GroupService;
import org.p4sched.onos.config.Constants;

/**
 * Length reports of Tofino 1: each departure reports the length of its queue to ingress. A mirror session sends the
 * report to the recirculation port (tofino-port/include/length_report.p4). In ONOS a mirror session is a group. ONOS
 * sets it up again if a switch has lost it.
 */
final class LengthReports {
    private static final GroupKey KEY = new DefaultGroupKey("p4sched length reports".getBytes(StandardCharsets.UTF_8));

    private LengthReports() {}

    /** Sets up the session, unless ONOS knows it. */
    static void setUp(GroupService groups, ApplicationId app, DeviceId device) {
        if (groups.getGroup(device, KEY) != null) {
            return;
        }
        TrafficTreatment copy = DefaultTrafficTreatment.builder()
                .truncate(Constants.LENGTH_REPORT_BYTES)
                .setOutput(PortNumber.portNumber(Constants.RECIRCULATION_PORT_TNA))
                .build();
        GroupBuckets buckets = new GroupBuckets(List.of(DefaultGroupBucket.createCloneGroupBucket(copy)));
        groups.addGroup(new DefaultGroupDescription(
                device, GroupDescription.Type.CLONE, buckets, KEY, Constants.LENGTH_REPORT_SESSION, app));
    }
}
