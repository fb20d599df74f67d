package org.p4sched.onos.rest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.ws.rs.Consumes;
import javax.ws.rs.DELETE;
import javax.ws.rs.DefaultValue;
import javax.ws.rs.GET;
import javax.ws.rs.PUT;
import javax.ws.rs.Path;
import javax.ws.rs.PathParam;
import javax.ws.rs.Produces;
import javax.ws.rs.QueryParam;
import javax.ws.rs.core.Context;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Response;
import javax.ws.rs.core.Response.Status;
import javax.ws.rs.core.UriInfo;
import org.onlab.osgi.DefaultServiceDirectory;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.config.SettingsException;
import org.p4sched.onos.control.SwitchException;

/**
 * The REST interface; p4sched/openapi.json describes it. A change is answered when the switch has confirmed it. Every
 * error is a JSON object with one sentence.
 */
@Path("v1")
@Produces(MediaType.APPLICATION_JSON)
public class SchedulerResource {
    private static final long TIMEOUT_S = 30;
    private static final ObjectMapper JSON = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private final Supplier<SchedulerService> service;

    /** Used by ONOS's container, which provides the service. */
    public SchedulerResource() {
        service = () -> DefaultServiceDirectory.getService(SchedulerService.class);
    }

    public SchedulerResource(SchedulerService service) {
        this.service = () -> service;
    }

    /** An error with its HTTP status. */
    private static final class RequestException extends Exception {
        private static final long serialVersionUID = 1L;

        private final Status status;

