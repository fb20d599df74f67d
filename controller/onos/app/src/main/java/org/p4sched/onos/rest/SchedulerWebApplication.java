package org.p4sched.onos.rest;

import java.util.Set;
import org.onlab.rest.AbstractWebApplication;

/** The REST interface in ONOS's web server, at /onos/p4sched. */
public class SchedulerWebApplication extends AbstractWebApplication {
    @Override
    public Set<Class<?>> getClasses() {
        return getClasses(SchedulerResource.class);
    }
}
