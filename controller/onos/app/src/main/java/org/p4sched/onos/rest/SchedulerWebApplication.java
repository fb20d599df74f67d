package org.p4sched.onos.rest;

import java.util.HashSet;
import java.util.Set;
import org.onlab.rest.AbstractWebApplication;
import org.onlab.rest.exceptions.NotFoundMapper;
import org.onlab.rest.exceptions.WebApplicationExceptionMapper;

/** The REST interface in ONOS's web server, at /onos/p4sched. */
public class SchedulerWebApplication extends AbstractWebApplication {
    @Override
    public Set<Class<?>> getClasses() {
        Set<Class<?>> classes = new HashSet<>(getClasses(SchedulerResource.class, WebErrorMapper.class));
        // ONOS's own mappers answer in another form
        classes.removeAll(Set.of(NotFoundMapper.class, WebApplicationExceptionMapper.class));
        return classes;
    }
}
