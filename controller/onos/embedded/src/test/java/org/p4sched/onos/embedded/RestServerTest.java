package org.p4sched.onos.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.p4sched.onos.SchedulerService;

/** Every error over REST is a JSON object with one sentence. */
class RestServerTest {
    private RestServer server;

    /** No switch is configured. */
    private static Object nothing(Class<?> type) {
        return type.equals(Optional.class) ? Optional.empty() : null;
    }

    @BeforeEach
    void start() throws BadInput {
        SchedulerService service = (SchedulerService) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {SchedulerService.class},
                (proxy, method, arguments) -> nothing(method.getReturnType()));
        server = RestServer.start(URI.create("http://127.0.0.1:0/p4sched/"), service);
    }

    @AfterEach
    void stop() {
        server.stop();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET | v1/switches | application/json | 404"
                        + " | there is no /v1/switches; /v1/openapi.json lists all paths",
                "GET | v1/devices/s1 | application/json | 404 | no scheduler is configured for s1",
                "POST | v1/devices | application/json | 405"
                        + " | /v1/devices does not take POST; it takes GET, OPTIONS",
                "PUT | v1/devices/s1 | text/plain | 415 | the body must be application/json, not text/plain",
                "GET | v1/devices/s1/ports/1/decisions?count=3 | application/json | 400"
                        + " | count: unknown parameter; use last",
                "GET | v1/devices/s1/ports/1/decisions?last=x | application/json | 400"
                        + " | last: \"x\" is not a number of decisions; use 1 or more",
                "GET | v1/devices/s1/ports/1/decisions?last=0 | application/json | 400"
                        + " | last: \"0\" is not a number of decisions; use 1 or more",
            })
    void everyErrorIsOneSentence(String method, String path, String type, int status, String sentence)
            throws Exception {
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/p4sched/" + path))
                                .header("Content-Type", type)
                                .method(method, HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        String expected = "{\"error\":\"" + sentence.replace("\"", "\\\"") + "\"}";
        assertEquals(status + " " + expected, answer.statusCode() + " " + answer.body());
        assertEquals(
                "application/json", answer.headers().firstValue("Content-Type").orElse("none"));
    }
}
