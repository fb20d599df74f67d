package org.p4sched.onos.config;

/** A setting makes no sense. The message is one sentence that begins with the JSON path. */
public class SettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String path;
    private final String reason;

    /** What is wrong, and where: {@code p4schedScheduler.users[1].weight}. */
    public SettingsException(String path, String reason) {
        super(path + ": " + reason);
        this.path = path;
        this.reason = reason;
    }

    /** The JSON path. */
    public String path() {
        return path;
    }

    /** What is wrong there. */
    public String reason() {
        return reason;
    }
}
