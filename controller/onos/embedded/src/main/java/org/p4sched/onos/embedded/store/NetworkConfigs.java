package org.p4sched.onos.embedded.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.onosproject.net.config.Config;
import org.onosproject.net.config.ConfigFactory;
import org.onosproject.net.config.InvalidConfigException;
import org.onosproject.net.config.NetworkConfigEvent;
import org.onosproject.net.config.NetworkConfigStore;
import org.onosproject.net.config.NetworkConfigStoreDelegate;
import org.onosproject.store.AbstractStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Store of the network configuration, in memory. ONOS has this store only distributed.
 *
 * <p>A configuration waits under its key until its factory is registered. All state is guarded by {@code this}; events
 * are sent after the change.
 */
@SuppressWarnings({"rawtypes", "unchecked"}) // ONOS's factories and events are raw
public final class NetworkConfigs extends AbstractStore<NetworkConfigEvent, NetworkConfigStoreDelegate>
        implements NetworkConfigStore {
    private static final Logger log = LoggerFactory.getLogger(NetworkConfigs.class);

    private final ObjectMapper mapper = new ObjectMapper();
    private final Map<Class, ConfigFactory> factories = new LinkedHashMap<>();
    private final Map<Object, Map<Class, JsonNode>> configs = new LinkedHashMap<>();
    private final Map<Object, Map<String, JsonNode>> waiting = new LinkedHashMap<>();

    @Override
    public void addConfigFactory(ConfigFactory factory) {
        Map<Object, JsonNode> ready = new LinkedHashMap<>();
        synchronized (this) {
            factories.put(factory.configClass(), factory);
            waiting.forEach((subject, byKey) -> {
                JsonNode json = isSubject(factory, subject) ? byKey.remove(factory.configKey()) : null;
                if (json != null) {
                    ready.put(subject, json);
                }
            });
        }
        notifyDelegate(new NetworkConfigEvent(
                NetworkConfigEvent.Type.CONFIG_REGISTERED, factory.configKey(), factory.configClass()));
        ready.forEach((subject, json) -> {
            try {
                applyConfig(subject, factory.configClass(), json);
            } catch (IllegalArgumentException e) {
                log.error("{} of {}: {}", factory.configKey(), subject, reason(e));
            }
        });
    }

    @Override
    public void removeConfigFactory(ConfigFactory factory) {
        synchronized (this) {
            factories.remove(factory.configClass());
            configs.forEach((subject, byClass) -> {
                JsonNode json = byClass.remove(factory.configClass());
                if (json != null) {
                    queueConfig(subject, factory.configKey(), json);
                }
            });
        }
        notifyDelegate(new NetworkConfigEvent(
                NetworkConfigEvent.Type.CONFIG_UNREGISTERED, factory.configKey(), factory.configClass()));
    }

    @Override
    public synchronized <S, C extends Config<S>> ConfigFactory<S, C> getConfigFactory(Class<C> configClass) {
        return factories.get(configClass);
    }

    @Override
    public synchronized <S> Set<S> getSubjects(Class<S> subjectClass) {
        return configs.entrySet().stream()
                .filter(subject -> subjectClass.isInstance(subject.getKey())
                        && !subject.getValue().isEmpty())
                .map(subject -> subjectClass.cast(subject.getKey()))
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public synchronized <S, C extends Config<S>> Set<S> getSubjects(Class<S> subjectClass, Class<C> configClass) {
        return getSubjects(subjectClass).stream()
                .filter(subject -> configs.get(subject).containsKey(configClass))
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public synchronized <S> Set<Class<? extends Config<S>>> getConfigClasses(S subject) {
        return configs.getOrDefault(subject, Map.of()).keySet().stream()
                .map(type -> (Class<? extends Config<S>>) type)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public synchronized <S, C extends Config<S>> C getConfig(S subject, Class<C> configClass) {
        JsonNode json = configs.getOrDefault(subject, Map.of()).get(configClass);
        return json == null ? null : config(subject, configClass, json);
    }

    @Override
    public <S, C extends Config<S>> C createConfig(S subject, Class<C> configClass) {
        C existing = getConfig(subject, configClass);
        if (existing != null) {
            return existing;
        }
        ConfigFactory<S, C> factory = getConfigFactory(configClass);
        JsonNode empty = factory.isList() ? mapper.createArrayNode() : mapper.createObjectNode();
        put(subject, configClass, empty);
        return config(subject, configClass, empty);
    }

    @Override
    public <S, C extends Config<S>> C applyConfig(S subject, Class<C> configClass, JsonNode json) {
        C config = config(subject, configClass, json);
        try {
            if (!config.isValid()) {
                throw new IllegalArgumentException("not valid");
            }
        } catch (RuntimeException e) {
            ConfigFactory<S, C> factory = getConfigFactory(configClass);
            throw new InvalidConfigException(
                    factory.subjectFactory().subjectClassKey(),
                    factory.subjectFactory().subjectKey(subject),
                    factory.configKey(),
                    e);
        }
        put(subject, configClass, json);
        return config;
    }

    @Override
    public <S, C extends Config<S>> void clearConfig(S subject, Class<C> configClass) {
        Config previous = getConfig(subject, configClass);
        if (previous == null) {
            return;
        }
        synchronized (this) {
            configs.get(subject).remove(configClass);
        }
        notifyDelegate(
                new NetworkConfigEvent(NetworkConfigEvent.Type.CONFIG_REMOVED, subject, null, previous, configClass));
    }

    @Override
    public <S> void clearConfig(S subject) {
        List<Class> present;
        synchronized (this) {
            present = List.copyOf(configs.getOrDefault(subject, Map.of()).keySet());
            waiting.remove(subject);
        }
        present.forEach(configClass -> clearConfig(subject, configClass));
    }

    @Override
    public <S> void clearConfig() {
        List<Object> subjects;
        synchronized (this) {
            subjects = List.copyOf(configs.keySet());
            waiting.clear();
        }
        subjects.forEach(this::clearConfig);
    }

    @Override
    public synchronized <S> void queueConfig(S subject, String configKey, JsonNode json) {
        waiting.computeIfAbsent(subject, s -> new LinkedHashMap<>()).put(configKey, json);
    }

    @Override
    public synchronized <S> void clearQueuedConfig(S subject, String configKey) {
        waiting.getOrDefault(subject, new LinkedHashMap<>()).remove(configKey);
    }

    private void put(Object subject, Class configClass, JsonNode json) {
        Config previous = getConfig(subject, configClass);
        if (previous != null && Objects.equals(previous.node(), json)) {
            return;
        }
        Config config = config(subject, configClass, json);
        synchronized (this) {
            configs.computeIfAbsent(subject, s -> new LinkedHashMap<>()).put(configClass, json);
        }
        NetworkConfigEvent.Type type =
                previous == null ? NetworkConfigEvent.Type.CONFIG_ADDED : NetworkConfigEvent.Type.CONFIG_UPDATED;
        notifyDelegate(new NetworkConfigEvent(type, subject, config, previous, configClass));
    }

    private <S, C extends Config<S>> C config(S subject, Class<C> configClass, JsonNode json) {
        ConfigFactory<S, C> factory = getConfigFactory(configClass);
        if (factory.isList() ? !json.isArray() : !json.isObject()) {
            throw new IllegalArgumentException(
                    factory.configKey() + " must be " + (factory.isList() ? "a list" : "an object"));
        }
        C config = factory.createConfig();
        config.init(
                subject,
                factory.configKey(),
                json.deepCopy(),
                mapper,
                changed -> put(changed.subject(), changed.getClass(), changed.node()));
        return config;
    }

    private static boolean isSubject(ConfigFactory factory, Object subject) {
        return factory.subjectFactory().subjectClass().isInstance(subject);
    }

    private static String reason(Throwable e) {
        return e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    }
}
