package org.p4sched.onos.embedded;

import java.util.Map;
import org.onlab.osgi.ServiceDirectory;
import org.onosproject.cfg.ComponentConfigAdapter;
import org.onosproject.cluster.impl.ClusterManager;
import org.onosproject.cluster.impl.LeadershipManager;
import org.onosproject.cluster.impl.MastershipManager;
import org.onosproject.core.impl.CoreManager;
import org.onosproject.drivers.p4runtime.P4RuntimeDriversLoader;
import org.onosproject.drivers.p4runtime.mirror.DistributedP4RuntimeActionProfileGroupMirror;
import org.onosproject.drivers.p4runtime.mirror.DistributedP4RuntimeActionProfileMemberMirror;
import org.onosproject.drivers.p4runtime.mirror.DistributedP4RuntimeDefaultEntryMirror;
import org.onosproject.drivers.p4runtime.mirror.DistributedP4RuntimePreEntryMirror;
import org.onosproject.drivers.p4runtime.mirror.DistributedP4RuntimeTableMirror;
import org.onosproject.event.impl.CoreEventDispatcher;
import org.onosproject.net.config.impl.BasicNetworkConfigs;
import org.onosproject.net.config.impl.NetworkConfigManager;
import org.onosproject.net.device.impl.DeviceManager;
import org.onosproject.net.driver.DefaultDriverData;
import org.onosproject.net.driver.DefaultDriverHandler;
import org.onosproject.net.driver.impl.DriverManager;
import org.onosproject.net.driver.impl.DriverRegistryManager;
import org.onosproject.net.flow.impl.FlowRuleManager;
import org.onosproject.net.flowobjective.impl.InOrderFlowObjectiveManager;
import org.onosproject.net.group.impl.GroupManager;
import org.onosproject.net.packet.impl.PacketManager;
import org.onosproject.net.pi.impl.PiPipeconfManager;
import org.onosproject.net.pi.impl.PiPipeconfWatchdogManager;
import org.onosproject.net.pi.impl.PiTranslationServiceImpl;
import org.onosproject.store.trivial.SimpleApplicationIdStore;
import org.onosproject.store.trivial.SimpleClusterStore;
import org.onosproject.store.trivial.SimpleGroupStore;
import org.onosproject.store.trivial.SimpleIdBlockStore;
import org.onosproject.store.trivial.SimpleMastershipStore;
import org.onosproject.store.trivial.SimplePacketStore;
import org.p4sched.onos.embedded.driver.Adoption;
import org.p4sched.onos.embedded.driver.Drivers;
import org.p4sched.onos.embedded.southbound.GrpcChannels;
import org.p4sched.onos.embedded.southbound.P4RuntimeConnections;
import org.p4sched.onos.embedded.store.Devices;
import org.p4sched.onos.embedded.store.FlowRules;
import org.p4sched.onos.embedded.store.Leaderships;
import org.p4sched.onos.embedded.store.NetworkConfigs;
import org.p4sched.onos.embedded.store.NextGroups;
import org.p4sched.onos.embedded.store.PipeconfBindings;
import org.p4sched.onos.embedded.store.SharedMaps;
import org.p4sched.onos.embedded.store.Translations;

/**
 * ONOS's core in this process, with P4Runtime switches. A process can have only one, because some of ONOS's state is
 * static.
 */
public final class EmbeddedOnos implements AutoCloseable {
    /** Time between two reads of all entries and groups, in seconds. */
    private static final String POLL_SECONDS = "5";

    private final Components components = new Components();

    /** Starts ONOS without devices; they come with the network configuration. */
    public EmbeddedOnos() {
        Handlers.use(components);
        addNode();
        addDevices();
        addRules();
        addSouthbound();
    }

    /** A service of ONOS by its interface. */
    public <T> T get(Class<T> service) {
        return components.get(service);
    }

    /** The services, for classes that look them up themselves. */
    public ServiceDirectory services() {
        return components;
    }

    @Override
    public void close() {
        components.stop();
    }

    private void addNode() {
        components.add(new CoreEventDispatcher());
        components.add(new SharedMaps());
        components.add(new ComponentConfigAdapter());
        EmptyServices.addTo(components);
        components.add(new SimpleClusterStore());
        components.add(new ClusterManager());
        components.add(new SimpleApplicationIdStore());
        components.add(new SimpleIdBlockStore());
        components.add(new CoreManager());
        components.add(new Leaderships());
        components.add(new LeadershipManager());
        components.add(new SimpleMastershipStore());
        components.add(new MastershipManager());
        components.add(new NetworkConfigs());
        components.add(new NetworkConfigManager());
        components.add(new BasicNetworkConfigs());
    }

    private void addDevices() {
        components.add(new Devices());
        components.add(new DeviceManager());
        components.add(new DriverRegistryManager());
        components.add(new PipeconfBindings());
        components.add(new PiPipeconfManager());
        components.add(new DriverManager());
        components.add(new PiPipeconfWatchdogManager());
    }

    private void addRules() {
        components.add(new Translations.OfFlowRules());
        components.add(new Translations.OfGroups());
        components.add(new Translations.OfReplicationGroups());
        components.add(new Translations.OfMeters());
        components.add(new PiTranslationServiceImpl());
        components.add(new FlowRules());
        components.add(new FlowRuleManager(), Map.of("fallbackFlowPollFrequency", POLL_SECONDS));
        components.add(new SimpleGroupStore());
        components.add(new GroupManager(), Map.of("fallbackGroupPollFrequency", POLL_SECONDS));
        components.add(new NextGroups());
        components.add(new InOrderFlowObjectiveManager());
        components.add(new SimplePacketStore());
        components.add(new PacketManager());
    }

    private void addSouthbound() {
        components.add(new DistributedP4RuntimeTableMirror());
        components.add(new DistributedP4RuntimeDefaultEntryMirror());
        components.add(new DistributedP4RuntimeActionProfileGroupMirror());
        components.add(new DistributedP4RuntimeActionProfileMemberMirror());
        components.add(new DistributedP4RuntimePreEntryMirror());
        components.add(new GrpcChannels());
        components.add(new P4RuntimeConnections());
        components.add(new P4RuntimeDriversLoader());
        components.add(new Drivers());
        components.offer(Adoption.class, new Adoption());
        components.add(new PacketsIn());
        components.add(new DeviceWatches(components));
    }

    /** Sets the static directory in which drivers look up services; in Karaf it is that of OSGi. */
    private static final class Handlers extends DefaultDriverHandler {
        private Handlers() {
            super(new DefaultDriverData(null, null));
        }

        static void use(ServiceDirectory directory) {
            serviceDirectory = directory;
        }
    }
}
