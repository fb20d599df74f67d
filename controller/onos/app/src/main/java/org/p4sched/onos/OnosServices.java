package org.p4sched.onos;

import org.onosproject.cluster.ClusterService;
import org.onosproject.cluster.LeadershipService;
import org.onosproject.core.CoreService;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.group.GroupService;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;

/** The services of ONOS that the application uses. */
public final class OnosServices {
    public final CoreService core;
    public final ClusterService cluster;
    public final LeadershipService leadership;
    public final DeviceService devices;
    public final FlowRuleService flowRules;
    public final GroupService groups;
    public final NetworkConfigRegistry netcfg;
    public final PiPipeconfService pipeconfs;
    public final P4RuntimeController p4runtime;

    public OnosServices(
            CoreService core,
            ClusterService cluster,
            LeadershipService leadership,
            DeviceService devices,
            FlowRuleService flowRules,
            GroupService groups,
            NetworkConfigRegistry netcfg,
            PiPipeconfService pipeconfs,
            P4RuntimeController p4runtime) {
        this.core = core;
        this.cluster = cluster;
        this.leadership = leadership;
        this.devices = devices;
        this.flowRules = flowRules;
        this.groups = groups;
        this.netcfg = netcfg;
        this.pipeconfs = pipeconfs;
        this.p4runtime = p4runtime;
    }
}
