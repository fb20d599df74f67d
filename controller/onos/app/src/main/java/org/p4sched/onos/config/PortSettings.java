package org.p4sched.onos.config;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Settings of an egress port with a control law: the law's configuration and the rank source. */
public final class PortSettings {
    private static final String DEFAULT_BANDS = "1+4*0.5";
    private static final long DEFAULT_RTT_NS = 10_000_000;
    private static final long DEFAULT_DELAY_NS = 5_000_000;
    private static final long DEFAULT_QUEUE_PACKETS = 512;

    private final Map<String, Object> configuration;
    private final RankSource rankSource;

    private PortSettings(Map<String, Object> configuration, RankSource rankSource) {
        this.configuration = configuration;
        this.rankSource = rankSource;
    }

    static PortSettings parse(Scheduler scheduler, Members members) {
        Map<String, Object> record = new LinkedHashMap<>();
        long rate = members.parse("rate", Units::rate)
                .orElseThrow(() -> members.wrong("rate", "is missing; give the link's rate, for example 50mbit"));
        RankSource source = null;
        if (!scheduler.ranked()) {
            fdpa(members, rate, record);
        } else {
            ranked(scheduler, members, rate, record);
            source = members.parse("rankSource", RankSource::parse).orElse(null);
        }
        members.end();
        return new PortSettings(record, source);
    }

    private static void fdpa(Members members, long rate, Map<String, Object> record) {
        long rtt = members.parse("rtt", Units::time).orElse(DEFAULT_RTT_NS);
        record.put("capacity_bps", rate);
        record.put("bands", members.text("bands").orElse(DEFAULT_BANDS));
        // the paper's interval is 30 ms at an RTT of 5 ms: 6 RTTs
        record.put("interval_us", members.parse("interval", Units::time).orElse(6 * rtt) / 1000);
        record.put("rtt_ns", rtt);
        record.put("token_bucket", members.flag("tokenBucket"));
        record.put("burst_bytes", members.whole("burst", 0, 0x0fff_ffffL).orElse(0L));
        record.put(
                "flowlet_gap_us",
                members.parse("flowletGap", Units::time)
                        .map(gap -> Math.max(1, gap / 1000))
                        .orElse(0L));
    }

    private static void ranked(Scheduler scheduler, Members members, long rate, Map<String, Object> record) {
        record.put("rate_bps", rate);
        record.put("delay_ns", members.parse("delay", Units::time).orElse(DEFAULT_DELAY_NS));
        record.put("queue_packets", members.whole("queuePackets", 1, 0xffff).orElse(DEFAULT_QUEUE_PACKETS));
        record.put("span_ns", members.parse("span", Units::time).orElse(0L));
        record.put("fixed", fixed(members));
        members.number("loss").ifPresent(loss -> record.put("loss", loss));
        members.number("maxHeadroom").ifPresent(headroom -> record.put("max_headroom", headroom));
        if (scheduler.options().contains("--queues")) {
            members.whole("queues", 1, 8).ifPresent(queues -> record.put("queues", queues));
        }
        if (scheduler.options().contains("--window")) {
            members.whole("window", 1, 32).ifPresent(ranks -> record.put("window_ranks", ranks));
        }
    }

    private static Map<String, Double> fixed(Members members) {
        Map<String, Double> values = new LinkedHashMap<>();
        members.object("fixed").ifPresent(fixed -> {
            for (String name : fixed.names()) {
                JsonNode value = fixed.find(name).orElseThrow(() -> fixed.wrong(name, "is null"));
                values.put(name, Members.number(fixed.path(name), value));
            }
        });
        return values;
    }

    /** The law's configuration, by the names in a decision log. A missing field has the law's default. */
    public Map<String, Object> configuration() {
        return configuration;
    }

    /** The rank source of this port; empty for that of all ports. */
    public Optional<RankSource> rankSource() {
        return Optional.ofNullable(rankSource);
    }
}
