package org.p4sched.onos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.p4sched.onos.World.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.onosproject.cfg.ComponentConfigService;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.ComponentContext;
import org.p4sched.onos.pipeconf.PipeconfComponent;

class SchedulerComponentTest {
    @Test
    @SuppressWarnings("JdkObsolete") // OSGi's properties are a Dictionary
    void offersTheServiceWhileItIsActive() {
        OnosServices onos = new World("fdpa").services("a");
        SchedulerComponent component = new SchedulerComponent();
        component.coreService = onos.core;
        component.clusterService = onos.cluster;
        component.leadershipService = onos.leadership;
        component.deviceService = onos.devices;
        component.flowRuleService = onos.flowRules;
        component.groupService = onos.groups;
        component.networkConfigRegistry = onos.netcfg;
        component.pipeconfService = onos.pipeconfs;
        component.p4RuntimeController = onos.p4runtime;
        component.componentConfigService = proxy(ComponentConfigService.class, (method, arguments) -> null);
        List<Object> offered = new ArrayList<>();
        ServiceRegistration<?> registration = proxy(ServiceRegistration.class, (method, arguments) -> {
            offered.add(method);
            return null;
        });
        BundleContext bundle = proxy(BundleContext.class, (method, arguments) -> {
            offered.add(arguments[1]);
            return registration;
        });
        Dictionary<String, Object> properties = new Hashtable<>();
        ComponentContext context = proxy(
                ComponentContext.class, (method, arguments) -> method.equals("getProperties") ? properties : bundle);
        component.activate(context);
        assertInstanceOf(SchedulerService.class, offered.get(0));
        component.modified(context);
        assertEquals(1, offered.size(), "the folder is the same");
        properties.put("decisionLogFolder", "elsewhere");
        component.modified(context);
        assertEquals("unregister", offered.get(1));
        assertInstanceOf(SchedulerService.class, offered.get(2));
        component.deactivate();
        assertEquals("unregister", offered.get(3));
    }

    /** ONOS refuses a component with properties that it does not find here: name, type, default, description. */
    @Test
    void onosFindsTheDefinitionsOfTheProperties() throws IOException {
        assertTrue(definitions(SchedulerComponent.class).startsWith("decisionLogFolder|STRING||"));
        assertTrue(definitions(PipeconfComponent.class).startsWith("programFolder|STRING||"));
    }

    private static String definitions(Class<?> component) throws IOException {
        try (InputStream in = component.getResourceAsStream(component.getSimpleName() + ".cfgdef")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
