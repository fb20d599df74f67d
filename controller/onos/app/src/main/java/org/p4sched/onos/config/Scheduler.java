package org.p4sched.onos.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.p4sched.laws.Law;
import org.p4sched.laws.Laws;

/**
 * A scheduler with a program in p4/, as schedulers/NAME/scheduler.toml describes it. The build copies the descriptions.
 * Each key stands on a line of its own.
 */
public final class Scheduler {
    private static final String FILE = "/p4sched/programs/schedulers.toml";
    private static final Pattern EACH = Pattern.compile("^(?=name = )", Pattern.MULTILINE);
    private static final Pattern TEXT = Pattern.compile("\"([^\"]*)\"");

    private static final Map<String, Scheduler> ALL = all(text());

    private final String name;
    private final String title;
    private final String table;
    private final String action;
    private final boolean ranked;
    private final Set<String> options;
    private final int order;

    private Scheduler(String description) {
        name = one(description, "name");
        title = one(description, "title");
        table = one(description, "table");
        action = one(description, "action");
        ranked = texts(description, "compared").contains("ranks");
        options = new TreeSet<>(texts(description, "options"));
        order = Integer.parseInt(value(description, "order").orElseThrow());
    }

    /** The schedulers, in the order of tables and figures. */
    public static Collection<Scheduler> all() {
        return ALL.values();
    }

    /** The scheduler of this name. Throws IllegalArgumentException for any other name. */
    public static Scheduler named(String name) {
        return Optional.ofNullable(ALL.get(name))
                .orElseThrow(() -> new IllegalArgumentException(
                        "no scheduler '" + name + "'; use one of: " + String.join(", ", ALL.keySet())));
    }

    /** The name as in papers. */
    public String title() {
        return title;
    }

    /** The table of the parameters; its key is the egress port. */
    public String table() {
        return table;
    }

    /** The only action of that table. */
    public String action() {
        return action;
    }

    /** Whether packets have ranks. FDPA has only users. */
    public boolean ranked() {
        return ranked;
    }

    /** The scheduler's own options of {@code p4sched control}, for example {@code --window}. */
    public Set<String> options() {
        return options;
    }

    /** The control law; empty for a scheduler without one. */
    public Optional<Law<?, ?, ?, ?>> law() {
        return Laws.find(name);
    }

    /** The name of the scheduler, as in the configuration. */
    @Override
    public String toString() {
        return name;
    }

    /** Those that have a program of their own. The ideals share FIFO's. */
    static Map<String, Scheduler> all(String descriptions) {
        List<Scheduler> found = Stream.of(EACH.split(descriptions))
                .filter(each -> value(each, "name").isPresent())
                .filter(each -> one(each, "v1model").endsWith("/" + one(each, "name") + ".p4"))
                .map(Scheduler::new)
                .sorted(Comparator.comparingInt((Scheduler each) -> each.order))
                .collect(Collectors.toList());
        Map<String, Scheduler> result = new LinkedHashMap<>();
        found.forEach(each -> result.put(each.name, each));
        return Collections.unmodifiableMap(result);
    }

    private static Optional<String> value(String description, String key) {
        Matcher matcher =
                Pattern.compile("^" + key + " = (.*)$", Pattern.MULTILINE).matcher(description);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** The texts of a key: one, or a list in one line. */
    private static List<String> texts(String description, String key) {
        return TEXT.matcher(value(description, key).orElse(""))
                .results()
                .map(each -> each.group(1))
                .collect(Collectors.toList());
    }

    private static String one(String description, String key) {
        return texts(description, key).stream()
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(FILE + ": a description has no " + key));
    }

    private static String text() {
        try (InputStream file = Scheduler.class.getResourceAsStream(FILE)) {
            if (file == null) {
                throw new IllegalStateException(FILE + " is missing");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new IllegalStateException(FILE + ": " + error.getMessage(), error);
        }
    }
}