        RequestException(Status status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** Computes the answer to a request. */
    @FunctionalInterface
    private interface Answer {
        JsonNode get() throws RequestException, SwitchException;
    }

    /** Starts a change. */
    @FunctionalInterface
    private interface Change {
        CompletableFuture<Void> make() throws RequestException;
    }

    /** The OpenAPI description. */
    @GET
    @Path("openapi.json")
    public Response description() {
        try (InputStream in = SchedulerResource.class.getResourceAsStream("/p4sched/openapi.json")) {
            return Response.ok(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .build();
        } catch (IOException e) {
            return error(Status.INTERNAL_SERVER_ERROR, e.getMessage());
        }
    }

    /** The status of all configured switches. */
    @GET
    @Path("devices")
    public Response devices() {
        return answer(() -> {
            ArrayNode result = JSON.createArrayNode();
            service.get().devices().forEach(status -> result.add(StatusJson.of(status)));
            return JSON.createObjectNode().set("devices", result);
        });
    }

    /** Settings and status of a switch. */
    @GET
    @Path("devices/{device}")
    public Response device(@PathParam("device") String device) {
        return answer(() -> {
            ObjectNode configuration = configuration(device);
            ObjectNode result =
                    service.get().status(id(device)).map(StatusJson::of).orElseThrow(() -> unknown(device));
            return result.set("configuration", configuration);
        });
    }

    /** Replaces the settings of a switch. */
    @PUT
    @Path("devices/{device}")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response configure(@PathParam("device") String device, String body) {
        return changed(() -> service.get().configure(id(device), parse(body)));
    }

    /** Removes the settings of a switch. */
    @DELETE
    @Path("devices/{device}")
    public Response remove(@PathParam("device") String device) {
        return changed(() -> {
            configuration(device);
            return service.get().remove(id(device));
        });
    }

    /** The users, with the bytes that arrived from them. */
    @GET
    @Path("devices/{device}/users")
    public Response users(@PathParam("device") String device) {
        return answer(() -> {
            ObjectNode configuration = configuration(device);
            Map<Long, Long> sent = service.get().sentBytes(id(device));
            ArrayNode result = JSON.createArrayNode();
            for (JsonNode user : configuration.path("users")) {
                ObjectNode entry = user.deepCopy();
                entry.put("sentBytes", sent.getOrDefault(user.path("user").asLong(), 0L));
                result.add(entry);
            }
            return JSON.createObjectNode().set("users", result);
        });
    }

    /** Adds a user, or changes it. */
    @PUT
    @Path("devices/{device}/users/{user}")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response putUser(@PathParam("device") String device, @PathParam("user") int user, String body) {
        return changed(() -> {
            configuration(device);
            return service.get().putUser(id(device), user, parse(body));
        });
    }

    /** Removes a user. */
    @DELETE
    @Path("devices/{device}/users/{user}")
    public Response removeUser(@PathParam("device") String device, @PathParam("user") int user) {
        return changed(() -> {
            boolean there = false;
            for (JsonNode each : configuration(device).path("users")) {
                there |= each.path("user").asInt() == user;
            }
            if (!there) {
                throw new RequestException(Status.NOT_FOUND, "there is no user " + user + " on " + device);
            }
            return service.get().removeUser(id(device), user);
        });
    }

    /** The parameters in force, read from the switch. */
    @GET
    @Path("devices/{device}/parameters")
    public Response parameters(@PathParam("device") String device) {
        return answer(() -> {
            configuration(device);
            return JSON.valueToTree(service.get().parameters(id(device)));
        });
    }

    /** Sets parameters that no law sets. */
    @PUT
    @Path("devices/{device}/parameters")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response setParameters(@PathParam("device") String device, String body) {
        return changed(() -> {
            if (!configuration(device).path("ports").isEmpty()) {
                throw new RequestException(
                        Status.CONFLICT, "a law sets the parameters of " + device + "; DELETE its port before");
            }
            return service.get().setParameters(id(device), parse(body));
        });
    }

    /** Sets the rank source. */
    @PUT
    @Path("devices/{device}/rank-source")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response setRankSource(@PathParam("device") String device, String body) {
        return changed(() -> {
            configuration(device);
            JsonNode source = parse(body).path("rankSource");
            if (!source.isTextual()) {
                throw new RequestException(
                        Status.BAD_REQUEST, "rankSource: is missing; for example {\"rankSource\": \"tos\"}");
            }
            return service.get().setRankSource(id(device), source.asText());
        });
    }

    /** Runs a law on a port. */
    @PUT
    @Path("devices/{device}/ports/{port}")
    @Consumes(MediaType.APPLICATION_JSON)
    public Response putPort(@PathParam("device") String device, @PathParam("port") int port, String body) {
        return changed(() -> {
            configuration(device);
            return service.get().putPort(id(device), port, parse(body));
        });
    }

    /** Ends the law of a port; its parameters stay. */
    @DELETE
    @Path("devices/{device}/ports/{port}")
    public Response removePort(@PathParam("device") String device, @PathParam("port") int port) {
        return changed(() -> {
            requirePort(device, port);
            return service.get().removePort(id(device), port);
        });
    }

    /** The last decisions on a port, as in the decision log. */
    @GET
    @Path("devices/{device}/ports/{port}/decisions")
    public Response decisions(
            @PathParam("device") String device,
            @PathParam("port") int port,
            @QueryParam("last") @DefaultValue("20") String last,
            @Context UriInfo uri) {
        return answer(() -> {
            int most = most(last, uri);
            requirePort(device, port);
            JsonNode result = JSON.valueToTree(service.get().decisions(id(device), port, most));
            return JSON.createObjectNode().set("decisions", result);
        });
    }

    /** The requested number of decisions. */
    private static int most(String last, UriInfo uri) throws RequestException {
        for (String name : uri.getQueryParameters().keySet()) {
            if (!name.equals("last")) {
                throw new RequestException(Status.BAD_REQUEST, name + ": unknown parameter; use last");
            }
        }
        try {
            int most = Integer.parseInt(last);
            if (most > 0) {
                return most;
            }
        } catch (NumberFormatException e) {
            // an error, as below
        }
        throw new RequestException(
                Status.BAD_REQUEST, "last: \"" + last + "\" is not a number of decisions; use 1 or more");
    }

    private void requirePort(String device, int port) throws RequestException {
        if (!configuration(device).path("ports").has(Integer.toString(port))) {
            throw new RequestException(Status.NOT_FOUND, "there is no law on port " + port + " of " + device);
        }
    }

    private ObjectNode configuration(String device) throws RequestException {
        return service.get().configuration(id(device)).orElseThrow(() -> unknown(device));
    }

    private static DeviceId id(String device) {
        return DeviceId.deviceId(device);
    }

    private static RequestException unknown(String device) {
        return new RequestException(Status.NOT_FOUND, "no scheduler is configured for " + device);
    }

    private static JsonNode parse(String body) throws RequestException {
        try {
            return JSON.readTree(body == null || body.isBlank() ? "{}" : body);
        } catch (JsonProcessingException e) {
            throw new RequestException(Status.BAD_REQUEST, "the body is not JSON: " + e.getOriginalMessage());
        }
    }

    private static Response changed(Change change) {
        return answer(() -> {
            try {
                change.make().get(TIMEOUT_S, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw new SwitchException("the switch has not confirmed the change within " + TIMEOUT_S + " s", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SwitchException("the change was interrupted", e);
            } catch (ExecutionException e) {
                Throwable cause = e.getCause();
                if (cause instanceof SettingsException) {
                    throw new RequestException(Status.BAD_REQUEST, cause.getMessage());
                }
                throw new SwitchException("stored, but not yet on the switch: " + cause.getMessage(), cause);
            }
            return JSON.createObjectNode();
        });
    }

    private static Response answer(Answer answer) {
        try {
            return Response.ok(answer.get().toString()).build();
        } catch (RequestException e) {
            return error(e.status, e.getMessage());
        } catch (SwitchException e) {
            return error(Status.SERVICE_UNAVAILABLE, e.getMessage());
        } catch (IllegalArgumentException e) {
            return error(Status.BAD_REQUEST, e.getMessage());
        }
    }

    private static Response error(Status status, String message) {
        String body = JSON.createObjectNode().put("error", message).toString();
        return Response.status(status)
                .type(MediaType.APPLICATION_JSON)
                .entity(body)
                .build();
    }
}
