package org.p4sched.onos.embedded;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.onosproject.mastership.MastershipTermService;
import org.onosproject.net.DeviceId;
import org.onosproject.net.MastershipRole;
import org.onosproject.net.PortNumber;
import org.onosproject.net.config.NetworkConfigEvent;
import org.onosproject.net.config.NetworkConfigListener;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.config.basics.BasicDeviceConfig;
import org.onosproject.net.device.DeviceAdminService;
import org.onosproject.net.device.DeviceProvider;
import org.onosproject.net.device.DeviceProviderRegistry;
import org.onosproject.net.device.DeviceProviderService;
import org.onosproject.net.pi.model.PiPipeconfId;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.net.pi.service.PiPipeconfWatchdogEvent;
import org.onosproject.net.pi.service.PiPipeconfWatchdogListener;
import org.onosproject.net.pi.service.PiPipeconfWatchdogService;
import org.onosproject.net.provider.AbstractProvider;
import org.onosproject.net.provider.ProviderId;

/**
 * Brings the switches of the network configuration into ONOS. It replaces {@code org.onosproject.generaldeviceprovider}
 * of ONOS's distribution, which is not published as a library.
 */
final class DeviceWatches extends AbstractProvider implements DeviceProvider {
    private final Components onos;
    private final Map<DeviceId, DeviceWatch> watches = new ConcurrentHashMap<>();
    private final NetworkConfigListener configListener = new ConfigListener();
    private final PiPipeconfWatchdogListener pipelines = this::pipeline;
    private DeviceProviderService core;

    DeviceWatches(Components onos) {
        super(new ProviderId("device", "org.p4sched.onos.embedded"));
        this.onos = onos;
    }

    void activate() {
        core = onos.get(DeviceProviderRegistry.class).register(this);
        onos.get(NetworkConfigRegistry.class).addListener(configListener);
        onos.get(PiPipeconfWatchdogService.class).addListener(pipelines);
    }

    void deactivate() {
        onos.get(NetworkConfigRegistry.class).removeListener(configListener);
        onos.get(PiPipeconfWatchdogService.class).removeListener(pipelines);
        watches.values().forEach(watch -> watch.stop(false));
        onos.get(DeviceProviderRegistry.class).unregister(this);
    }

    @Override
    public void triggerProbe(DeviceId device) {
        DeviceWatch watch = watches.get(device);
        if (watch != null) {
            watch.probe();
        }
    }

    @Override
    public void roleChanged(DeviceId device, MastershipRole role) {
        DeviceWatch watch = watches.get(device);
        if (watch != null) {
            watch.roleChanged(
                    role,
                    onos.get(MastershipTermService.class)
                            .getMastershipTerm(device)
                            .termNumber());
        }
    }

    @Override
    public boolean isReachable(DeviceId device) {
        DeviceWatch watch = watches.get(device);
        return watch != null && watch.isReachable();
    }

    @Override
    public boolean isAvailable(DeviceId device) {
        DeviceWatch watch = watches.get(device);
        return watch != null && watch.isAvailable();
    }

    @Override
    public void changePortState(DeviceId device, PortNumber port, boolean enable) {
        throw new UnsupportedOperationException("P4Runtime has no port states");
    }

    @Override
    public void triggerDisconnect(DeviceId device) {
        forget(device);
    }

    private void pipeline(PiPipeconfWatchdogEvent event) {
        DeviceWatch watch = watches.get(event.subject());
        if (watch != null && event.type() == PiPipeconfWatchdogEvent.Type.PIPELINE_READY) {
            watch.pipelineReady();
        }
    }

    private void watch(DeviceId device, BasicDeviceConfig config) {
        forget(device);
        onos.get(PiPipeconfService.class).bindToDevice(new PiPipeconfId(config.pipeconf()), device);
        DeviceWatch watch = new DeviceWatch(device, id(), onos, core);
        watches.put(device, watch);
        watch.start();
    }

    private void forget(DeviceId device) {
        DeviceWatch old = watches.remove(device);
        if (old != null) {
            old.stop(true);
        }
    }

    private final class ConfigListener implements NetworkConfigListener {
        @Override
        public boolean isRelevant(NetworkConfigEvent event) {
            return event.configClass() == BasicDeviceConfig.class && event.subject() instanceof DeviceId;
        }

        @Override
        public void event(NetworkConfigEvent event) {
            DeviceId device = (DeviceId) event.subject();
            switch (event.type()) {
                case CONFIG_ADDED:
                    watch(device, (BasicDeviceConfig) event.config().orElseThrow());
                    break;
                case CONFIG_UPDATED:
                    BasicDeviceConfig config =
                            (BasicDeviceConfig) event.config().orElseThrow();
                    BasicDeviceConfig previous =
                            (BasicDeviceConfig) event.prevConfig().orElseThrow();
                    if (!config.managementAddress().equals(previous.managementAddress())) {
                        watch(device, config);
                    }
                    break;
                case CONFIG_REMOVED:
                    forget(device);
                    onos.get(DeviceAdminService.class).removeDevice(device);
                    break;
                default:
                    break;
            }
        }
    }
}
