//! What the device knows of the links behind its ports: the names of their interfaces, and whether they are up.

pub(crate) mod liveness;

use std::collections::BTreeMap;

use p4sched_dataplane::Port;

use crate::Device;
use crate::translation::PortNames;

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

impl Device {
    /// The links as they are from now on.
    pub fn set_links(&mut self, links: Links) {
        if links != self.links {
            self.links = links;
            self.apply_links();
        }
    }

    /// Tells the programs, or a new one, of the links.
    pub(crate) fn apply_links(&mut self) {
        let names = PortNames {
            interfaces: (self.links.iter().map(|(&port, link)| (port, link.interface.clone()))).collect(),
            cpu: self.engine().cpu_port(),
        };
        let active = self.active.as_mut().zip(self.engine.pipeline_mut());
        let saved = self.saved.as_mut();
        let saved = saved.map(|saved| (&mut saved.forwarding, &mut saved.pipeline));
        for (forwarding, pipeline) in active.into_iter().chain(saved) {
            forwarding.translation.set_ports(names.clone());
            forwarding.links.clone_from(&self.links);
            liveness::follow(forwarding, pipeline);
        }
    }
}
