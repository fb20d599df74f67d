package org.p4sched.onos.config;

import java.util.Objects;
import java.util.Optional;
import org.onlab.packet.Ip4Address;
import org.onlab.packet.Ip4Prefix;

/** A user: all packets from a prefix, or all TCP segments to an address and port (p4/include/users.p4). */
public final class User {
    /** Largest number of a user. User 0 is all other traffic. */
    public static final int MOST = Constants.MAX_USERS - 1;
    /** The scale of weight 1: the estimator charges length * scale / 256. */
    public static final int UNIT_SCALE = 256;

    private final int number;
    private final double weight;
    private final Ip4Prefix prefix;
    private final Ip4Address address;
    private final int tcpPort;

    private User(int number, double weight, Ip4Prefix prefix, Ip4Address address, int tcpPort) {
        this.number = number;
        this.weight = weight;
        this.prefix = prefix;
        this.address = address;
        this.tcpPort = tcpPort;
    }

    static User parse(Members members) {
        int number = (int) members.neededWhole("user", 1, MOST);
        double weight = members.number("weight").orElse(1.0);
        if (!(weight > 1.0 / UNIT_SCALE && weight <= UNIT_SCALE)) {
            throw members.wrong("weight", String.format("%s is not in (1/256, 256]", number(weight)));
        }
        Optional<Ip4Prefix> prefix = members.parse("prefix", Ip4Prefix::valueOf);
        Optional<Ip4Address> address = members.parse("address", Ip4Address::valueOf);
        Optional<Long> port = members.whole("tcpPort", 0, 0xffff);
        members.end();
        if (prefix.isPresent() == address.isPresent() || address.isPresent() != port.isPresent()) {
            throw new SettingsException(
                    members.path(), "a user has either a prefix, from which it sends, or an address and a tcpPort");
        }
        return new User(
                number,
                weight,
                prefix.orElse(null),
                address.orElse(null),
                port.orElse(0L).intValue());
    }

    /** The number of the user, 1 to 4095. */
    public int number() {
        return number;
    }

    /** The weight, in (1/256, 256]. */
    public double weight() {
        return weight;
    }

    /** The parameter {@code scale} of {@code set_user}: 256 / weight. */
    public int scale() {
        return (int) Math.max(1, Math.min(0xffff, Math.rint(UNIT_SCALE / weight)));
    }

    /** The source prefix of the user; empty for a flow. */
    public Optional<Ip4Prefix> prefix() {
        return Optional.ofNullable(prefix);
    }

    /** The destination address of the flow; empty for a prefix. */
    public Optional<Ip4Address> address() {
        return Optional.ofNullable(address);
    }

    /** The destination port of the flow. */
    public int tcpPort() {
        return tcpPort;
    }

    /** The prefix, or ADDRESS:PORT. */
    public String traffic() {
        return prefix == null ? address + ":" + tcpPort : prefix.toString();
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof User
                && ((User) other).number == number
                && ((User) other).weight == weight
                && ((User) other).traffic().equals(traffic());
    }

    @Override
    public int hashCode() {
        return Objects.hash(number, weight, traffic());
    }
}
