package org.p4sched.onos.pipeconf;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PipeconfsTest {
    @Test
    void everyProgramIsAPipeconf() {
        assertEquals(15, Pipeconfs.inApp().size());
    }
}
