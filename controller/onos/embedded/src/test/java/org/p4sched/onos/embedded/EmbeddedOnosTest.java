package org.p4sched.onos.embedded;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.rpc.Code;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.onlab.packet.Ethernet;
import org.onlab.packet.Ip4Prefix;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.core.ApplicationId;
import org.onosproject.core.CoreService;
import org.onosproject.mastership.MastershipService;
import org.onosproject.net.DeviceId;
import org.onosproject.net.MastershipRole;
import org.onosproject.net.PortNumber;
import org.onosproject.net.config.NetworkConfigRegistry;
import org.onosproject.net.config.basics.BasicDeviceConfig;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.flow.DefaultFlowRule;
import org.onosproject.net.flow.DefaultTrafficSelector;
import org.onosproject.net.flow.DefaultTrafficTreatment;
import org.onosproject.net.flow.FlowEntry;
import org.onosproject.net.flow.FlowRule;
import org.onosproject.net.flow.FlowRuleOperations;
import org.onosproject.net.flow.FlowRuleOperationsContext;
import org.onosproject.net.flow.FlowRuleProgrammable;
import org.onosproject.net.flow.FlowRuleService;
import org.onosproject.net.flow.TrafficSelector;
import org.onosproject.net.flow.criteria.PiCriterion;
import org.onosproject.net.group.DefaultGroupBucket;
import org.onosproject.net.group.DefaultGroupDescription;
import org.onosproject.net.group.DefaultGroupKey;
import org.onosproject.net.group.Group;
import org.onosproject.net.group.GroupBucket;
import org.onosproject.net.group.GroupBuckets;
import org.onosproject.net.group.GroupDescription;
import org.onosproject.net.group.GroupKey;
import org.onosproject.net.group.GroupService;
import org.onosproject.net.packet.DefaultOutboundPacket;
import org.onosproject.net.packet.InboundPacket;
import org.onosproject.net.packet.PacketProcessor;
import org.onosproject.net.packet.PacketService;
import org.onosproject.net.pi.model.PiActionId;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiActionProfileId;
import org.onosproject.net.pi.model.PiCounterId;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.onosproject.net.pi.runtime.PiActionProfileGroup;
import org.onosproject.net.pi.runtime.PiCounterCell;
import org.onosproject.net.pi.runtime.PiCounterCellHandle;
import org.onosproject.net.pi.runtime.PiCounterCellId;
import org.onosproject.net.pi.runtime.PiGroupKey;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.p4sched.onos.embedded.driver.Adoption;
import p4.v1.P4RuntimeOuterClass.CloneSessionEntry;
import p4.v1.P4RuntimeOuterClass.Entity;
import p4.v1.P4RuntimeOuterClass.PacketReplicationEngineEntry;

