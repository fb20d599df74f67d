package org.p4sched.onos.embedded.store;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.onlab.util.KryoNamespace;
import org.onosproject.cluster.NodeId;
import org.onosproject.store.Timestamp;
import org.onosproject.store.service.EventuallyConsistentMap;
import org.onosproject.store.service.EventuallyConsistentMapAdapter;
import org.onosproject.store.service.EventuallyConsistentMapBuilder;
import org.onosproject.store.service.EventuallyConsistentMapEvent;
import org.onosproject.store.service.EventuallyConsistentMapListener;
import org.onosproject.store.service.TestStorageService;

/**
 * ONOS's distributed primitives for one node, from its test jar. Its eventually consistent map is not thread-safe, but
 * several threads use the mirrors of the P4Runtime drivers. So this class has its own map.
 */
public final class SharedMaps extends TestStorageService {
    @Override
    public <K, V> EventuallyConsistentMapBuilder<K, V> eventuallyConsistentMapBuilder() {
        return new MapBuilder<>();
    }

    private static final class LocalMap<K, V> extends EventuallyConsistentMapAdapter<K, V> {
        private final String name;
        private final Map<K, V> map = new ConcurrentHashMap<>();
        private final List<EventuallyConsistentMapListener<K, V>> listeners = new CopyOnWriteArrayList<>();

        LocalMap(String name) {
            this.name = name;
        }

        @Override
        public V get(K key) {
            return map.get(key);
        }

        @Override
        public void put(K key, V value) {
            map.put(key, value);
            notifyListeners(EventuallyConsistentMapEvent.Type.PUT, key, value);
        }

        @Override
        public V remove(K key) {
            V removed = map.remove(key);
            if (removed != null) {
                notifyListeners(EventuallyConsistentMapEvent.Type.REMOVE, key, removed);
            }
            return removed;
        }

        @Override
        public boolean containsKey(K key) {
            return map.containsKey(key);
        }

        @Override
        public int size() {
            return map.size();
        }

        @Override
        public boolean isEmpty() {
            return map.isEmpty();
        }

        @Override
        public Set<K> keySet() {
            return map.keySet();
        }

        @Override
        public Collection<V> values() {
            return map.values();
        }

        @Override
        public Set<Map.Entry<K, V>> entrySet() {
            return map.entrySet();
        }

        @Override
        public void clear() {
            List.copyOf(map.keySet()).forEach(this::remove);
        }

        @Override
        public void addListener(EventuallyConsistentMapListener<K, V> listener) {
            listeners.add(listener);
        }

        @Override
        public void removeListener(EventuallyConsistentMapListener<K, V> listener) {
            listeners.remove(listener);
        }

        private void notifyListeners(EventuallyConsistentMapEvent.Type type, K key, V value) {
            EventuallyConsistentMapEvent<K, V> event = new EventuallyConsistentMapEvent<>(name, type, key, value);
            listeners.forEach(listener -> listener.event(event));
        }
    }

    /** Ignores all options except the name: the others concern other nodes. */
    private static final class MapBuilder<K, V> implements EventuallyConsistentMapBuilder<K, V> {
        private String name = "";

        @Override
        public MapBuilder<K, V> withName(String newName) {
            name = newName;
            return this;
        }

        @Override
        public MapBuilder<K, V> withSerializer(KryoNamespace.Builder serializer) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withSerializer(KryoNamespace serializer) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withTimestampProvider(BiFunction<K, V, Timestamp> timestamps) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withEventExecutor(ExecutorService executor) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withCommunicationExecutor(ExecutorService executor) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withBackgroundExecutor(ScheduledExecutorService executor) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withPeerUpdateFunction(BiFunction<K, V, Collection<NodeId>> peers) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withTombstonesDisabled() {
            return this;
        }

        @Override
        public MapBuilder<K, V> withAntiEntropyPeriod(long period, TimeUnit unit) {
            return this;
        }

        @Override
        public MapBuilder<K, V> withFasterConvergence() {
            return this;
        }

        @Override
        public MapBuilder<K, V> withPersistence() {
            return this;
        }

        @Override
        public EventuallyConsistentMap<K, V> build() {
            return new LocalMap<>(name);
        }
    }
}
