package org.p4sched.onos.pipeconf;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.onosproject.net.DeviceId;
import org.onosproject.net.Port;
import org.onosproject.net.config.NetworkConfigService;
import org.onosproject.net.device.DefaultPortStatistics;
import org.onosproject.net.device.DeviceService;
import org.onosproject.net.device.PortStatistics;
import org.onosproject.net.device.PortStatisticsDiscovery;
import org.onosproject.net.driver.AbstractHandlerBehaviour;
import org.onosproject.net.pi.service.PiPipeconfService;
import org.onosproject.p4runtime.api.P4RuntimeController;
import org.p4sched.laws.Count;
import org.p4sched.onos.control.PortCounts;
import org.p4sched.onos.control.SwitchException;
import org.p4sched.onos.control.SwitchReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Statistics of the egress ports from the counters of the program. Sent packets are those that it admitted to the
 * port's queues; dropped packets are those that it refused or that found a full queue. The program does not count
 * arrivals.
 */
public class LabPortStatistics extends AbstractHandlerBehaviour implements PortStatisticsDiscovery {
    private static final Logger LOG = LoggerFactory.getLogger(LabPortStatistics.class);

    @Override
    public Collection<PortStatistics> discoverPortStatistics() {
        DeviceId device = data().deviceId();
        List<PortStatistics> result = new ArrayList<>();
        try {
            SwitchReader reader = SwitchReader.of(
                    device,
                    handler().get(P4RuntimeController.class),
                    handler().get(PiPipeconfService.class),
                    handler().get(NetworkConfigService.class));
            List<Integer> ports = new ArrayList<>();
            for (Port port : handler().get(DeviceService.class).getPorts(device)) {
                if (!port.number().isLogical() && port.number().toLong() <= PortCounts.LARGEST_PORT) {
                    ports.add((int) port.number().toLong());
                }
            }
            Map<Integer, PortCounts> counts = PortCounts.read(reader, ports);
            for (Port port : handler().get(DeviceService.class).getPorts(device)) {
                PortCounts counted = counts.get((int) port.number().toLong());
                if (counted != null) {
                    Count sent = counted.admitted();
                    result.add(DefaultPortStatistics.builder()
                            .setDeviceId(device)
                            .setPort(port.number())
                            .setPacketsSent(sent.packets)
                            .setBytesSent(sent.bytes)
                            .setPacketsTxDropped(counted.dropped().packets)
                            .build());
                }
            }
        } catch (SwitchException e) {
            LOG.warn("{}: no port statistics: {}", device, e.getMessage());
        }
        return result;
    }
}
