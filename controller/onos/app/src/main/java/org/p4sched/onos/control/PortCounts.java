package org.p4sched.onos.control;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.onosproject.net.pi.runtime.PiCounterCellId;
import org.p4sched.laws.Count;
import org.p4sched.onos.pipeconf.Names;

/** Packets to a port that a program admitted and dropped, summed over all priorities. */
public final class PortCounts {
    /** Ports are 9 bits wide. */
    public static final int LARGEST_PORT = 511;
    /** Queues of a port: cell (port << 3) | priority. */
    static final int QUEUES = 8;
    /** Counters of the programs with an admission rule, by queue. */
    static final List<String> VERDICTS = List.of("admitted", "dropped_by_admission", "dropped_full");
    /** Counters of the other programs, by port. */
    private static final List<String> TAIL_DROP = List.of("port_admitted", "port_dropped");

    private final Count admitted;
    private final Count dropped;

    private PortCounts(Count admitted, Count dropped) {
        this.admitted = admitted;
        this.dropped = dropped;
    }

    /** Reads the counters of these ports with one Read. */
    public static Map<Integer, PortCounts> read(SwitchReader reader, Collection<Integer> ports) throws SwitchException {
        boolean ruled = reader.names().hasCounter(VERDICTS.get(0));
        List<String> counters = ruled ? VERDICTS : TAIL_DROP;
        int cells = ruled ? QUEUES : 1;
        List<PiCounterCellId> wanted = new ArrayList<>();
        for (int port : ports) {
            wanted.addAll(cells(reader.names(), counters, (long) port * cells, cells));
        }
        SwitchReader.Cells read = reader.cells(wanted);
        Map<Integer, PortCounts> result = new LinkedHashMap<>();
        for (int port : ports) {
            Count dropped = Count.NONE;
            for (String counter : counters.subList(1, counters.size())) {
                dropped = dropped.plus(sum(read, counter, (long) port * cells, cells));
            }
            result.put(port, new PortCounts(sum(read, counters.get(0), (long) port * cells, cells), dropped));
        }
        return result;
    }

    /** {@code count} cells of each counter, from cell {@code first} on. */
    static List<PiCounterCellId> cells(Names names, List<String> counters, long first, int count) {
        List<PiCounterCellId> cells = new ArrayList<>();
        for (String counter : counters) {
            for (long cell = first; cell < first + count; cell++) {
                cells.add(PiCounterCellId.ofIndirect(names.counter(counter), cell));
            }
        }
        return cells;
    }

    /** The sum of {@code count} cells, from cell {@code first} on. */
    static Count sum(SwitchReader.Cells read, String counter, long first, int count) {
        Count sum = Count.NONE;
        for (long cell = first; cell < first + count; cell++) {
            sum = sum.plus(read.get(counter, cell));
        }
        return sum;
    }

    /** Admitted to the port's queues. */
    public Count admitted() {
        return admitted;
    }

    /** Dropped by the admission rule or by a full queue. */
    public Count dropped() {
        return dropped;
    }
}
