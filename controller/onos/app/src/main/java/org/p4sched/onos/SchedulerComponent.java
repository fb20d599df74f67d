package org.p4sched.onos;

import static org.p4sched.onos.SchedulerComponent.LOG_FOLDER;

import java.nio.file.Path;
import java.util.Optional;
import org.onlab.util.Tools;
import org.onosproject.cfg.ComponentConfigService;
import org.onosproject.cluster.ClusterService;
import org.onosproject.cluster.LeadershipService;
import org.onosproject.core.CoreService;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.group.GroupService;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.ComponentContext;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;

/** The OSGi component of the service. It provides ONOS's services and the folder for decision logs. */
@Component(immediate = true, service = SchedulerComponent.class, property = LOG_FOLDER + "=")
public class SchedulerComponent {
    /** Property: folder of the decision logs; by default p4sched in Karaf's data folder. */
    static final String LOG_FOLDER = "decisionLogFolder";

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected CoreService coreService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected ClusterService clusterService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected LeadershipService leadershipService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected DeviceService deviceService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected FlowRuleService flowRuleService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected GroupService groupService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected NetworkConfigRegistry networkConfigRegistry;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected PiPipeconfService pipeconfService;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected P4RuntimeController p4RuntimeController;

    @Reference(cardinality = ReferenceCardinality.MANDATORY)
    protected ComponentConfigService componentConfigService;

    private SchedulerManager manager;
    private ServiceRegistration<SchedulerService> registration;
    private String logFolder = "";

    @Activate
    protected void activate(ComponentContext context) {
        componentConfigService.registerProperties(getClass());
        logFolder = folder(context);
        start(context);
    }

    /** Starts new logs if the folder has changed. */
    @Modified
    protected void modified(ComponentContext context) {
        String folder = folder(context);
        if (!folder.equals(logFolder)) {
            logFolder = folder;
            stop();
            start(context);
        }
    }

    @Deactivate
    protected void deactivate() {
        stop();
        componentConfigService.unregisterProperties(getClass(), false);
    }

    private void start(ComponentContext context) {
        OnosServices services = new OnosServices(
                coreService,
                clusterService,
                leadershipService,
                deviceService,
                flowRuleService,
                groupService,
                networkConfigRegistry,
                pipeconfService,
                p4RuntimeController);
        manager = new SchedulerManager(services, Optional.of(Path.of(logFolder)));
        manager.start();
        registration = context.getBundleContext().registerService(SchedulerService.class, manager, null);
    }

    private void stop() {
        registration.unregister();
        manager.stop();
    }

    private static String folder(ComponentContext context) {
        String value = Tools.get(context.getProperties(), LOG_FOLDER);
        return value == null || value.isBlank() ? System.getProperty("karaf.data", ".") + "/p4sched" : value;
    }
}
