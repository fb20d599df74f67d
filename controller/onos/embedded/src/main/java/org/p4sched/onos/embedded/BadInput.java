package org.p4sched.onos.embedded;

/** An invalid argument or configuration. The message says what is wrong, where, and what is right. */
final class BadInput extends Exception {
    private static final long serialVersionUID = 1;

    BadInput(String message) {
        super(message);
    }

    BadInput(String message, Throwable cause) {
        super(message, cause);
    }
}
