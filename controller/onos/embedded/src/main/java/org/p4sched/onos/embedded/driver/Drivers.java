package org.p4sched.onos.embedded.driver;

import org.onosproject.net.driver.AbstractIndependentDriverLoader;

/** Loads the driver {@code bmv2}. ONOS's {@code p4runtime} must be there. */
public final class Drivers extends AbstractIndependentDriverLoader {
    public Drivers() {
        super("drivers.xml");
    }
}
