package org.p4sched.laws.record;

/** Not what was written; the message names the value and says what it should be. */
public final class RecordException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public RecordException(String message) {
        super(message);
    }
}
