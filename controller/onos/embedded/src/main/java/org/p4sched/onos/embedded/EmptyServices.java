package org.p4sched.onos.embedded;

import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.Set;
import org.onosproject.app.ApplicationService;
import org.onosproject.component.ComponentService;
import org.onosproject.core.Version;
import org.onosproject.core.VersionService;
import org.onosproject.store.cluster.messaging.ClusterCommunicationService;
import org.onosproject.upgrade.Upgrade;
import org.onosproject.upgrade.UpgradeEventListener;
import org.onosproject.upgrade.UpgradeService;

/**
 * Empty implementations of services that ONOS's managers require but a single process does not use: other nodes,
 * installation of applications, upgrades.
 */
final class EmptyServices {
    private EmptyServices() {}

    static void addTo(Components onos) {
        onos.add(new OneVersion());
        onos.add(empty(ApplicationService.class));
        onos.add(empty(ComponentService.class));
        onos.add(empty(ClusterCommunicationService.class));
    }

    private static <T> T empty(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> {
            Class<?> answer = method.getReturnType();
            if (answer == boolean.class) {
                return false;
            }
            return Collection.class.isAssignableFrom(answer) && answer.isAssignableFrom(Set.class) ? Set.of() : null;
        }));
    }

    /** The version of the only node. */
    private static final class OneVersion implements VersionService, UpgradeService {
        private static final Version VERSION = Version.version(2, 5, "6", "embedded");

        @Override
        public Version version() {
            return VERSION;
        }

        @Override
        public Upgrade getState() {
            return new Upgrade(VERSION, VERSION, Upgrade.Status.INACTIVE);
        }

        @Override
        public boolean isUpgrading() {
            return false;
        }

        @Override
        public Version getVersion() {
            return VERSION;
        }

        @Override
        public boolean isLocalActive() {
            return true;
        }

        @Override
        public boolean isLocalUpgraded() {
            return false;
        }

        @Override
        public void addListener(UpgradeEventListener listener) {}

        @Override
        public void removeListener(UpgradeEventListener listener) {}
    }
}
