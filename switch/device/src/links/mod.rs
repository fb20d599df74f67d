//! The links behind the device's ports: the names of their interfaces, and whether they are up.

pub(crate) mod liveness;

use std::collections::BTreeMap;

use p4sched_dataplane::Port;

/// The link behind a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub interface: String,
    /// Whether frames get through.
    pub up: bool,
}

/// Links by port number. A port that is not in the map counts as up.
pub type Links = BTreeMap<Port, Link>;
