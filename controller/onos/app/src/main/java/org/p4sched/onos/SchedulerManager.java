package org.p4sched.onos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.onosproject.cluster.LeadershipEventListener;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.ConfigFactory;
import org.onosproject.net.config.NetworkConfigEvent;
import org.onosproject.net.config.NetworkConfigListener;
import org.onosproject.net.config.basics.SubjectFactories;
import org.onosproject.net.device.DeviceListener;
import org.p4sched.onos.config.Scheduler;
import org.p4sched.onos.config.SchedulerConfig;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.SettingsException;
import org.p4sched.onos.control.DeviceControl;
import org.p4sched.onos.control.SwitchCheck;
import org.p4sched.onos.control.SwitchException;
import org.p4sched.onos.control.SwitchReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The service: one {@link DeviceControl} for each configured switch. */
public final class SchedulerManager implements SchedulerService {
    /** Name of the application. */
    public static final String APP = "org.p4sched.onos";

    private static final Logger LOG = LoggerFactory.getLogger(SchedulerManager.class);
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final String ALL_PORTS = "default";

    private final OnosServices onos;
    private final Optional<Path> logs;
    private final LongSupplier clock;
    private final Map<DeviceId, DeviceControl> controls = new ConcurrentHashMap<>();
    private final NetworkConfigListener configListener = new ConfigListener();
    private final DeviceListener deviceListener = event -> poke(event.subject().id());
    private final LeadershipEventListener leadershipListener = event -> controls.forEach((device, control) -> {
        if (DeviceControl.topic(device).equals(event.subject().topic())) {
            control.poke();
        }
    });
    private final ConfigFactory<DeviceId, SchedulerConfig> configFactory =
            new ConfigFactory<>(SubjectFactories.DEVICE_SUBJECT_FACTORY, SchedulerConfig.class, Settings.KEY) {
                @Override
                public SchedulerConfig createConfig() {
                    return new SchedulerConfig();
                }
            };
    private ApplicationId app;

    /** {@code logs} is the folder of the decision logs; empty for no logs. */
    public SchedulerManager(OnosServices onos, Optional<Path> logs) {
        this(onos, logs, System::nanoTime);
    }

    /** {@code clock} is a monotonic clock in nanoseconds. */
    SchedulerManager(OnosServices onos, Optional<Path> logs, LongSupplier clock) {
        this.onos = onos;
        this.logs = logs;
        this.clock = clock;
    }

    /** Starts the control of all configured switches, and listens for changes. */
    public void start() {
        app = onos.core.registerApplication(APP);
        onos.netcfg.registerConfigFactory(configFactory);
        onos.netcfg.addListener(configListener);
        onos.devices.addListener(deviceListener);
        onos.leadership.addListener(leadershipListener);
        onos.netcfg
                .getSubjects(DeviceId.class, SchedulerConfig.class)
                .forEach(device -> changed(device, new CompletableFuture<>()));
        LOG.info("Started");
    }

    /** Stops. The switches keep their rules and parameters. */
    public void stop() {
        onos.leadership.removeListener(leadershipListener);
        onos.devices.removeListener(deviceListener);
        onos.netcfg.removeListener(configListener);
        onos.netcfg.unregisterConfigFactory(configFactory);
        controls.values().forEach(DeviceControl::close);
        controls.values().forEach(DeviceControl::awaitEnd);
        controls.clear();
        LOG.info("Stopped");
    }

    private final class ConfigListener implements NetworkConfigListener {
        @Override
        public void event(NetworkConfigEvent event) {
            DeviceId device = (DeviceId) event.subject();
            if (event.configClass().equals(SchedulerConfig.class)) {
                if (event.type() == NetworkConfigEvent.Type.CONFIG_REMOVED) {
                    removed(device, new CompletableFuture<>());
                } else {
                    changed(device, new CompletableFuture<>());
                }
            } else {
                poke(device);
            }
        }

        @Override
        public boolean isRelevant(NetworkConfigEvent event) {
            return event.subject() instanceof DeviceId;
        }
    }

    private void poke(DeviceId device) {
        DeviceControl control = controls.get(device);
        if (control != null) {
            control.poke();
        }
    }

    private void changed(DeviceId device, CompletableFuture<Void> done) {
        DeviceControl control = controls.computeIfAbsent(device, id -> {
            DeviceControl newControl =
                    new DeviceControl(id, onos, app, logs.map(folder -> folder.resolve(folder(id))), clock);
            newControl.start();
            return newControl;
        });
        control.reconfigure(done);
    }

    private void removed(DeviceId device, CompletableFuture<Void> done) {
        DeviceControl control = controls.remove(device);
        if (control == null) {
            done.complete(null);
        } else {
            control.remove(done);
        }
    }

    /** The name of a switch's folder: p4sched_s1 for device:p4sched:s1. */
    static String folder(DeviceId device) {
        return device.toString().replaceFirst("^device:", "").replaceAll("[^A-Za-z0-9._-]", "_");
    }

    @Override
    public List<DeviceStatus> devices() {
        return new TreeMap<>(controls.values().stream()
                        .map(DeviceControl::status)
                        .collect(Collectors.toMap(status -> status.device().toString(), status -> status)))
                .values().stream().collect(Collectors.toList());
    }

