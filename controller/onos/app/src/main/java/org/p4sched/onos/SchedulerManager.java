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
import org.p4sched.onos.control.FitsSwitch;
import org.p4sched.onos.control.SwitchException;
import org.p4sched.onos.control.SwitchReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The service: one {@link DeviceControl} for each switch that the network configuration asks something of. */
public final class SchedulerManager implements SchedulerService {
    /** Of the application. */
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

    /** Decisions are logged below the folder, if there is one. */
    public SchedulerManager(OnosServices onos, Optional<Path> logs) {
        this(onos, logs, System::nanoTime);
    }

    /** The same with a clock in nanoseconds that never goes back. */
    SchedulerManager(OnosServices onos, Optional<Path> logs, LongSupplier clock) {
        this.onos = onos;
        this.logs = logs;
        this.clock = clock;
    }

    /** Begins with the switches that are configured, and listens. */
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

    /** Ends. The switches go on with what was written last. */
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
            DeviceControl made =
                    new DeviceControl(id, onos, app, logs.map(folder -> folder.resolve(folder(id))), clock);
            made.start();
            return made;
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

    /** A folder's name for a switch: p4sched_s1 for device:p4sched:s1. */
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
            Settings asked = Settings.parse(configuration);
            onos.pipeconfs
                    .getPipeconf(device)
                    .ifPresent(pipeconf -> FitsSwitch.check(asked, device, pipeconf, onos.devices));
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
    public CompletableFuture<Void> putPort(DeviceId device, int port, JsonNode asked) {
        return edit(device, configuration -> {
            JsonNode ports = configuration.path("ports");
            ObjectNode changed = ports.isObject() ? ports.deepCopy() : JSON.objectNode();
            changed.set(Integer.toString(port), asked);
            configuration.set("ports", changed);
            // the law sets them from now on
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
        // two changes at a time would each start from the same configuration
        synchronized (this) {
            Optional<ObjectNode> found = configuration(device);
            if (found.isEmpty()) {
                return CompletableFuture.failedFuture(
                        new SettingsException(Settings.KEY, "nothing is asked of " + device));
            }
            try {
                change.accept(found.get());
            } catch (SettingsException e) {
                return CompletableFuture.failedFuture(e);
            }
            return configure(device, found.get());
        }
    }

    @Override
    public Map<String, Map<String, Long>> parameters(DeviceId device) throws SwitchException {
        SchedulerConfig config = onos.netcfg.getConfig(device, SchedulerConfig.class);
        if (config == null) {
            throw new SwitchException("nothing is asked of it");
        }
        Scheduler scheduler = config.settings().scheduler();
        SwitchReader reader = SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg);
        Map<String, Map<String, Long>> found = new TreeMap<>();
        reader.defaultAction(scheduler.table(), scheduler.action()).ifPresent(data -> found.put(ALL_PORTS, data));
        reader.portActions(scheduler.table(), scheduler.action())
                .forEach((port, data) -> found.put(port.toString(), data));
        return found;
    }

    @Override
    public Map<Long, Long> sentBytes(DeviceId device) throws SwitchException {
        Map<Long, Long> found = new TreeMap<>();
        SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg)
                .users()
                .forEach((user, counter) -> found.put(user, counter.sentBytes));
        return found;
    }

    @Override
    public List<Map<String, Object>> decisions(DeviceId device, int port, int last) {
        DeviceControl control = controls.get(device);
        return control == null ? new ArrayList<>() : control.decisions(port, last);
    }
}
