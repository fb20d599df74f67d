package org.p4sched.laws.log;

/** The log cannot be written or read, is not a decision log, or does not replay. */
public final class DecisionLogException extends RuntimeException {
    private static final long serialVersionUID = 1;

    DecisionLogException(String message) {
        super(message);
    }

    DecisionLogException(String message, Throwable cause) {
        super(message, cause);
    }
}
