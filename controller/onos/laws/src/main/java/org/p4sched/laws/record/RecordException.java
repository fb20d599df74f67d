package org.p4sched.laws.record;

/** A wrong value in a record. The message names the value and says what it should be. */
public final class RecordException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    public RecordException(String message) {
        super(message);
    }
}
