package org.p4sched.onos.control;

/** A switch does not answer, or refuses something. The message is one sentence without the switch's name. */
public class SwitchException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public SwitchException(String message) {
        super(message);
    }

    /** What is wrong, and why. */
    public SwitchException(String message, Throwable cause) {
        super(message, cause);
    }
}
