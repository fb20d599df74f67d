package org.p4sched.onos.config;

/** An invalid setting. The message is one sentence that begins with the JSON path. */
public class SettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String path;
    private final String reason;

    /** {@code path} is the JSON path, for example {@code p4schedScheduler.users[1].weight}. */
    public SettingsException(String path, String reason) {
        super(path + ": " + reason);
        this.path = path;
        this.reason = reason;
    }

    public String path() {
        return path;
    }

    /** The message without the path. */
    public String reason() {
        return reason;
    }
}
