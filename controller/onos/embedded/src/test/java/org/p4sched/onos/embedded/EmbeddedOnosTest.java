package org.p4sched.onos.embedded;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.core.ApplicationId;
import org.onosproject.core.CoreService;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.config.basics.BasicDeviceConfig;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.DefaultFlowRule;
import org.onosproject.net.flow.DefaultTrafficSelector;
import org.onosproject.net.flow.DefaultTrafficTreatment;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.flow.TrafficSelector;
import org.onosproject.net.flow.criteria.PiCriterion;
import org.onosproject.net.pi.model.PiActionId;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;

/** ONOS's core with the embedded switch below it, over loopback. */
class EmbeddedOnosTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final PiTableId PARAMETERS = PiTableId.of("EverythingIngress.parameters");
    private static final PiTableId ROUTES = PiTableId.of("EverythingIngress.routes");

    @TempDir
    static Path folder;

    private static EmbeddedOnos onos;
    private static PiPipeconf everything;
    private static ApplicationId app;

    private DeviceId device;
    private Switch s1;

    @BeforeAll
    static void startOnos() {
        new Switch().close();
        everything = Program.pipeconf("switch/device/tests/programs/everything.p4", folder);
        onos = new EmbeddedOnos();
        app = onos.get(CoreService.class).registerApplication("org.p4sched.test");
        onos.get(PiPipeconfService.class).register(everything);
    }

    @AfterAll
    static void stopOnos() {
        if (onos != null) {
            onos.close();
        }
    }

    @BeforeEach
    void newSwitch() {
        s1 = new Switch();
        device = DeviceId.deviceId("device:s" + s1.port());
    }

    @AfterEach
    void forgetSwitch() {
        onos.get(NetworkConfigRegistry.class).removeConfig(device);
        s1.close();
    }

    @Test
    void aSwitchGetsItsPipelineAndItsEntries() {
        s1.start();
        configure();
        awaitAvailable();
        FlowRule route = rule(ROUTES, prefix("10.0.1.0/24"), action("forward", "port", 3));
        onos.get(FlowRuleService.class).applyFlowRules(route);
        awaitAdded(route);
        assertEquals(1, entries(ROUTES).size());
    }

    @Test
    void aRuleWithoutAMatchModifiesTheDefaultActionEachTime() {
        s1.start();
        configure();
        awaitAvailable();
        for (int user = 100; user < 110; user++) {
            FlowRule parameters =
                    rule(PARAMETERS, DefaultTrafficSelector.emptySelector(), action("set_user", "user", user));
            onos.get(FlowRuleService.class).applyFlowRules(parameters);
            int wanted = user;
            await().atMost(PATIENCE).until(() -> defaultUser() == wanted);
        }
    }

    private void configure() {
        ObjectNode basic = JsonNodeFactory.instance.objectNode();
        basic.put("managementAddress", s1.address())
                .put("driver", "bmv2")
                .put("pipeconf", everything.id().id());
        onos.get(NetworkConfigRegistry.class).applyConfig(device, BasicDeviceConfig.class, basic);
    }

    private void awaitAvailable() {
        await().atMost(PATIENCE).until(() -> onos.get(DeviceService.class).isAvailable(device));
    }

    private void awaitAdded(FlowRule rule) {
        await().atMost(PATIENCE).until(() -> {
            FlowEntry entry = onos.get(FlowRuleService.class).getFlowEntry(rule);
            return entry != null && entry.state() == FlowEntry.FlowEntryState.ADDED;
        });
    }

    private Collection<PiTableEntry> entries(PiTableId table) {
        return onos.get(P4RuntimeController.class)
                .get(device)
                .read(1, everything)
                .tableEntries(table)
                .submitSync()
                .all(PiTableEntry.class);
    }

    private int defaultUser() {
        Collection<PiTableEntry> found = onos.get(P4RuntimeController.class)
                .get(device)
                .read(1, everything)
                .defaultTableEntry(PARAMETERS)
                .submitSync()
                .all(PiTableEntry.class);
        assertEquals(1, found.size());
        PiAction action = (PiAction) found.iterator().next().action();
        assertTrue(action.id().id().endsWith("set_user"));
        return new BigInteger(1, action.parameters().iterator().next().value().asArray()).intValue();
    }

    private FlowRule rule(PiTableId table, TrafficSelector selector, PiAction action) {
        return DefaultFlowRule.builder()
                .forDevice(device)
                .forTable(table)
                .withSelector(selector)
                .withTreatment(
                        DefaultTrafficTreatment.builder().piTableAction(action).build())
                .withPriority(10)
                .fromApp(app)
                .makePermanent()
                .build();
    }

    private static TrafficSelector prefix(String prefix) {
        org.onlab.packet.Ip4Prefix ip = org.onlab.packet.Ip4Prefix.valueOf(prefix);
        return DefaultTrafficSelector.builder()
                .matchPi(PiCriterion.builder()
                        .matchLpm(
                                PiMatchFieldId.of("hdr.ipv4.dst_addr"),
                                ip.address().toOctets(),
                                ip.prefixLength())
                        .build())
                .build();
    }

    private static PiAction action(String name, String parameter, int value) {
        return PiAction.builder()
                .withId(PiActionId.of("EverythingIngress." + name))
                .withParameter(new PiActionParam(PiActionParamId.of(parameter), ImmutableByteSequence.copyFrom(value)))
                .build();
    }
}
