package org.p4sched.onos.embedded;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.onosproject.cluster.ClusterService;
import org.onosproject.cluster.LeadershipService;
import org.onosproject.core.CoreService;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.group.GroupService;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.p4sched.onos.DeviceStatus;
import org.p4sched.onos.OnosServices;
import org.p4sched.onos.SchedulerManager;
import org.p4sched.onos.embedded.driver.Adoption;
import org.p4sched.onos.pipeconf.Pipeconfs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ONOS with the schedulers, for the switches of a network configuration. Prints {@code ready} when every switch has its
 * pipeline, its rules and its first parameters.
 */
public final class Main {
    private static final Logger log = LoggerFactory.getLogger(Main.class);
    private static final int BAD_INPUT = 2;
    private static final long LOOK_MS = 50;

    private final EmbeddedOnos onos = new EmbeddedOnos();
    private final SchedulerManager schedulers;
    private final ScheduledExecutorService look = Executors.newSingleThreadScheduledExecutor();
    private RestServer rest;

    private Main(Options options) throws BadInput {
        for (PiPipeconf pipeconf : pipeconfs(options)) {
            onos.get(PiPipeconfService.class).register(pipeconf);
        }
        schedulers = new SchedulerManager(
                new OnosServices(
                        onos.get(CoreService.class),
                        onos.get(ClusterService.class),
                        onos.get(LeadershipService.class),
                        onos.get(DeviceService.class),
                        onos.get(FlowRuleService.class),
                        onos.get(GroupService.class),
                        onos.get(NetworkConfigRegistry.class),
                        onos.get(PiPipeconfService.class),
                        onos.get(P4RuntimeController.class)),
                options.logFolder);
    }

    /** Runs until SIGTERM. */
    @SuppressWarnings("SystemExitOutsideMain")
    public static void main(String[] arguments) {
        try {
            Options options = Options.parse(List.of(arguments));
            new Main(options).run(options);
        } catch (BadInput e) {
            System.err.println("p4sched-onos: " + e.getMessage());
            System.exit(BAD_INPUT);
        }
    }

    private void run(Options options) throws BadInput {
        schedulers.start();
        rest = RestServer.start(options.rest, schedulers);
        List<DeviceId> devices = Netcfg.apply(options.netcfg, onos);
        // a JVM would end with status 143 after SIGTERM; the hook ends it with 0
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stop();
            Runtime.getRuntime().halt(0);
        }));
        var unused = look.scheduleWithFixedDelay(() -> look(devices), LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
    }

    private void stop() {
        look.shutdownNow();
        rest.stop();
        schedulers.stop();
        onos.close();
        log.info("Stopped");
    }

    private void look(List<DeviceId> devices) {
        Adoption adoption = onos.get(Adoption.class);
        boolean all = true;
        for (DeviceId device : devices) {
            boolean inForce = inForce(device);
            if (inForce) {
                adoption.end(device);
            }
            all &= inForce;
        }
        if (all) {
            System.out.println("ready");
            look.shutdown();
        }
    }

    private boolean inForce(DeviceId device) {
        return schedulers.status(device).map(DeviceStatus::inForce).orElseGet(() -> onos.get(DeviceService.class)
                .isAvailable(device));
    }

    private static Collection<PiPipeconf> pipeconfs(Options options) throws BadInput {
        if (options.programs.isPresent()) {
            try {
                return Pipeconfs.inFolder(options.programs.get());
            } catch (IllegalArgumentException e) {
                throw new BadInput("--p4: " + e.getMessage(), e);
            }
        }
        Set<String> named = Netcfg.pipeconfs(options.netcfg);
        Collection<PiPipeconf> result = Pipeconfs.inApp(named::contains);
        // for an unknown name, Netcfg's error lists all pipeconfs
        return result.size() == named.size() ? result : Pipeconfs.inApp();
    }
}
