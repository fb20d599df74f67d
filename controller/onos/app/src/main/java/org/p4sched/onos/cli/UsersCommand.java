package org.p4sched.onos.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.apache.karaf.shell.api.action.Command;
import org.apache.karaf.shell.api.action.lifecycle.Service;
import org.onosproject.net.DeviceId;
import org.p4sched.onos.SchedulerService;
import org.p4sched.onos.config.Settings;
import org.p4sched.onos.config.User;
import org.p4sched.onos.control.SwitchException;

/** Lists the users of a switch. */
@Service
@Command(
        scope = "onos",
        name = "p4sched-users",
        description = "Lists the users of a switch: number, traffic, weight, bytes that arrived")
public class UsersCommand extends DeviceCommand {
    @Override
    void run(SchedulerService service, DeviceId id) throws SwitchException {
        Settings settings = Settings.parse(service.configuration(id).orElseThrow());
        Map<Long, Long> sent = service.sentBytes(id);
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        for (User user : settings.users()) {
            long bytes = sent.getOrDefault((long) user.number(), 0L);
            if (outputJson()) {
                ObjectNode entry = json.addObject();
                entry.put("user", user.number()).put("traffic", user.traffic());
                entry.put("weight", user.weight()).put("sentBytes", bytes);
            } else {
                print(
                        "user=%d, traffic=%s, weight=%s, sentBytes=%d",
                        user.number(), user.traffic(), user.weight(), bytes);
            }
        }
        if (outputJson()) {
            print("%s", json);
        }
    }
}
