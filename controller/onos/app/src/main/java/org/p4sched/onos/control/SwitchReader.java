package org.p4sched.onos.control;

import java.net.URI;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.DeviceId;
import org.onosproject.net.config.NetworkConfigService;
import org.onosproject.net.config.basics.BasicDeviceConfig;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;
import org.onosproject.net.pi.runtime.PiCounterCell;
import org.onosproject.net.pi.runtime.PiCounterCellData;
import org.onosproject.net.pi.runtime.PiCounterCellHandle;
import org.onosproject.net.pi.runtime.PiCounterCellId;
import org.onosproject.net.pi.runtime.PiExactFieldMatch;
import org.onosproject.net.pi.runtime.PiFieldMatch;
import org.onosproject.net.pi.runtime.PiTableAction;
import org.onosproject.net.pi.runtime.PiTableEntry;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeClient;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadRequest;
import org.onosproject.p4runtime.api.P4RuntimeReadClient.ReadResponse;
import org.p4sched.laws.Count;
import org.p4sched.laws.UserCounter;
import org.p4sched.onos.pipeconf.Names;

/**
 * Reads counters and parameters of one switch by ONOS's own P4Runtime client. ONOS's statistics have the same counters,
 * but a control law needs them ten times a second, with the time of the Read.
 */
public final class SwitchReader {
    private static final long TIMEOUT_S = 10;
    private static final Pattern P4_DEVICE_ID = Pattern.compile("(?:^|&)device_id=(\\d+)(?:&|$)");

    private final DeviceId device;
    private final PiPipeconf pipeconf;
    private final P4RuntimeClient client;
    private final long p4DeviceId;
    private final Names names;

    private SwitchReader(DeviceId device, PiPipeconf pipeconf, P4RuntimeClient client, long p4DeviceId) {
        this.device = device;
        this.pipeconf = pipeconf;
        this.client = client;
        this.p4DeviceId = p4DeviceId;
        this.names = new Names(pipeconf.pipelineModel());
    }

    /** A reader of a switch. Throws SwitchException if ONOS is not connected to it. */
    public static SwitchReader of(
            DeviceId device, P4RuntimeController controller, PiPipeconfService pipeconfs, NetworkConfigService netcfg)
            throws SwitchException {
        PiPipeconf pipeconf =
                pipeconfs.getPipeconf(device).orElseThrow(() -> new SwitchException("has no pipeconf that ONOS knows"));
        P4RuntimeClient client = controller.get(device);
        if (client == null) {
            throw new SwitchException("is not connected");
        }
        return new SwitchReader(device, pipeconf, client, p4DeviceId(device, netcfg));
    }

    /** The switch's P4Runtime device id, from the management address grpc://HOST:PORT?device_id=1. */
    private static long p4DeviceId(DeviceId device, NetworkConfigService netcfg) throws SwitchException {
        BasicDeviceConfig basic = netcfg.getConfig(device, BasicDeviceConfig.class);
        String address = basic == null ? null : basic.managementAddress();
        if (address != null) {
            String query = URI.create(address).getQuery();
            Matcher result = P4_DEVICE_ID.matcher(query == null ? "" : query);
            if (result.find()) {
                return Long.parseLong(result.group(1));
            }
        }
        throw new SwitchException("its management address " + address + " has no device_id");
    }

    /** The pipeconf of the switch. */
    public PiPipeconf pipeconf() {
        return pipeconf;
    }

    /** The names of its program. */
    public Names names() {
        return names;
    }

    /** Reads the bytes from each user: the sum of the direct counters of its entries. */
    public Map<Long, UserCounter> users() throws SwitchException {
        ReadResponse read = submit(request()
                .tableEntries(List.of(names.tableId(Names.USERS_BY_PREFIX), names.tableId(Names.USERS_BY_FLOW))));
        Map<Long, UserCounter> users = new TreeMap<>();
        for (PiTableEntry entry : read.all(PiTableEntry.class)) {
            Map<String, Long> data = actionData(entry);
            PiCounterCellData counted = entry.counter();
            long user = data.getOrDefault("user", 0L);
            if (user == 0 || counted == null) {
                continue;
            }
            UserCounter before = users.get(user);
            long sent = counted.bytes() + (before == null ? 0 : before.sentBytes);
            users.put(user, new UserCounter(sent, data.get("scale")));
        }
        return users;
    }

