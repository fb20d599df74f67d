//! The leaves of an interface: openconfig-interfaces and openconfig-if-ethernet, as far as Stratum has them.

use p4sched_proto::gnmi::get_request::DataType;
use p4sched_proto::p4sched::v1::PortStats;

use super::interfaces::Interface;
use super::value::Value;

/// A port, at one instant.
#[derive(Debug, Clone)]
pub struct Port {
    /// Name of its interface.
    pub name: String,
    pub number: u16,
    /// `None` while there is no such interface.
    pub interface: Option<Interface>,
    /// Time at which `up` of the interface changed, in ns since 1970.
    pub last_change: u64,
    /// `None` if the counters were not asked for.
    pub stats: Option<PortStats>,
}

/// Where the value of a leaf comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Config,
    /// The configuration in force.
    Applied,
    /// A state that is not configured.
    Derived,
    /// A number of frames or bytes.
    Counter,
}

impl Kind {
    /// Whether a `Get` for this type of data includes the leaf.
    pub fn is_of(self, wanted: DataType) -> bool {
        match wanted {
            DataType::All => true,
            DataType::Config => self == Kind::Config,
            DataType::State => self != Kind::Config,
            DataType::Operational => matches!(self, Kind::Derived | Kind::Counter),
        }
    }
}

/// A leaf below `/interfaces/interface`.
pub struct Leaf {
    pub path: &'static [&'static str],
    pub kind: Kind,
    value: fn(&Port) -> Option<Value>,
}

impl Leaf {
    pub fn is_counter(&self) -> bool {
        self.kind == Kind::Counter
    }

    /// The value of the leaf; `None` if it is not known.
    pub fn value(&self, port: &Port) -> Option<Value> {
        (self.value)(port)
    }
}

/// The leaf that a client may set.
pub const ENABLED: &[&str] = &["config", "enabled"];

/// All leaves, in the order of the models. Frames are not classified by their destination: as with Stratum on BMv2, all
/// count as unicast.
pub static LEAVES: [Leaf; 29] = [
    leaf(&["name"], Kind::Config, name),
    leaf(&["config", "name"], Kind::Config, name),
    leaf(ENABLED, Kind::Config, enabled),
    leaf(&["state", "name"], Kind::Applied, name),
    leaf(&["state", "enabled"], Kind::Applied, enabled),
    leaf(&["state", "id"], Kind::Derived, number),
    leaf(&["state", "ifindex"], Kind::Derived, number),
    leaf(&["state", "admin-status"], Kind::Derived, |port| {
        text(if is_enabled(port) { "UP" } else { "DOWN" })
    }),
    leaf(&["state", "oper-status"], Kind::Derived, |port| {
        text(match port.interface {
            None => "NOT_PRESENT",
            Some(Interface { up: true, .. }) => "UP",
            Some(_) => "DOWN",
        })
    }),
    leaf(&["state", "last-change"], Kind::Derived, |port| {
        Some(Value::Wide(port.last_change))
    }),
    counter(&["state", "counters", "in-octets"], |port| {
        count(port, |stats| stats.rx_bytes)
    }),
    counter(&["state", "counters", "in-unicast-pkts"], |port| {
        count(port, |stats| stats.rx_packets)
    }),
    counter(&["state", "counters", "in-broadcast-pkts"], none),
    counter(&["state", "counters", "in-multicast-pkts"], none),
    counter(&["state", "counters", "in-discards"], |port| {
        count(port, |stats| stats.rx_lost)
    }),
    counter(&["state", "counters", "in-errors"], none),
    counter(&["state", "counters", "in-unknown-protos"], none),
    counter(&["state", "counters", "in-fcs-errors"], none),
    counter(&["state", "counters", "out-octets"], |port| {
        count(port, |stats| stats.tx_bytes)
    }),
    counter(&["state", "counters", "out-unicast-pkts"], |port| {
        count(port, |stats| stats.tx_packets)
    }),
    counter(&["state", "counters", "out-broadcast-pkts"], none),
    counter(&["state", "counters", "out-multicast-pkts"], none),
    counter(&["state", "counters", "out-discards"], |port| {
        count(port, |stats| {
            stats.queues.iter().map(|queue| queue.dropped_packets).sum()
        })
    }),
    counter(&["state", "counters", "out-errors"], |port| {
        count(port, |stats| stats.tx_errors)
    }),
    leaf(&["ethernet", "config", "mac-address"], Kind::Config, mac_address),
    leaf(&["ethernet", "config", "port-speed"], Kind::Config, port_speed),
    leaf(&["ethernet", "state", "mac-address"], Kind::Applied, mac_address),
    leaf(&["ethernet", "state", "port-speed"], Kind::Applied, port_speed),
    leaf(
        &["ethernet", "state", "negotiated-port-speed"],
        Kind::Derived,
        port_speed,
    ),
];

const fn leaf(path: &'static [&'static str], kind: Kind, value: fn(&Port) -> Option<Value>) -> Leaf {
    Leaf { path, kind, value }
}

const fn counter(path: &'static [&'static str], value: fn(&Port) -> Option<Value>) -> Leaf {
    leaf(path, Kind::Counter, value)
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.to_owned()))
}

fn name(port: &Port) -> Option<Value> {
    text(&port.name)
}

fn number(port: &Port) -> Option<Value> {
    Some(Value::Number(u32::from(port.number)))
}

fn is_enabled(port: &Port) -> bool {
    port.interface.is_some_and(|interface| interface.enabled)
}

fn enabled(port: &Port) -> Option<Value> {
    Some(Value::Bool(is_enabled(port)))
}

fn count(port: &Port, value: fn(&PortStats) -> u64) -> Option<Value> {
    port.stats.as_ref().map(|stats| Value::Wide(value(stats)))
}

/// The value of a counter of frames that this switch does not classify.
fn none(port: &Port) -> Option<Value> {
    count(port, |_| 0)
}

fn mac_address(port: &Port) -> Option<Value> {
    let mac = port.interface?.mac.map(|byte| format!("{byte:02x}"));
    text(&mac.join(":"))
}

fn port_speed(port: &Port) -> Option<Value> {
    text(match port.interface?.speed {
        Some(10) => "SPEED_10MB",
        Some(100) => "SPEED_100MB",
        Some(1000) => "SPEED_1GB",
        Some(2500) => "SPEED_2500MB",
        Some(5000) => "SPEED_5GB",
        Some(10_000) => "SPEED_10GB",
        Some(25_000) => "SPEED_25GB",
        Some(40_000) => "SPEED_40GB",
        Some(50_000) => "SPEED_50GB",
        Some(100_000) => "SPEED_100GB",
        _ => "SPEED_UNKNOWN",
    })
}
