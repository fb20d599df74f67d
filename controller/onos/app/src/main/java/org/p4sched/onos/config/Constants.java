package org.p4sched.onos.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and numbers that the programs share with their controllers, from p4/shared/constants.p4. */
public final class Constants {
    /** Port for packets to and from the controller. */
    public static final int CPU_PORT;
    /** Buckets of each group: a flow's hash selects one. */
    public static final int ECMP_BUCKETS;
    /** Clone session of the length reports of Tofino 1. */
    public static final int LENGTH_REPORT_SESSION;
    /** Bytes of the departing frame that follow a length report. */
    public static final int LENGTH_REPORT_BYTES;
    /** Users are 1 .. MAX_USERS - 1; user 0 is all other traffic. */
    public static final int MAX_USERS;
    /** Port of Tofino 1 whose packets return to ingress. */
    public static final int RECIRCULATION_PORT_TNA;

    static final String FILE = "/p4sched/programs/constants.p4";

    private static final String TEXT = text();

    static {
        CPU_PORT = named("CPU_PORT");
        ECMP_BUCKETS = named("ECMP_BUCKETS");
        LENGTH_REPORT_SESSION = named("LENGTH_REPORT_SESSION");
        LENGTH_REPORT_BYTES = named("LENGTH_REPORT_BYTES");
        MAX_USERS = named("MAX_USERS");
        RECIRCULATION_PORT_TNA = named("RECIRCULATION_PORT_TNA");
    }

    private Constants() {}

    /** The value of a constant. Throws IllegalStateException if the file does not define it. */
    static int named(String name) {
        String line = "^(?:#define|const bit<\\d+>) " + Pattern.quote(name) + "(?: =)? (0x[0-9a-f]+|\\d+);?$";
        Matcher matcher = Pattern.compile(line, Pattern.MULTILINE).matcher(TEXT);
        if (!matcher.find()) {
            throw new IllegalStateException(FILE + " has no " + name);
        }
        return Integer.decode(matcher.group(1));
    }

    private static String text() {
        try (InputStream file = Constants.class.getResourceAsStream(FILE)) {
            if (file == null) {
                throw new IllegalStateException(FILE + " is missing");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException error) {
            throw new IllegalStateException(FILE + ": " + error.getMessage(), error);
        }
    }
}
