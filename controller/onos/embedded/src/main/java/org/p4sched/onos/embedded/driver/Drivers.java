package org.p4sched.onos.embedded.driver;

import org.onosproject.net.driver.AbstractIndependentDriverLoader;

/** Loads the driver {@code bmv2}. It extends ONOS's {@code p4runtime}, which must be loaded before. */
public final class Drivers extends AbstractIndependentDriverLoader {
    public Drivers() {
        super("drivers.xml");
    }
}