/** ONOS's core with the embedded switch below it, over loopback. */
class EmbeddedOnosTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final PiTableId PARAMETERS = PiTableId.of("EverythingIngress.parameters");
    private static final PiTableId ROUTES = PiTableId.of("EverythingIngress.routes");

    private static final int CPU_PORT = 510;

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

    @Test
    void pollsDoNotUndoChanges() throws Exception {
        s1.start();
        configure();
        awaitAvailable();
        FlowRuleProgrammable polled =
                onos.get(DeviceService.class).getDevice(device).as(FlowRuleProgrammable.class);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> polls = CompletableFuture.supplyAsync(() -> {
            int count = 0;
            while (!done.get()) {
                polled.getFlowEntries();
                count++;
            }
            return count;
        });
        for (int user = 100; user < 200; user++) {
            CompletableFuture<Void> written = new CompletableFuture<>();
            FlowRule parameters =
                    rule(PARAMETERS, DefaultTrafficSelector.emptySelector(), action("set_user", "user", user));
            onos.get(FlowRuleService.class)
                    .apply(FlowRuleOperations.builder().add(parameters).build(new FlowRuleOperationsContext() {
                        @Override
                        public void onSuccess(FlowRuleOperations operations) {
                            written.complete(null);
                        }
                    }));
            written.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertEquals(user, defaultUser());
        }
        done.set(true);
        assertTrue(polls.get(PATIENCE.toSeconds(), TimeUnit.SECONDS) > 0);
        assertEquals(199, defaultUser());
    }

    @Test
    void aRestartedSwitchGetsItsEntriesAgain() {
        s1.start();
        configure();
        awaitAvailable();
        FlowRule route = rule(ROUTES, prefix("10.0.1.0/24"), action("forward", "port", 3));
        onos.get(FlowRuleService.class).applyFlowRules(route);
        awaitAdded(route);
        s1.stop();
        await().atMost(PATIENCE).until(() -> !onos.get(DeviceService.class).isAvailable(device));
        s1.start();
        awaitAvailable();
        await().atMost(PATIENCE).until(() -> entries(ROUTES).size() == 1);
    }

    @Test
    void onosMayStartBeforeTheSwitch() {
        configure();
        assertFalse(onos.get(DeviceService.class).isAvailable(device));
        s1.start();
        awaitAvailable();
    }

    @Test
    void anotherControllerWithAHigherElectionIdHasTheSwitchWhileItIsThere() throws InterruptedException {
        s1.start();
        configure();
        awaitAvailable();
        try (Rival rival = new Rival(s1.port(), 1000)) {
            assertEquals(Code.OK_VALUE, rival.ask().getStatus().getCode());
            await().atMost(PATIENCE).until(() -> !onos.get(DeviceService.class).isAvailable(device));
            assertEquals(MastershipRole.NONE, onos.get(MastershipService.class).getLocalRole(device));
        }
        awaitAvailable();
        FlowRule route = rule(ROUTES, prefix("10.0.1.0/24"), action("forward", "port", 3));
        onos.get(FlowRuleService.class).applyFlowRules(route);
        awaitAdded(route);
    }

    @Test
    void aPipeconfThatIsNotOfItsProgramIsRefusedAndTheSwitchStaysUnavailable() throws IOException {
        Path p4info = folder.resolve("everything.p4info.txtpb");
        Path stale = folder.resolve("stale.p4info.txtpb");
        Files.writeString(
                stale, Files.readString(p4info).replace("EverythingIngress.routes", "EverythingIngress.gone"));
        PiPipeconf mismatch = Program.pipeconf("org.p4sched.test.stale", folder.resolve("everything.json"), stale);
        onos.get(PiPipeconfService.class).register(mismatch);
        s1.start();
        configure(mismatch);
        P4RuntimeController controller = onos.get(P4RuntimeController.class);
        await().atMost(PATIENCE)
                .until(() ->
                        controller.get(device) != null && controller.get(device).isMaster(1));
        ByteBuffer json = ByteBuffer.wrap(Files.readAllBytes(folder.resolve("everything.json")));
        assertFalse(controller.get(device).setPipelineConfigSync(1, mismatch, json));
        assertFalse(onos.get(DeviceService.class).isAvailable(device));
    }

    @Test
    void entriesThatOnosDoesNotKnowStayUntilTheApplicationHasSettled() {
        s1.start();
        configure();
        awaitAvailable();
        FlowRule kept = rule(ROUTES, prefix("10.0.1.0/24"), action("forward", "port", 3));
        FlowRule gone = rule(ROUTES, prefix("10.0.2.0/24"), action("forward", "port", 4));
        onos.get(FlowRuleService.class).applyFlowRules(kept, gone);
        awaitAdded(kept);
        awaitAdded(gone);
        onos.get(NetworkConfigRegistry.class).removeConfig(device);
        // under another name, the switch is new to ONOS
        device = DeviceId.deviceId("device:again" + s1.port());
        configure();
        awaitAvailable();
        FlowRule again = rule(ROUTES, prefix("10.0.1.0/24"), action("forward", "port", 3));
        onos.get(FlowRuleService.class).applyFlowRules(again);
        awaitAdded(again);
        assertEquals(2, entries(ROUTES).size());
        onos.get(Adoption.class).end(device);
        await().atMost(PATIENCE).until(() -> entries(ROUTES).size() == 1);
    }

    @Test
    void aGroupBecomesAGroupOfTheActionProfile() {
        s1.start();
        configure();
        awaitAvailable();
        PiActionProfileId paths = PiActionProfileId.of("EverythingIngress.paths_selector");
        GroupBuckets buckets = new GroupBuckets(List.of(bucket(1), bucket(2)));
        GroupKey key = new PiGroupKey(PiTableId.of("EverythingIngress.paths"), paths, 7);
        onos.get(GroupService.class)
                .addGroup(new DefaultGroupDescription(device, GroupDescription.Type.SELECT, buckets, key, 7, app));
        await().atMost(PATIENCE).until(() -> {
            Group group = onos.get(GroupService.class).getGroup(device, key);
            return group != null && group.state() == Group.GroupState.ADDED;
        });
        Collection<PiActionProfileGroup> found = onos.get(P4RuntimeController.class)
                .get(device)
                .read(1, everything)
                .actionProfileGroups(paths)
                .submitSync()
                .all(PiActionProfileGroup.class);
        assertEquals(2, found.iterator().next().members().size());
    }

    @Test
    void aCloneGroupIsASessionAlsoAfterARestartOfTheSwitch() {
        s1.start();
        configure();
        awaitAvailable();
        GroupBucket copy = DefaultGroupBucket.createCloneGroupBucket(DefaultTrafficTreatment.builder()
                .setOutput(PortNumber.portNumber(3))
                .build());
        GroupKey key = new DefaultGroupKey(new byte[] {1});
        onos.get(GroupService.class)
                .addGroup(new DefaultGroupDescription(
                        device, GroupDescription.Type.CLONE, new GroupBuckets(List.of(copy)), key, 1, app));
        try (Rival reader = new Rival(s1.port(), 1)) {
            await().atMost(PATIENCE).until(() -> hasCloneSession(reader));
            s1.stop();
            await().atMost(PATIENCE).until(() -> !onos.get(DeviceService.class).isAvailable(device));
            s1.start();
            awaitAvailable();
            await().atMost(PATIENCE).until(() -> hasCloneSession(reader));
        }
    }

    private static boolean hasCloneSession(Rival reader) {
        Entity all = Entity.newBuilder()
                .setPacketReplicationEngineEntry(PacketReplicationEngineEntry.newBuilder()
                        .setCloneSessionEntry(CloneSessionEntry.getDefaultInstance()))
                .build();
        return reader.read(all).stream()
                .anyMatch(entity -> entity.getPacketReplicationEngineEntry()
                                .getCloneSessionEntry()
                                .getSessionId()
                        == 1);
    }

    @Test
    void packetsGoOutAndComeInAndAreCounted() {
        s1.start();
        configure();
        awaitAvailable();
        BlockingQueue<InboundPacket> received = new LinkedBlockingQueue<>();
        PacketProcessor processor = context -> received.add(context.inPacket());
        onos.get(PacketService.class).addProcessor(processor, PacketProcessor.director(1));
        Ethernet frame = new Ethernet();
        frame.setDestinationMACAddress("00:00:00:00:00:02")
                .setSourceMACAddress("00:00:00:00:00:01")
                .setEtherType((short) 0x1234);
        onos.get(PacketService.class)
                .emit(new DefaultOutboundPacket(
                        device,
                        DefaultTrafficTreatment.builder()
                                .setOutput(PortNumber.portNumber(CPU_PORT))
                                .build(),
                        ByteBuffer.wrap(frame.serialize())));
        await().atMost(PATIENCE).until(() -> !received.isEmpty());
        onos.get(PacketService.class).removeProcessor(processor);
        assertEquals(frame.getSourceMAC(), received.peek().parsed().getSourceMAC());
        Collection<PiCounterCell> cells = onos.get(P4RuntimeController.class)
                .get(device)
                .read(1, everything)
                .handles(List.of(PiCounterCellHandle.of(
                        device,
                        PiCounterCellId.ofIndirect(PiCounterId.of("EverythingIngress.arrivals"), CPU_PORT % 8))))
                .submitSync()
                .all(PiCounterCell.class);
        assertEquals(1, cells.iterator().next().data().packets());
    }

    private static GroupBucket bucket(int port) {
        return DefaultGroupBucket.createSelectGroupBucket(DefaultTrafficTreatment.builder()
                .piTableAction(action("forward", "port", port))
                .build());
    }

    private void configure() {
        configure(everything);
    }

    private void configure(PiPipeconf pipeconf) {
        ObjectNode basic = JsonNodeFactory.instance.objectNode();
        basic.put("managementAddress", s1.address())
                .put("driver", "bmv2")
                .put("pipeconf", pipeconf.id().id());
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
        Ip4Prefix ip = Ip4Prefix.valueOf(prefix);
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
