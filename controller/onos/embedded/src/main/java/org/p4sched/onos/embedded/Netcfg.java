package org.p4sched.onos.embedded;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.Config;
import org.onosproject.net.config.ConfigFactory;
import org.onosproject.net.config.InvalidConfigException;
import org.onosproject.net.config.InvalidFieldException;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.config.SubjectFactory;
import org.onosproject.net.driver.Driver;
import org.onosproject.net.driver.DriverService;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.p4sched.laws.log.FileError;

/**
 * A file with ONOS's network configuration. It is checked completely before ONOS connects to a switch, and more
 * strictly than by ONOS: an unknown key is an error.
 */
final class Netcfg {
    private static final String DEVICES = "devices";
    private static final String BASIC = "basic";
    private static final Pattern ADDRESS = Pattern.compile("grpcs?://[^/?]+:\\d{1,5}/?\\?(.*&)?device_id=\\d+(&.*)?");

    private final Path file;
    private final EmbeddedOnos onos;
    private final NetworkConfigRegistry registry;
    private final List<Entry> entries = new ArrayList<>();

    private Netcfg(Path file, EmbeddedOnos onos) {
        this.file = file;
        this.onos = onos;
        this.registry = onos.get(NetworkConfigRegistry.class);
    }

    /** Applies the file's configuration; returns its devices. */
    static List<DeviceId> apply(Path file, EmbeddedOnos onos) throws BadInput {
        Netcfg netcfg = new Netcfg(file, onos);
        netcfg.read();
        // the basic configuration makes ONOS connect, so it is applied last
        for (Entry entry : netcfg.entries) {
            if (!entry.configKey.equals(BASIC)) {
                netcfg.apply(entry);
            }
        }
        List<DeviceId> devices = new ArrayList<>();
        for (Entry entry : netcfg.entries) {
            if (entry.configKey.equals(BASIC) && entry.subject instanceof DeviceId) {
                netcfg.checkDevice(entry);
                devices.add((DeviceId) entry.subject);
            }
        }
        for (Entry entry : netcfg.entries) {
            if (entry.configKey.equals(BASIC)) {
                netcfg.apply(entry);
            }
        }
        return devices;
    }

    /** The pipeconfs that the file names, known or not. */
    static Set<String> pipeconfs(Path file) throws BadInput {
        Set<String> named = new TreeSet<>();
        for (JsonNode device : json(file).path(DEVICES)) {
            named.add(device.path(BASIC).path("pipeconf").asText());
        }
        return named;
    }