    /** Reads the action data of the table's default action; empty if it is another action. */
    public Optional<Map<String, Long>> defaultAction(String table, String action) throws SwitchException {
        for (PiTableEntry entry :
                submit(request().defaultTableEntry(names.tableId(table))).all(PiTableEntry.class)) {
            if (isAction(entry, action)) {
                return Optional.of(actionData(entry));
            }
        }
        return Optional.empty();
    }

    /** Reads the action data of the entries of a table whose key is the egress port, by port. */
    public Map<Integer, Map<String, Long>> portActions(String table, String action) throws SwitchException {
        PiTableId id = names.tableId(table);
        PiMatchFieldId key = names.field(table, Names.EGRESS_PORT);
        Map<Integer, Map<String, Long>> result = new TreeMap<>();
        for (PiTableEntry entry : submit(request().tableEntries(id)).all(PiTableEntry.class)) {
            Optional<PiFieldMatch> port = entry.matchKey().fieldMatch(key);
            if (port.isPresent() && isAction(entry, action)) {
                result.put((int) number(((PiExactFieldMatch) port.get()).value()), actionData(entry));
            }
        }
        return result;
    }

    /** Reads cells of indirect counters with one Read. Cells that the answer lacks are 0. */
    public Cells cells(Collection<PiCounterCellId> wanted) throws SwitchException {
        List<PiCounterCellHandle> handles = wanted.stream()
                .map(cell -> PiCounterCellHandle.of(device, cell))
                .collect(Collectors.toList());
        Map<PiCounterCellId, Count> result = new HashMap<>();
        for (PiCounterCell cell : submit(request().handles(handles)).all(PiCounterCell.class)) {
            result.put(
                    cell.cellId(), new Count(cell.data().packets(), cell.data().bytes()));
        }
        return (counter, index) ->
                result.getOrDefault(PiCounterCellId.ofIndirect(names.counter(counter), index), Count.NONE);
    }

    /** Counter values. */
    @FunctionalInterface
    public interface Cells {
        /** The value of a cell. */
        Count get(String counter, long index);
    }

    private ReadRequest request() {
        return client.read(p4DeviceId, pipeconf);
    }

    private static ReadResponse submit(ReadRequest request) throws SwitchException {
        CompletableFuture<ReadResponse> reply = request.submit();
        ReadResponse read;
        try {
            read = reply.get(TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new SwitchException("does not answer a Read within " + TIMEOUT_S + " s", e);
        } catch (ExecutionException e) {
            throw new SwitchException("refuses a Read: " + sentence(e.getCause().getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SwitchException("the Read was interrupted", e);
        }
        if (!read.isSuccess()) {
            throw new SwitchException("refuses a Read: " + sentence(read.explanation()), read.throwable());
        }
        return read;
    }

    private static String sentence(String text) {
        return text == null || text.isBlank() ? "it does not say why" : String.join(" ", text.split("\\s+"));
    }

    private static boolean isAction(PiTableEntry entry, String action) {
        PiTableAction result = entry.action();
        return result instanceof PiAction
                && Names.isNamed(((PiAction) result).id().id(), action);
    }

    private static Map<String, Long> actionData(PiTableEntry entry) {
        Map<String, Long> data = new HashMap<>();
        if (entry.action() instanceof PiAction) {
            for (PiActionParam parameter : ((PiAction) entry.action()).parameters()) {
                data.put(parameter.id().id(), number(parameter.value()));
            }
        }
        return data;
    }

    private static long number(ImmutableByteSequence value) {
        long number = 0;
        for (byte each : value.asArray()) {
            number = number << 8 | (each & 0xff);
        }
        return number;
    }
}
