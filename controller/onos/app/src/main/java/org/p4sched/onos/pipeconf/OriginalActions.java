package org.p4sched.onos.pipeconf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.onlab.util.ImmutableByteSequence;
import org.onosproject.net.pi.model.PiActionId;
import org.onosproject.net.pi.model.PiActionModel;
import org.onosproject.net.pi.model.PiActionParamId;
import org.onosproject.net.pi.model.PiPipeconf;
import org.onosproject.net.pi.model.PiPipeconf.ExtensionType;
import org.onosproject.net.pi.model.PiTableId;
import org.onosproject.net.pi.model.PiTableModel;
import org.onosproject.net.pi.runtime.PiAction;
import org.onosproject.net.pi.runtime.PiActionParam;

/**
 * The default actions with which a program starts, from its BMv2 JSON. The P4Info that ONOS 2.7 can read lacks them, so
 * they are unknown for a program of a chip.
 */
final class OriginalActions {
    private static final Map<PiPipeconf, Map<String, PiAction>> KNOWN = new ConcurrentHashMap<>();

    private OriginalActions() {}

    static Optional<PiAction> of(PiPipeconf pipeconf, PiTableId table) {
        return Optional.ofNullable(
                KNOWN.computeIfAbsent(pipeconf, OriginalActions::read).get(table.id()));
    }

    private static Map<String, PiAction> read(PiPipeconf pipeconf) {
        Map<String, PiAction> result = new HashMap<>();
        Optional<InputStream> json = pipeconf.extension(ExtensionType.BMV2_JSON);
        if (json.isEmpty()) {
            return result;
        }
        JsonNode program;
        try (InputStream in = json.get()) {
            program = new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the JSON of " + pipeconf.id() + ": " + e.getMessage(), e);
        }
        Map<Integer, JsonNode> actions = new HashMap<>();
        program.path("actions").forEach(action -> actions.put(action.path("id").asInt(), action));
        for (JsonNode pipeline : program.path("pipelines")) {
            for (JsonNode table : pipeline.path("tables")) {
                JsonNode entry = table.path("default_entry");
                JsonNode action = actions.get(entry.path("action_id").asInt(-1));
                if (action != null) {
                    model(pipeconf, table.path("name").asText()).ifPresent(model -> action(model, action, entry)
                            .ifPresent(it -> result.put(model.id().id(), it)));
                }
            }
        }
        return result;
    }

    /** The table by its name in the JSON, which may begin with the name of the pipe. */
    private static Optional<PiTableModel> model(PiPipeconf pipeconf, String name) {
        return pipeconf.pipelineModel().tables().stream()
                .filter(table -> Names.isNamed(name, table.id().id())
                        || Names.isNamed(table.id().id(), name))
                .findFirst();
    }

    private static Optional<PiAction> action(PiTableModel table, JsonNode action, JsonNode entry) {
        String name = action.path("name").asText();
        Optional<PiActionModel> model = table.actions().stream()
                .filter(each -> Names.isNamed(name, each.id().id())
                        || Names.isNamed(each.id().id(), name))
                .findFirst();
        return model.map(result -> {
            PiAction.Builder built =
                    PiAction.builder().withId(PiActionId.of(result.id().id()));
            int number = 0;
            for (JsonNode value : entry.path("action_data")) {
                String parameter =
                        action.path("runtime_data").path(number++).path("name").asText();
                built.withParameter(new PiActionParam(
                        PiActionParamId.of(parameter), ImmutableByteSequence.copyFrom(Long.decode(value.asText()))));
            }
            return built.build();
        });
    }
}
