package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Typed access to the members of a JSON object. Every error names the path. */
final class Members {
    private final String path;
    private final JsonNode object;
    private final Set<String> known = new LinkedHashSet<>();

    Members(String path, JsonNode object) {
        if (!object.isObject()) {
            throw new SettingsException(path, "is not a JSON object: " + abbreviated(object));
        }
        this.path = path;
        this.object = object;
    }

    String path(String name) {
        return path + "." + name;
    }

    SettingsException wrong(String name, String why) {
        return new SettingsException(path(name), why);
    }

    Optional<JsonNode> find(String name) {
        known.add(name);
        return Optional.ofNullable(object.get(name)).filter(value -> !value.isNull());
    }

    boolean has(String name) {
        return find(name).isPresent();
    }

    Optional<String> text(String name) {
        return find(name).map(value -> {
            if (!value.isTextual()) {
                throw wrong(name, "is not a string: " + abbreviated(value));
            }
            return value.asText();
        });
    }

    String neededText(String name, String example) {
        return text(name).orElseThrow(() -> wrong(name, "is missing; for example " + example));
    }

    /** The value that {@code parser} makes of a text. An error of {@code parser} gets the path. */
    <T> Optional<T> parse(String name, Function<String, T> parser) {
        return text(name).map(text -> {
            try {
                return parser.apply(text);
            } catch (IllegalArgumentException e) {
                throw wrong(name, e.getMessage());
            }
        });
    }

    Optional<Long> whole(String name, long least, long most) {
        return find(name).map(value -> whole(path(name), value, least, most));
    }

    long neededWhole(String name, long least, long most) {
        return whole(name, least, most)
                .orElseThrow(() -> wrong(name, String.format("is missing; it is a number, %d to %d", least, most)));
    }

    static long whole(String path, JsonNode value, long least, long most) {
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < least || value.asLong() > most) {
            throw new SettingsException(
                    path, String.format("%s is not a whole number from %d to %d", abbreviated(value), least, most));
        }
        return value.asLong();
    }

    Optional<Double> number(String name) {
        return find(name).map(value -> number(path(name), value));
    }

    static double number(String path, JsonNode value) {
        if (!value.isNumber()) {
            throw new SettingsException(path, "is not a number: " + abbreviated(value));
        }
        return value.asDouble();
    }

    boolean flag(String name) {
        return find(name)
                .map(value -> {
                    if (!value.isBoolean()) {
                        throw wrong(name, "is neither true nor false: " + abbreviated(value));
                    }
                    return value.asBoolean();
                })
                .orElse(false);
    }

    Optional<Members> object(String name) {
        return find(name).map(value -> new Members(path(name), value));
    }

    /** The objects of an array; empty if there is no such member. */
    List<Members> objects(String name) {
        List<Members> result = new ArrayList<>();
        find(name).ifPresent(array -> {
            if (!array.isArray()) {
                throw wrong(name, "is not a JSON array: " + abbreviated(array));
            }
            for (JsonNode element : array) {
                result.add(new Members(path(name) + "[" + result.size() + "]", element));
            }
        });
        return result;
    }

    List<String> names() {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    String path() {
        return path;
    }

    /** Throws for an unknown member. To be called after all known ones were read. */
    void end() {
        for (String name : names()) {
            if (!known.contains(name)) {
                throw wrong(name, "is not known here; use one of " + String.join(", ", known));
            }
        }
    }

    private static String abbreviated(JsonNode value) {
        String text = value.toString();
        return text.length() <= 60 ? text : text.substring(0, 57) + "...";
    }
}
