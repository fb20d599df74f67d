package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The members of a JSON object. Every error names the path; a member that nobody asked for is an error. */
final class Members {
    private final String path;
    private final JsonNode object;
    private final Set<String> known = new LinkedHashSet<>();

    Members(String path, JsonNode object) {
        if (!object.isObject()) {
            throw new SettingsException(path, "is no JSON object: " + shown(object));
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
                throw wrong(name, "is no string: " + shown(value));
            }
            return value.asText();
        });
    }

    String neededText(String name, String example) {
        return text(name).orElseThrow(() -> wrong(name, "is missing; for example " + example));
    }

    /** The value that a text stands for. What `parse` finds wrong with it is told with the path. */
    <T> Optional<T> parsed(String name, Function<String, T> parse) {
        return text(name).map(text -> {
            try {
                return parse.apply(text);
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
                    path, String.format("%s is no whole number from %d to %d", shown(value), least, most));
        }
        return value.asLong();
    }

    Optional<Double> number(String name) {
        return find(name).map(value -> number(path(name), value));
    }

    static double number(String path, JsonNode value) {
        if (!value.isNumber()) {
            throw new SettingsException(path, "is no number: " + shown(value));
        }
        return value.asDouble();
    }

    boolean flag(String name) {
        return find(name)
                .map(value -> {
                    if (!value.isBoolean()) {
                        throw wrong(name, "is neither true nor false: " + shown(value));
                    }
                    return value.asBoolean();
                })
                .orElse(false);
    }

    Optional<Members> object(String name) {
        return find(name).map(value -> new Members(path(name), value));
    }

    /** The objects of an array; none if there is no such member. */
    List<Members> objects(String name) {
        List<Members> found = new ArrayList<>();
        find(name).ifPresent(array -> {
            if (!array.isArray()) {
                throw wrong(name, "is no JSON array: " + shown(array));
            }
            for (JsonNode element : array) {
                found.add(new Members(path(name) + "[" + found.size() + "]", element));
            }
        });
        return found;
    }

    List<String> names() {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    String path() {
        return path;
    }

    /** To be called when all has been read: throws for a member that means nothing. */
    void end() {
        for (String name : names()) {
            if (!known.contains(name)) {
                throw wrong(name, "means nothing here; there can be " + String.join(", ", known));
            }
        }
    }

    private static String shown(JsonNode value) {
        String text = value.toString();
        return text.length() <= 60 ? text : text.substring(0, 57) + "...";
    }
}
