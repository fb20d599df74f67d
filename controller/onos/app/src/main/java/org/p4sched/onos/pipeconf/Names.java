package org.p4sched.onos.pipeconf;

import java.util.Arrays;
import java.util.Collection;
import java.util.Optional;
import java.util.function.Function;
import org.onosproject.net.pi.model.PiActionId;
import org.onosproject.net.pi.model.PiActionModel;
import org.onosproject.net.pi.model.PiCounterId;
import org.onosproject.net.pi.model.PiCounterModel;
import org.onosproject.net.pi.model.PiMatchFieldId;
import org.onosproject.net.pi.model.PiMatchFieldModel;
import org.onosproject.net.pi.model.PiPipelineModel;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.model.PiTableModel;
import org.p4sched.laws.Target;

/**
 * The entities of a program by their short names. A full name begins with the names of controls, which depend on
 * program and target. The short name is its last part, the same in all programs.
 */
public final class Names {
    /** Table of routes to prefixes. */
    public static final String ROUTES = "ipv4_routes";
    /** Table of the paths of groups. */
    public static final String PATHS = "ecmp_paths";
    /** Table of users by source prefix. */
    public static final String USERS_BY_PREFIX = "users_by_prefix";
    /** Table of users by parts of the 5-tuple. */
    public static final String USERS_BY_FLOW = "users_by_flow";
    /** Table of rank sources by egress port. */
    public static final String RANK_SOURCES = "rank_sources";
    /** Key of the tables with an entry for each egress port. */
    public static final String EGRESS_PORT = "egress_spec";

    private final PiPipelineModel program;

    public Names(PiPipelineModel program) {
        this.program = program;
    }

    /** The architecture of the program. */
    public Target target() {
        return program.architecture().stream()
                .flatMap(name -> Arrays.stream(Target.values())
                        .filter(target -> target.name().equalsIgnoreCase(name)))
                .findFirst()
                .orElse(Target.V1MODEL);
    }

    /** Whether the program has such a table. */
    public boolean hasTable(String name) {
        return find(program.tables(), table -> table.id().id(), name).isPresent();
    }

    /** The table of this name. Throws IllegalArgumentException if the program has none. */
    public PiTableModel table(String name) {
        return find(program.tables(), table -> table.id().id(), name)
                .orElseThrow(() -> new IllegalArgumentException("the program has no table " + name));
    }

    /** The id of a table. */
    public PiTableId tableId(String name) {
        return table(name).id();
    }

    /** An action of a table. Throws IllegalArgumentException if it has none of that name. */
    public PiActionModel action(String table, String name) {
        return find(table(table).actions(), action -> action.id().id(), name)
                .orElseThrow(() -> new IllegalArgumentException("table " + table + " has no action " + name));
    }

    /** Whether a table has such an action. */
    public boolean hasAction(String table, String name) {
        return find(table(table).actions(), action -> action.id().id(), name).isPresent();
    }

    /** The id of an action of a table. */
    public PiActionId actionId(String table, String name) {
        return action(table, name).id();
    }

    /** A field of the key of a table. Throws IllegalArgumentException if there is none of that name. */
    public PiMatchFieldId field(String table, String name) {
        return find(table(table).matchFields(), field -> field.id().id(), name)
                .map(PiMatchFieldModel::id)
                .orElseThrow(() -> new IllegalArgumentException("table " + table + " has no key " + name));
    }

    /** Whether the program has such a counter. */
    public boolean hasCounter(String name) {
        return find(program.counters(), counter -> counter.id().id(), name).isPresent();
    }

    /** A counter. Throws IllegalArgumentException if the program has none of that name. */
    public PiCounterId counter(String name) {
        return find(program.counters(), counter -> counter.id().id(), name)
                .map(PiCounterModel::id)
                .orElseThrow(() -> new IllegalArgumentException("the program has no counter " + name));
    }

    /** Whether {@code name} is the short name of a full name. */
    public static boolean isNamed(String fullName, String name) {
        return fullName.equals(name) || fullName.endsWith("." + name);
    }

    private static <T> Optional<T> find(Collection<T> all, Function<T, String> fullName, String name) {
        return all.stream().filter(each -> isNamed(fullName.apply(each), name)).findFirst();
    }
}
