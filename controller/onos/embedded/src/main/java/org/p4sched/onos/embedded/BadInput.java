package org.p4sched.onos.embedded;

/** What the caller gave makes no sense; the message says what, where, and what would. */
final class BadInput extends Exception {
    private static final long serialVersionUID = 1;

    BadInput(String message) {
        super(message);
    }

    BadInput(String message, Throwable cause) {
        super(message, cause);
    }
}
