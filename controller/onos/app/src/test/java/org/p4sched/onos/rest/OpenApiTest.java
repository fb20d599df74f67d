package org.p4sched.onos.rest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Set;
import java.util.TreeSet;
import javax.ws.rs.HttpMethod;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.Context;
import org.junit.jupiter.api.Test;
import org.p4sched.onos.config.Scheduler;

class OpenApiTest {
    private static JsonNode description() throws Exception {
        try (InputStream in = SchedulerResource.class.getResourceAsStream("/p4sched/openapi.json")) {
            return new ObjectMapper().readTree(in);
        }
    }

    @Test
    void describesEveryMethodOfTheResourceAndNoOther() throws Exception {
        Set<String> described = new TreeSet<>();
        JsonNode document = description();
        document.path("paths")
                .fields()
                .forEachRemaining(path -> path.getValue().fields().forEachRemaining(operation -> {
                    StringBuilder line = new StringBuilder(operation.getKey() + " " + path.getKey());
                    line.append(' ')
                            .append(operation.getValue().path("operationId").asText());
                    for (JsonNode parameter : operation.getValue().path("parameters")) {
                        JsonNode found = parameter.has("$ref")
                                ? document.at(parameter.path("$ref").asText().substring(1))
                                : parameter;
                        line.append(' ').append(found.path("in").asText());
                        line.append(':').append(found.path("name").asText());
                    }
                    described.add(line + (operation.getValue().has("requestBody") ? " body" : ""));
                }));
        assertEquals(annotated(), described);
    }

    private static Set<String> annotated() {
        String root = "/" + SchedulerResource.class.getAnnotation(Path.class).value() + "/";
        Set<String> found = new TreeSet<>();
        for (Method method : SchedulerResource.class.getDeclaredMethods()) {
            for (java.lang.annotation.Annotation annotation : method.getAnnotations()) {
                HttpMethod verb = annotation.annotationType().getAnnotation(HttpMethod.class);
                if (verb == null) {
                    continue;
                }
                String path = root + method.getAnnotation(Path.class).value();
                StringBuilder line = new StringBuilder(verb.value().toLowerCase(java.util.Locale.ROOT) + " " + path);
                line.append(' ').append(method.getName());
                for (Parameter parameter : method.getParameters()) {
                    if (parameter.isAnnotationPresent(PathParam.class)) {
                        line.append(" path:")
                                .append(parameter.getAnnotation(PathParam.class).value());
                    } else if (parameter.isAnnotationPresent(QueryParam.class)) {
                        line.append(" query:")
                                .append(parameter
                                        .getAnnotation(QueryParam.class)
                                        .value());
                    } else if (!parameter.isAnnotationPresent(Context.class)) {
                        line.append(" body");
                    }
                }
                found.add(line.toString());
            }
        }
        return found;
    }

    @Test
    void namesEveryScheduler() throws Exception {
        Set<String> named = new TreeSet<>();
        description()
                .at("/components/schemas/Scheduler/properties/scheduler/enum")
                .forEach(name -> named.add(name.asText()));
        Set<String> known = new TreeSet<>();
        for (Scheduler scheduler : Scheduler.all()) {
            known.add(scheduler.toString());
        }
        assertEquals(known, named);
    }
}
