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
 * Services that ONOS's managers ask for and that one process has no use for: other nodes, applications to install, upgrades.
 * They do nothing and know nothing.
 */
final class Absent {
    private Absent() {}

    static void addTo(Components onos) {
        onos.add(new OneVersion());
        onos.add(silent(ApplicationService.class));
        onos.add(silent(ComponentService.class));
        onos.add(silent(ClusterCommunicationService.class));
    }

    private static <T> T silent(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            Class<?> answer = method.getReturnType();
            if (answer == boolean.class) {
                return false;
            }
            return Collection.class.isAssignableFrom(answer) && answer.isAssignableFrom(Set.class) ? Set.of() : null;
        }));
    }

    /** The version that runs, on the only node. */
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
