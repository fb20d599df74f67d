package org.p4sched.onos.embedded;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.onosproject.net.DeviceId;
import org.onosproject.net.MastershipRole;
import org.onosproject.net.behaviour.PiPipelineProgrammable;
import org.onosproject.net.device.DefaultDeviceDescription;
import org.onosproject.net.device.DeviceAgentEvent;
import org.onosproject.net.device.DeviceDescription;
import org.onosproject.net.device.DeviceDescriptionDiscovery;
import org.onosproject.net.device.DeviceHandshaker;
import org.onosproject.net.device.DeviceProviderService;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.device.PortStatisticsDiscovery;
import org.onosproject.net.driver.Behaviour;
import org.onosproject.net.driver.DefaultDriverData;
import org.onosproject.net.driver.DefaultDriverHandler;
import org.onosproject.net.driver.Driver;
import org.onosproject.net.driver.DriverService;
import org.onosproject.net.pi.service.PiPipeconfWatchdogService;
import org.onosproject.net.provider.ProviderId;
import org.p4sched.onos.embedded.driver.AdoptingPipeline;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects to one switch, with growing pauses between attempts, and tells ONOS whether it is available. A switch is
 * available if this controller is primary, the pipeline is set, and its entries are known. Each switch has one thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // tasks report their own failures
final class DeviceWatch {
    private static final Logger log = LoggerFactory.getLogger(DeviceWatch.class);
    private static final long FIRST_PAUSE_MS = 100;
    private static final long LONGEST_PAUSE_MS = 3000;
    /** A warning follows only after pauses of this length, so not if a switch answers soon. */
    private static final long WARN_FROM_PAUSE_MS = 800;

    private static final long STATISTICS_SECONDS = 5;

    private final DeviceId device;
    private final ProviderId provider;
    private final Components onos;
    private final DeviceProviderService core;
    private final ScheduledExecutorService thread;
    private final DeviceHandshaker handshaker;

    // used by the thread only
    private long pauseMs = FIRST_PAUSE_MS;
    private boolean retryPlanned;
    private boolean reportedUnreachable;
    private volatile boolean backup;

    DeviceWatch(DeviceId device, ProviderId provider, Components onos, DeviceProviderService core) {
        this.device = device;
        this.provider = provider;
        this.onos = onos;
        this.core = core;
        this.handshaker = behaviour(DeviceHandshaker.class);
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread created = new Thread(task, "watch " + device);
            created.setDaemon(true);
            return created;
        });
    }

    void start() {
        run(this::connect);
        thread.scheduleWithFixedDelay(
                () -> safely(this::pollStatistics), STATISTICS_SECONDS, STATISTICS_SECONDS, TimeUnit.SECONDS);
    }

    /** Ends the connection. {@code notify}: whether to tell ONOS that the switch is gone. */
    void stop(boolean notify) {
        thread.shutdownNow();
        if (notify) {
            goOffline();
        }
        handshaker.removeDeviceAgentListener(provider);
        handshaker.disconnect();
    }

    /** Whether ONOS may use the connection: not while another controller is primary. */
    boolean isReachable() {
        return !backup && handshaker.isReachable();
    }

    boolean isAvailable() {
        return !backup && handshaker.isAvailable();
    }

    void roleChanged(MastershipRole role, long term) {
        if (role == MastershipRole.MASTER) {
            handshaker.roleChanged(0, term);
        }
    }

    void probe() {
        run(this::retry);
    }

    void pipelineReady() {
        run(this::comeOnline);
    }

    private void connect() {
        handshaker.addDeviceAgentListener(provider, event -> run(() -> agent(event.type())));
        handshaker.connect();
        retry();
    }

    private void agent(DeviceAgentEvent.Type event) {
        switch (event) {
            case CHANNEL_OPEN:
                reportedUnreachable = false;
                pauseMs = FIRST_PAUSE_MS;
                log.info("{}: connected", device);
                register();
                break;
            case ROLE_MASTER:
                boolean again = backup;
                backup = false;
                if (again) {
                    register();
                }
                core.receivedRoleReply(device, MastershipRole.MASTER);
                if (!devices().isAvailable(device)) {
                    onos.get(PiPipeconfWatchdogService.class).triggerProbe(device);
                }
                break;
            case ROLE_STANDBY:
                backup = true;
                goOffline();
                break;
            case CHANNEL_CLOSED:
            case CHANNEL_ERROR:
            case ROLE_NONE:
                backup = false;
                goOffline();
                retryLater();
                break;
            default:
                log.debug("{}: {}", device, event);
        }
    }

    /** Makes the device known to ONOS, which then asks to be its primary controller. */
    private void register() {
        core.deviceConnected(device, description(false));
    }

    private void comeOnline() {
        if (devices().isAvailable(device) || handshaker.getRole() != MastershipRole.MASTER) {
            return;
        }
        AdoptingPipeline pipeline = (AdoptingPipeline) behaviour(PiPipelineProgrammable.class);
        if (!pipeline.takeStock()) {
            retryLater();
            return;
        }
        core.updatePorts(device, List.of());
        core.deviceConnected(device, description(true));
    }

    private void goOffline() {
        if (devices().getDevice(device) != null && devices().isAvailable(device)) {
            core.deviceDisconnected(device);
        }
    }

    private void retryLater() {
        if (!retryPlanned && !thread.isShutdown()) {
            retryPlanned = true;
            thread.schedule(() -> safely(this::retry), pauseMs, TimeUnit.MILLISECONDS);
            pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        }
    }

    private void retry() {
        retryPlanned = false;
        if (devices().isAvailable(device) || backup) {
            return;
        }
        if (!handshaker.isReachable()) {
            if (!reportedUnreachable && pauseMs >= WARN_FROM_PAUSE_MS) {
                reportedUnreachable = true;
                log.warn("{}: no answer; ONOS tries again until the switch answers", device);
            }
            handshaker.probeReachability();
        } else if (handshaker.getRole() == MastershipRole.MASTER) {
            onos.get(PiPipeconfWatchdogService.class).triggerProbe(device);
        } else {
            register();
        }
        retryLater();
    }

    private void pollStatistics() {
        if (devices().isAvailable(device) && devices().getDevice(device).is(PortStatisticsDiscovery.class)) {
            core.updatePortStatistics(
                    device,
                    devices()
                            .getDevice(device)
                            .as(PortStatisticsDiscovery.class)
                            .discoverPortStatistics());
        }
    }

    private DeviceDescription description(boolean available) {
        DeviceDescription result = behaviour(DeviceDescriptionDiscovery.class).discoverDeviceDetails();
        return new DefaultDeviceDescription(result, available, result.annotations());
    }

    private DeviceService devices() {
        return onos.get(DeviceService.class);
    }

    /** A behaviour of the driver, even before ONOS knows the device. */
    private <T extends Behaviour> T behaviour(Class<T> type) {
        Driver driver = onos.get(DriverService.class).getDriver(device);
        return driver.createBehaviour(new DefaultDriverHandler(new DefaultDriverData(driver, device)), type);
    }

    private void run(Runnable task) {
        if (!thread.isShutdown()) {
            thread.execute(() -> safely(task));
        }
    }

    private void safely(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | LinkageError e) {
            log.error("{}: {}", device, e.getMessage(), e);
            retryLater();
        }
    }
}
