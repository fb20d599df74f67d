package org.p4sched.onos.control;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.onlab.util.Tools;
import org.onosproject.cluster.NodeId;
import org.onosproject.core.ApplicationId;
import org.onosproject.net.DeviceId;
import org.p4sched.laws.Target;
import org.p4sched.onos.DeviceStatus;
import org.p4sched.onos.OnosServices;
import org.p4sched.onos.PortStatus;
import org.p4sched.onos.config.SchedulerConfig;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.SettingsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One switch from its configuration to its parameters. A thread of its own does everything with it, round by round: wait
 * until this instance leads and the switch is there, write what is asked of it, then read and decide ten times a second.
 * What fails is tried again, with longer and longer pauses; when ONOS tells of a change, at once.
 */
public final class DeviceControl implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceControl.class);
    /** Between two reads of the counters; the windows of the laws are chosen for it. */
    private static final long POLL_NS = 100_000_000;

    private static final long FIRST_PAUSE_NS = 500_000_000;
    private static final long LONGEST_PAUSE_NS = 8_000_000_000L;
    private static final long END_S = 5;

    private final DeviceId device;
    private final OnosServices onos;
    private final ApplicationId app;
    private final Optional<Path> logs;
    private final LongSupplier clock;
    private final ScheduledExecutorService thread;
    private final RuleStore store;

    /** Below are the thread's own. */
    private final List<CompletableFuture<Void>> waiting = new ArrayList<>();

    private ScheduledFuture<?> next;
    private long dueNs;
    private long pauseNs = FIRST_PAUSE_NS;
    private boolean configChanged = true;
    /** The switch may have lost its entries, so all are written. */
    private boolean writeAll = true;

    private Settings settings;
    private Loop<?, ?, ?, ?> loop;
    private SwitchReader reader;
    /** What the switch cannot do of the newest configuration; none: it can do everything. */
    private SettingsException refused;

    private boolean inForce;
    private String problem;

    private volatile View view = new View();

    /** What other threads may see. */
    private static final class View {
        private final Settings settings;
        private final Loop<?, ?, ?, ?> loop;
        private final boolean inForce;
        private final String problem;

        View() {
            this(null, null, false, null);
        }

        View(Settings settings, Loop<?, ?, ?, ?> loop, boolean inForce, String problem) {
            this.settings = settings;
            this.loop = loop;
            this.inForce = inForce;
            this.problem = problem;
        }
    }

    /** Control of this switch, from {@link #start} on. Decisions are logged in files of the folder. */
    public DeviceControl(
            DeviceId device, OnosServices onos, ApplicationId app, Optional<Path> logs, LongSupplier clock) {
        this.device = device;
        this.onos = onos;
        this.app = app;
        this.logs = logs;
        this.clock = clock;
        this.store = new RuleStore(onos.flowRules, app, device);
        this.thread = Executors.newSingleThreadScheduledExecutor(
                Tools.groupedThreads("p4sched", device.toString().replace(':', '-')));
    }

    /** The topic for which instances of ONOS elect a leader. */
    public static String topic(DeviceId device) {
        return "p4sched-" + device;
    }

    /** Runs for leadership and begins. */
    public void start() {
        onos.leadership.runForLeadership(topic(device));
        poke();
    }

    /** Something may have changed but for the configuration: another leader, or the switch came or went. */
    public void poke() {
        execute(() -> {
            // perhaps the switch has the missing port now
            configChanged |= refused != null;
            round();
        });
    }

    /** The configuration has changed. Done when the switch has it, or when another instance will do it. */
    public void reconfigure(CompletableFuture<Void> done) {
        boolean accepted = execute(() -> {
            configChanged = true;
            waiting.add(done);
            round();
        });
        if (!accepted) {
            done.completeExceptionally(new SwitchException("is no longer configured"));
        }
    }

    private boolean execute(Runnable task) {
        try {
            thread.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", device);
            return false;
        }
    }

    /** One round, and the next one is due. */
    private void round() {
        if (next != null) {
            next.cancel(false);
        }
        long now = clock.getAsLong();
        try {
            if (!leads()) {
                rest(null);
                finish(null);
                return;
            }
            if (!onos.devices.isAvailable(device)) {
                writeAll = true;
                throw new SwitchException(
                        "is not available: not connected, without its pipeline, or another controller's;"
                                + " ONOS's log says which");
            }
            work();
            tell(refused == null ? null : refused.getMessage());
            pauseNs = FIRST_PAUSE_NS;
            finish(refused);
            if (loop != null) {
                // after a late round the next ones keep their distance
                dueNs = Math.max(dueNs + POLL_NS, clock.getAsLong());
                again(dueNs - clock.getAsLong());
            }
        } catch (SwitchException | RuntimeException e) {
            rest(e.getMessage() == null ? e.toString() : e.getMessage());
            finish(e);
            LOG.debug("{}: round failed", device, e);
            again(pauseNs);
            dueNs = now + pauseNs;
            pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        }
    }

    private void again(long afterNs) {
        try {
            next = thread.schedule(this::round, Math.max(0, afterNs), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", device);
        }
    }

    private boolean leads() {
        return onos.cluster.getLocalNode().id().equals(onos.leadership.getLeader(topic(device)));
    }

    /** Writes what is asked, and takes a step of the loop. */
    private void work() throws SwitchException {
        if (configChanged || writeAll) {
            refused = null;
            try {
                configure();
            } catch (SettingsException e) {
                if (loop == null) {
                    throw e;
                }
                // nothing was written yet: the laws at work go on
                refused = e;
                configChanged = false;
            }
        }
        if (loop != null) {
            loop.step();
        }
        inForce = refused == null;
    }

    private void configure() throws SwitchException {
        SchedulerConfig config = onos.netcfg.getConfig(device, SchedulerConfig.class);
        if (config == null) {
            throw new SwitchException("nothing is asked of it");
        }
        Settings asked = config.settings();
        SwitchReader found = SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg);
        FitsSwitch.check(asked, device, found.pipeconf(), onos.devices);
        if (found.names().target() == Target.TNA) {
            LengthReports.letReport(onos.groups, app, device);
        }
        Rules rules = new Rules(app, device, found.names());
        Difference difference = Difference.between(store.present(), asked, rules);
        store.write(writeAll ? difference.everything() : difference.added(), difference.removed());
        boolean sameLaws = loop != null && !writeAll && sameLaws(settings, asked);
        reader = found;
        settings = asked;
        if (!sameLaws) {
            endLoop();
            if (!asked.ports().isEmpty()) {
                loop = Loop.of(asked, new Loop.Plant(reader, rules, store), logs, clock);
                loop.takeOver();
                dueNs = clock.getAsLong();
            }
        }
        configChanged = false;
        writeAll = false;
    }

    private static boolean sameLaws(Settings before, Settings now) {
        if (before.scheduler() != now.scheduler()
                || !before.ports().keySet().equals(now.ports().keySet())) {
            return false;
        }
        return now.ports().entrySet().stream().allMatch(entry -> entry.getValue()
                .configuration()
                .equals(before.ports().get(entry.getKey()).configuration()));
    }

    /** Decides no more. Whoever goes on takes over what is in force then. */
    private void rest(String why) {
        endLoop();
        inForce = false;
        // another instance may write meanwhile
        configChanged = true;
        writeAll = true;
        tell(why);
    }

    private void endLoop() {
        if (loop != null) {
            loop.close();
            loop = null;
        }
    }

    /** Notes what is wrong, and logs it once. */
    private void tell(String why) {
        if (why != null && !why.equals(problem)) {
            LOG.warn("{}: {}", device, why);
        } else if (why == null && problem != null && inForce) {
            LOG.info("{}: does what is asked of it", device);
        }
        problem = why;
        view = new View(settings, loop, inForce, problem);
    }

    private void finish(Exception failure) {
        for (CompletableFuture<Void> each : waiting) {
            if (failure == null) {
                each.complete(null);
            } else {
                each.completeExceptionally(failure);
            }
        }
        waiting.clear();
    }

    /** How it stands. */
    public DeviceStatus status() {
        View seen = view;
        List<PortStatus> ports = new ArrayList<>();
        if (seen.loop != null) {
            seen.loop
                    .tunings()
                    .forEach((port, tuning) -> ports.add(new PortStatus(
                            port,
                            tuning.rounds(),
                            tuning.writes(),
                            tuning.inForce()
                                    .map(parameters -> parameters.actionData())
                                    .orElse(Map.of()))));
        }
        NodeId leader = onos.leadership.getLeader(topic(device));
        return new DeviceStatus(
                device,
                seen.settings == null ? null : seen.settings.scheduler(),
                leader,
                onos.devices.isAvailable(device),
                seen.inForce,
                seen.problem,
                ports);
    }

    /** The last decisions on a port. */
    public List<Map<String, Object>> decisions(int port, int last) {
        Loop<?, ?, ?, ?> seen = view.loop;
        Tuning<?, ?, ?, ?> tuning = seen == null ? null : seen.tunings().get(port);
        return tuning == null ? List.of() : tuning.last(last);
    }

    /** Removes the rules of this switch but for the parameters, and ends. Done when the switch has confirmed it. */
    public void remove(CompletableFuture<Void> done) {
        execute(() -> {
            try {
                if (leads() && settings != null && reader != null) {
                    Rules rules = new Rules(app, device, reader.names());
                    Difference difference = Difference.toNothing(store.present(), settings.scheduler(), rules);
                    store.write(List.of(), difference.removed());
                }
                done.complete(null);
            } catch (SwitchException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        close();
    }

    /** Ends, and leaves the leadership to another instance. The switch goes on with what was written last. */
    @Override
    public void close() {
        if (thread.isShutdown()) {
            return;
        }
        execute(() -> {
            if (next != null) {
                next.cancel(false);
            }
            endLoop();
            finish(new SwitchException("its control was ended"));
            onos.leadership.withdraw(topic(device));
        });
        thread.shutdown();
    }

    /** Waits until it has ended, for a few seconds at most: a switch may not answer. */
    public void awaitEnd() {
        try {
            if (!thread.awaitTermination(END_S, TimeUnit.SECONDS)) {
                LOG.warn("{}: does not answer while its control ends", device);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
