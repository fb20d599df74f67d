package org.p4sched.onos.control;

/** A switch does not answer, or refuses a request. The message is one sentence without the switch's name. */
public class SwitchException extends Exception {
    private static final long serialVersionUID = 1L;

    public SwitchException(String message) {
        super(message);
    }

    public SwitchException(String message, Throwable cause) {
        super(message, cause);
    }
}
