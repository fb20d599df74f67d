package org.p4sched.onos.rest;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.TreeSet;
import javax.ws.rs.WebApplicationException;
import javax.ws.rs.core.Context;
import javax.ws.rs.core.HttpHeaders;
import javax.ws.rs.core.MediaType;
import javax.ws.rs.core.Request;
import javax.ws.rs.core.Response;
import javax.ws.rs.core.UriInfo;
import javax.ws.rs.ext.ExceptionMapper;

/** Answers requests that match no method of {@link SchedulerResource}, in the form of its errors. */
public class WebErrorMapper implements ExceptionMapper<WebApplicationException> {
    @Context
    private UriInfo uri;

    @Context
    private Request request;

    @Context
    private HttpHeaders headers;

    @Override
    public Response toResponse(WebApplicationException error) {
        Response answer = error.getResponse();
        if (answer.hasEntity()) {
            return answer;
        }
        return Response.fromResponse(answer)
                .type(MediaType.APPLICATION_JSON)
                .entity(JsonNodeFactory.instance
                        .objectNode()
                        .put("error", sentence(error))
                        .toString())
                .build();
    }

    private String sentence(WebApplicationException error) {
        String path = "/" + uri.getPath();
        switch (error.getResponse().getStatus()) {
            case 404:
                return "there is no " + path + "; /v1/openapi.json lists all paths";
            case 405:
                String methods =
                        String.join(", ", new TreeSet<>(error.getResponse().getAllowedMethods()));
                return path + " does not take " + request.getMethod() + "; it takes " + methods;
            case 406:
                return "the answer is " + MediaType.APPLICATION_JSON + ", which the request does not accept";
            case 415:
                return "the body must be " + MediaType.APPLICATION_JSON + ", not " + headers.getMediaType();
            default:
                return error.getMessage();
        }
    }
}
