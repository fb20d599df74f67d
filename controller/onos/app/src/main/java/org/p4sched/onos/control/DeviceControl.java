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
 * Control of one switch, on its own thread. It works in rounds: it waits until this instance leads and the switch is
 * available, writes the configured rules, and then reads counters and decides ten times a second. It retries after a
 * failure, with a growing pause, and at once when ONOS reports a change.
 */
public final class DeviceControl implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceControl.class);
    /** Time between two reads of the counters. The laws' windows are chosen for it. */
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

    // only the thread uses the fields from here to `problem`
    private final List<CompletableFuture<Void>> waiting = new ArrayList<>();

    private ScheduledFuture<?> next;
    private long dueNs;
    private long pauseNs = FIRST_PAUSE_NS;
    private boolean configChanged = true;
    /** Whether to write all entries, because the switch may have lost some. */
    private boolean writeAll = true;

    private Settings settings;
    private Loop<?, ?, ?, ?> loop;
    private SwitchReader reader;
    /** The reason why the switch cannot do what the newest configuration says; null if it can. */
    private SettingsException refused;

    private boolean inForce;
    private String problem;

    private volatile View view = new View();

    /** The state that other threads see. */
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

    /** {@code logs} is the folder of the decision logs; empty for no logs. */
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

    /** Runs for leadership, and starts. */
    public void start() {
        onos.leadership.runForLeadership(topic(device));
        poke();
    }

    /** Starts a round now, because the leader or the availability of the switch may have changed. */
    public void poke() {
        execute(() -> {
            // the switch may have the missing port now
            configChanged |= refused != null;
            round();
        });
    }

    /**
     * Applies a changed configuration. {@code done} completes when the switch has it, or another instance is the
     * leader.
     */
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

    /** Runs one round, and schedules the next. */
    private void round() {
        if (next != null) {
            next.cancel(false);
        }
        long now = clock.getAsLong();
        try {
            if (!leads()) {
                pause(null);
                completeWaiting(null);
                return;
            }
            if (!onos.devices.isAvailable(device)) {
                writeAll = true;
                throw new SwitchException(
                        "is not available: not connected, without its pipeline, or another controller's;"
                                + " ONOS's log says which");
            }
            work();
            report(refused == null ? null : refused.getMessage());
            pauseNs = FIRST_PAUSE_NS;
            completeWaiting(refused);
            if (loop != null) {
                // a late round also delays the next ones
                dueNs = Math.max(dueNs + POLL_NS, clock.getAsLong());
                scheduleRound(dueNs - clock.getAsLong());
            }
        } catch (SwitchException | RuntimeException e) {
            pause(e.getMessage() == null ? e.toString() : e.getMessage());
            completeWaiting(e);
            LOG.debug("{}: round failed", device, e);
            scheduleRound(pauseNs);
            dueNs = now + pauseNs;
            pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        }
    }

    private void scheduleRound(long afterNs) {
        try {
            next = thread.schedule(this::round, Math.max(0, afterNs), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", device);
        }
    }

    private boolean leads() {
        return onos.cluster.getLocalNode().id().equals(onos.leadership.getLeader(topic(device)));
    }

    /** Writes the configured rules if necessary, and runs a step of the loop. */
    private void work() throws SwitchException {
        if (configChanged || writeAll) {
            refused = null;
            try {
                configure();
            } catch (SettingsException e) {
                if (loop == null) {
                    throw e;
                }
                // nothing was written, so the laws continue with the previous configuration
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
            throw new SwitchException("no scheduler is configured");
        }
        Settings newSettings = config.settings();
        SwitchReader newReader = SwitchReader.of(device, onos.p4runtime, onos.pipeconfs, onos.netcfg);
        SwitchCheck.check(newSettings, device, newReader.pipeconf(), onos.devices);
        if (newReader.names().target() == Target.TNA) {
            LengthReports.setUp(onos.groups, app, device);
        }
        Rules rules = new Rules(app, device, newReader.names());
        Difference difference = Difference.between(store.present(), newSettings, rules);
        store.write(writeAll ? difference.everything() : difference.added(), difference.removed());
        boolean sameLaws = loop != null && !writeAll && sameLaws(settings, newSettings);
        reader = newReader;
        settings = newSettings;
        if (!sameLaws) {
            endLoop();
            if (!newSettings.ports().isEmpty()) {
                loop = Loop.of(newSettings, new Loop.Plant(reader, rules, store), logs, clock);
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

    /** Ends the loop. The next one takes over the parameters on the switch. */
    private void pause(String why) {
        endLoop();
        inForce = false;
        // another instance may write meanwhile
        configChanged = true;
        writeAll = true;
        report(why);
    }

    private void endLoop() {
        if (loop != null) {
            loop.close();
            loop = null;
        }
    }

    /** Stores the current problem, if any, and logs it once. */
    private void report(String why) {
        if (why != null && !why.equals(problem)) {
            LOG.warn("{}: {}", device, why);
        } else if (why == null && problem != null && inForce) {
            LOG.info("{}: runs the configured scheduler", device);
        }
        problem = why;
        view = new View(settings, loop, inForce, problem);
    }

    private void completeWaiting(Exception failure) {
        for (CompletableFuture<Void> each : waiting) {
            if (failure == null) {
                each.complete(null);
            } else {
                each.completeExceptionally(failure);
            }
        }
        waiting.clear();
    }

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

    public List<Map<String, Object>> decisions(int port, int last) {
        Loop<?, ?, ?, ?> seen = view.loop;
        Tuning<?, ?, ?, ?> tuning = seen == null ? null : seen.tunings().get(port);
        return tuning == null ? List.of() : tuning.last(last);
    }

    /** Removes all rules except the parameters, and ends. {@code done} completes when the switch has confirmed it. */
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

    /** Ends, and leaves the leadership to another instance. The switch keeps its rules and parameters. */
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
            completeWaiting(new SwitchException("its control has ended"));
            onos.leadership.withdraw(topic(device));
        });
        thread.shutdown();
    }

    /** Waits until it has ended, but at most a few seconds: a switch may not answer. */
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