    private static JsonNode json(Path file) throws BadInput {
        try {
            return new ObjectMapper().readTree(Files.readString(file));
        } catch (JsonProcessingException e) {
            throw new BadInput(file + ":" + e.getLocation().getLineNr() + ": not JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new BadInput("cannot read " + file + ": " + FileError.reason(e), e);
        }
    }

    private void read() throws BadInput {
        JsonNode root = json(file);
        Map<String, SubjectFactory<?>> factories = new TreeMap<>();
        for (ConfigFactory<?, ?> factory : factories()) {
            factories.put(factory.subjectFactory().subjectClassKey(), factory.subjectFactory());
        }
        for (Map.Entry<String, JsonNode> subjects : fields(root, "")) {
            SubjectFactory<?> factory = known(factories, subjects.getKey(), subjects.getKey());
            for (Map.Entry<String, JsonNode> configs : fields(subjects.getValue(), subjects.getKey())) {
                String path = subjects.getKey() + "." + configs.getKey();
                Object subject = subject(factory, configs.getKey(), path);
                for (Map.Entry<String, JsonNode> config : fields(configs.getValue(), path)) {
                    entries.add(new Entry(subjects.getKey(), subject, path, config.getKey(), config.getValue()));
                }
            }
        }
        if (entries.stream().noneMatch(entry -> entry.classKey.equals(DEVICES) && entry.configKey.equals(BASIC))) {
            throw new BadInput(file + ": contains no device: devices.ID.basic is missing");
        }
    }

    private Iterable<ConfigFactory<?, ?>> factories() {
        List<ConfigFactory<?, ?>> all = new ArrayList<>();
        for (Object factory : registry.getConfigFactories()) {
            all.add((ConfigFactory<?, ?>) factory);
        }
        return all;
    }

    private Object subject(SubjectFactory<?> factory, String name, String path) throws BadInput {
        try {
            return factory.createSubject(name);
        } catch (IllegalArgumentException e) {
            throw new BadInput(file + ": " + path + ": " + e.getMessage(), e);
        }
    }

    @SuppressWarnings("unchecked")
    private void apply(Entry entry) throws BadInput {
        Class<? extends Config<Object>> type =
                (Class<? extends Config<Object>>) registry.getConfigClass(entry.classKey, entry.configKey);
        if (type == null) {
            String known = StreamSupport.stream(factories().spliterator(), false)
                    .filter(factory ->
                            factory.subjectFactory().subjectClassKey().equals(entry.classKey))
                    .map(ConfigFactory::configKey)
                    .sorted()
                    .collect(Collectors.joining(", "));
            throw new BadInput(file + ": " + entry.path() + ": unknown key; use one of " + known);
        }
        try {
            registry.applyConfig(entry.subject, type, entry.json);
        } catch (InvalidConfigException e) {
            throw new BadInput(file + ": " + entry.subjectPath + "." + reason(entry.configKey, e), e);
        } catch (IllegalArgumentException e) {
            throw new BadInput(file + ": " + entry.path() + ": " + e.getMessage(), e);
        }
    }

    private void checkDevice(Entry basic) throws BadInput {
        String address = basic.json.path("managementAddress").asText();
        if (!ADDRESS.matcher(address).matches()) {
            throw new BadInput(file + ": " + basic.path() + ".managementAddress: must be"
                    + " grpc://HOST:PORT?device_id=N, not \"" + address + "\"");
        }
        knownName(basic, "driver", onos.get(DriverService.class).getDrivers(), Driver::name);
        knownName(basic, "pipeconf", onos.get(PiPipeconfService.class).getPipeconfs(), (PiPipeconf known) -> known.id()
                .id());
    }

    private <T> void knownName(Entry basic, String key, Iterable<T> all, Function<T, String> name) throws BadInput {
        Map<String, T> byName = new TreeMap<>();
        all.forEach(each -> byName.put(name.apply(each), each));
        known(byName, basic.json.path(key).asText(), basic.path() + "." + key);
    }

    private <T> T known(Map<String, T> all, String name, String path) throws BadInput {
        T result = all.get(name);
        if (result == null) {
            throw new BadInput(
                    file + ": " + path + ": unknown \"" + name + "\"; use one of " + String.join(", ", all.keySet()));
        }
        return result;
    }

    private Iterable<Map.Entry<String, JsonNode>> fields(JsonNode node, String path) throws BadInput {
        if (!node.isObject()) {
            throw new BadInput(file + ": " + (path.isEmpty() ? "" : path + ": ") + "must be an object");
        }
        return node::fields;
    }

    /** Path and reason of the configuration's own error. Its path may begin with its key. */
    private static String reason(String configKey, InvalidConfigException e) {
        if (e.getCause() instanceof InvalidFieldException) {
            InvalidFieldException field = (InvalidFieldException) e.getCause();
            String path = field.field().startsWith(configKey) ? field.field() : configKey + "." + field.field();
            return path + ": " + field.reason();
        }
        return configKey + ": "
                + (e.getCause() == null ? e.getMessage() : e.getCause().getMessage());
    }

    private static final class Entry {
        private final String classKey;
        private final Object subject;
        private final String subjectPath;
        private final String configKey;
        private final JsonNode json;

        Entry(String classKey, Object subject, String subjectPath, String configKey, JsonNode json) {
            this.classKey = classKey;
            this.subject = subject;
            this.subjectPath = subjectPath;
            this.configKey = configKey;
            this.json = json;
        }

        String path() {
            return subjectPath + "." + configKey;
        }
    }
}
