//! Setup of a guest as a host of the laboratory. It does the same as mininet-topos/nodes.py does for a namespace
//! (`OffloadFreeHost`).

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use p4sched_guest::orders::FOLDER;
use p4sched_guest::{Guest, GuestError};
use p4sched_world::network_file::{HostPlace, Mac};

use super::INTERFACE;
use crate::host::TcpSettings;
use crate::run::DCTCP;

const HOST_BITS: u8 = 24;
/// Buffer size of a TCP connection in bytes (minimum, default, maximum). It has room for every bandwidth-delay product
/// here.
const TCP_BUFFER: &str = "4096 131072 16777216";
const COMMANDS: &str = "setup.ip";

/// Sets up a guest that has just booted.
///
/// # Errors
/// [`GuestError`] if it refuses.
pub fn set_up(guest: &mut Guest, place: &HostPlace, folder: &Path) -> Result<(), GuestError> {
    let settings = [
        ("/proc/sys/kernel/hostname", place.name.as_str()),
        ("/proc/sys/net/ipv4/tcp_rmem", TCP_BUFFER),
        ("/proc/sys/net/ipv4/tcp_wmem", TCP_BUFFER),
        // Otherwise a connection starts with values from an earlier connection to the same address.
        ("/proc/sys/net/ipv4/tcp_no_metrics_save", "1"),
    ];
    for (path, text) in settings {
        guest.write(path, text)?;
    }
    // A packet must be as large as on the wire.
    guest.run(&["ethtool", "-K", INTERFACE, "gro", "off", "gso", "off"])?;
    fs::write(folder.join(COMMANDS), addresses(place))?;
    guest.run(&["ip", "-batch", &format!("{FOLDER}/{COMMANDS}")])?;
    Ok(())
}

/// The commands for `ip -batch`.
fn addresses(place: &HostPlace) -> String {
    let Mac([a, b, c, d, e, f]) = place.gateway_mac;
    let mut lines = vec![
        "link set lo up".to_owned(),
        format!("link set {INTERFACE} up"),
        format!("address add {}/{HOST_BITS} dev {INTERFACE}", place.address),
    ];
    lines.extend(
        place
            .users
            .iter()
            .map(|user| format!("address add {user}/32 dev {INTERFACE}")),
    );
    lines.push(format!(
        "neighbour replace {} lladdr {a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x} dev {INTERFACE} nud permanent",
        place.gateway
    ));
    lines.push(format!("route replace {}", route(place)));
    lines.join("\n") + "\n"
}

/// The default route, in the syntax of ip-route(8).
pub fn route(place: &HostPlace) -> String {
    format!("default via {} dev {INTERFACE}", place.gateway)
}

/// The command that sets these options of a route.
pub fn change_route(route: &str, settings: TcpSettings) -> Vec<String> {
    let mut line = format!("ip route change {route}");
    if let Some(rto_min) = settings.rto_min {
        // In whole milliseconds, rounded up.
        line += &format!(" rto_min {}ms", rto_min.div_ceil(1_000_000));
    }
    if let Some(segments) = settings.initial_window {
        line += &format!(" initcwnd {segments}");
    }
    line.split(' ').map(str::to_owned).collect()
}

/// The command that enables DCTCP for new connections with this address. Existing connections keep their congestion
/// control.
pub fn dctcp_route(route: &str, with: Ipv4Addr) -> Vec<String> {
    let hop = route.trim_start_matches("default ");
    let line = format!("ip route replace {with}/32 {hop} congctl {DCTCP}");
    line.split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> HostPlace {
        let text = r#"{"name": "u1", "mac": "02:00:00:00:01:01", "address": "10.1.1.250", "users": ["10.1.1.1"],
            "gateway": "10.1.1.254", "gateway_mac": "02:00:00:00:00:fe", "switch": "s1", "port": 1}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_guest_gets_the_addresses_of_its_users_and_a_gateway_without_arp() {
        let expected = "link set lo up\nlink set eth0 up\naddress add 10.1.1.250/24 dev eth0\n\
                        address add 10.1.1.1/32 dev eth0\n\
                        neighbour replace 10.1.1.254 lladdr 02:00:00:00:00:fe dev eth0 nud permanent\n\
                        route replace default via 10.1.1.254 dev eth0\n";
        assert_eq!(addresses(&place()), expected);
    }

    #[test]
    fn connections_with_one_address_get_dctcp() {
        let expected = "ip route replace 10.1.1.7/32 via 10.1.1.254 dev eth0 congctl dctcp";
        let words = dctcp_route(&route(&place()), Ipv4Addr::new(10, 1, 1, 7));
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn a_route_gets_its_options_in_whole_milliseconds() {
        let settings = TcpSettings {
            rto_min: Some(7_100_000),
            initial_window: Some(3),
        };
        let expected = "ip route change default via 10.1.1.254 dev eth0 rto_min 8ms initcwnd 3";
        assert_eq!(change_route(&route(&place()), settings).join(" "), expected);
    }
}