    @Override
    public Optional<DeviceStatus> status(DeviceId device) {
        return Optional.ofNullable(controls.get(device)).map(DeviceControl::status);
    }

    @Override
    public Optional<ObjectNode> configuration(DeviceId device) {
        return Optional.ofNullable(onos.netcfg.getConfig(device, SchedulerConfig.class))
                .map(SchedulerConfig::json);
    }

    @Override
    public CompletableFuture<Void> configure(DeviceId device, JsonNode configuration) {
        try {
            Settings settings = Settings.parse(configuration);
            onos.pipeconfs
                    .getPipeconf(device)
                    .ifPresent(pipeconf -> SwitchCheck.check(settings, device, pipeconf, onos.devices));
        } catch (SettingsException e) {
            return CompletableFuture.failedFuture(e);
        }
        onos.netcfg.applyConfig(device, SchedulerConfig.class, configuration);
        CompletableFuture<Void> done = new CompletableFuture<>();
        changed(device, done);
        return done;
    }

    @Override
    public CompletableFuture<Void> remove(DeviceId device) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        removed(device, done);
        onos.netcfg.removeConfig(device, SchedulerConfig.class);
        return done;
    }

    @Override
    public CompletableFuture<Void> putUser(DeviceId device, int user, JsonNode traffic) {
        return edit(device, configuration -> {
            ArrayNode users = without(configuration, user);
            users.add(traffic.isObject() ? ((ObjectNode) traffic.deepCopy()).put("user", user) : traffic);
            configuration.set("users", users);
        });
    }

    @Override
    public CompletableFuture<Void> removeUser(DeviceId device, int user) {
        return edit(device, configuration -> {
            ArrayNode users = without(configuration, user);
            if (users.size() == configuration.path("users").size()) {
                throw new SettingsException(Settings.KEY + ".users", "there is no user " + user);
            }
            configuration.set("users", users);
        });
    }

    private static ArrayNode without(ObjectNode configuration, int user) {
        ArrayNode users = JSON.arrayNode();
        for (JsonNode each : configuration.path("users")) {
            if (each.path("user").asInt() != user) {
                users.add(each);
            }
        }
        return users;
    }

    @Override
    public CompletableFuture<Void> putPort(DeviceId device, int port, JsonNode settings) {
        return edit(device, configuration -> {
            JsonNode ports = configuration.path("ports");
            ObjectNode changed = ports.isObject() ? ports.deepCopy() : JSON.objectNode();
            changed.set(Integer.toString(port), settings);
            configuration.set("ports", changed);
            // the law sets them
            configuration.remove("parameters");
        });
    }

    @Override
    public CompletableFuture<Void> removePort(DeviceId device, int port) {
        return edit(device, configuration -> {
            JsonNode ports = configuration.path("ports");
            if (!ports.has(Integer.toString(port))) {
                throw new SettingsException(Settings.KEY + ".ports", "there is no law on port " + port);
            }
            ((ObjectNode) ports).remove(Integer.toString(port));
        });
    }

    @Override
    public CompletableFuture<Void> setRankSource(DeviceId device, String source) {
        return edit(device, configuration -> configuration.put("rankSource", source));
    }

    @Override
    public CompletableFuture<Void> setParameters(DeviceId device, JsonNode parameters) {
        return edit(device, configuration -> configuration.set("parameters", parameters));
    }

    private CompletableFuture<Void> edit(DeviceId device, Consumer<ObjectNode> change) {
        // two concurrent changes would start from the same configuration, and one would be lost
        synchronized (this) {
            Optional<ObjectNode> result = configuration(device);
            if (result.isEmpty()) {
                return CompletableFuture.failedFuture(
                        new SettingsException(Settings.KEY, "no scheduler is configured for " + device));
            }
            try {
                change.accept(result.get());
            } catch (SettingsException e) {
                return CompletableFuture.failedFuture(e);
            }
            return configure(device, result.get());
        }
    }

    @Override
    public Map<String, Map<String, Long>> parameters(DeviceId device) throws SwitchException {
        SchedulerConfig config = onos.netcfg.getConfig(device, SchedulerConfig.class);
        if (config == null) {
            throw new SwitchException("no scheduler is configured");
        }
        Scheduler scheduler = config.settings().scheduler();
        SwitchReader reader = SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg);
        Map<String, Map<String, Long>> result = new TreeMap<>();
        reader.defaultAction(scheduler.table(), scheduler.action()).ifPresent(data -> result.put(ALL_PORTS, data));
        reader.portActions(scheduler.table(), scheduler.action())
                .forEach((port, data) -> result.put(port.toString(), data));
        return result;
    }

    @Override
    public Map<Long, Long> sentBytes(DeviceId device) throws SwitchException {
        Map<Long, Long> result = new TreeMap<>();
        SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg)
                .users()
                .forEach((user, counter) -> result.put(user, counter.sentBytes));
        return result;
    }

    @Override
    public List<Map<String, Object>> decisions(DeviceId device, int port, int last) {
        DeviceControl control = controls.get(device);
        return control == null ? new ArrayList<>() : control.decisions(port, last);
    }
}
