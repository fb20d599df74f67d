package org.p4sched.onos.embedded;

import com.sun.net.httpserver.HttpServer;
import java.net.URI;
import javax.ws.rs.ProcessingException;
import org.glassfish.jersey.jdkhttp.JdkHttpServerFactory;
import org.glassfish.jersey.server.ResourceConfig;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.rest.SchedulerResource;
import org.p4sched.onos.rest.WebErrorMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the application's REST resource; in Karaf ONOS's own web server does. */
final class RestServer {
    private static final Logger log = LoggerFactory.getLogger(RestServer.class);
    /** This logger warns that a resource object is not an extension of Jersey, which is intended. */
    private static final java.util.logging.Logger JERSEY =
            java.util.logging.Logger.getLogger("org.glassfish.jersey.internal.inject.Providers");

    private final HttpServer server;

    private RestServer(HttpServer server) {
        this.server = server;
    }

    static RestServer start(URI address, SchedulerService schedulers) throws BadInput {
        JERSEY.setLevel(java.util.logging.Level.SEVERE);
        try {
            HttpServer server = JdkHttpServerFactory.createHttpServer(
                    address,
                    new ResourceConfig()
                            .register(new SchedulerResource(schedulers))
                            .register(WebErrorMapper.class));
            RestServer started = new RestServer(server);
            log.info("REST on http://{}:{}/p4sched/v1", address.getHost(), started.port());
            return started;
        } catch (ProcessingException e) {
            String place = address.getHost() + ":" + address.getPort();
            throw new BadInput(
                    "--rest: cannot listen on " + place + ": " + e.getCause().getMessage(), e);
        }
    }

    int port() {
        return server.getAddress().getPort();
    }

    void stop() {
        server.stop(0);
    }
}
