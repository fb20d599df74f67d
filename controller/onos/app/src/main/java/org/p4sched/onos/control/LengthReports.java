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

/**
 * On Tofino 1 each departure reports the length of its queue to ingress: a mirror session brings the report to the
 * recirculation port (tofino-port/include/length_report.p4). For ONOS a mirror session is a group, which it sets up again
 * when a switch has lost it.
 */
final class LengthReports {
    /** LENGTH_REPORT_SESSION. */
    private static final int SESSION = 1;

    private static final int RECIRCULATION_PORT = 68;
    /** What of the departing frame is sent behind its report, bytes. */
    private static final int FRAME_BYTES = 32;

    private static final GroupKey KEY = new DefaultGroupKey("p4sched length reports".getBytes(StandardCharsets.UTF_8));

    private LengthReports() {}

    /** Sets the session up, unless ONOS knows it. */
    static void letReport(GroupService groups, ApplicationId app, DeviceId device) {
        if (groups.getGroup(device, KEY) != null) {
            return;
        }
        TrafficTreatment copy = DefaultTrafficTreatment.builder()
                .truncate(FRAME_BYTES)
                .setOutput(PortNumber.portNumber(RECIRCULATION_PORT))
                .build();
        GroupBuckets buckets = new GroupBuckets(List.of(DefaultGroupBucket.createCloneGroupBucket(copy)));
        groups.addGroup(new DefaultGroupDescription(device, GroupDescription.Type.CLONE, buckets, KEY, SESSION, app));
    }
}
