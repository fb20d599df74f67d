//! What the device knows of the links behind its ports: the names of their interfaces, and whether they are up.

pub(crate) mod liveness;

use std::collections::BTreeMap;

use p4sched_dataplane::Port;

/// What is behind a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Name of the interface.
    pub interface: String,
    /// Frames get through.
    pub up: bool,
}

/// Links by the numbers of their ports. Nothing is known of other ports: they count as up.
pub type Links = BTreeMap<Port, Link>;
