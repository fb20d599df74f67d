//! The interfaces of the ports, for gNMI: their state from the kernel, and ports that go up and down.

use std::io;
use std::sync::Arc;

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use p4sched_p4runtime::gnmi::{Interface, Interfaces};
use tokio::sync::watch;

use super::netlink::ask;

/// The kernel's interfaces in this network namespace.
#[derive(Clone)]
pub struct KernelInterfaces {
    changed: Arc<watch::Sender<()>>,
}

impl KernelInterfaces {
    pub fn new() -> KernelInterfaces {
        KernelInterfaces {
            changed: Arc::new(watch::Sender::new(())),
        }
    }

    /// Reports a change to the readers of [`Interfaces::changes`].
    pub fn report(&self) {
        self.changed.send_replace(());
    }
}

impl Interfaces for KernelInterfaces {
    fn read(&self, name: &str) -> Option<Interface> {
        let link = link(name).ok()?;
        let mut mac = [0; 6];
        for attribute in link.attributes {
            if let LinkAttribute::Address(address) = attribute
                && let Ok(address) = address.try_into()
            {
                mac = address;
            }
        }
        let enabled = link.header.flags.contains(LinkFlags::Up);
        Some(Interface {
            enabled,
            up: enabled && link.header.flags.contains(LinkFlags::Running),
            mac,
            speed: speed(name, link.header.index),
        })
    }

    fn enable(&self, name: &str, enabled: bool) -> Result<(), String> {
        set_up(name, enabled).map_err(|error| {
            let way = if enabled { "up" } else { "down" };
            match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    format!("no permission to take interface {name} {way}; run as root (or with CAP_NET_ADMIN)")
                }
                _ => format!("cannot take interface {name} {way}: {error}"),
            }
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

fn link(name: &str) -> io::Result<LinkMessage> {
    let mut request = LinkMessage::default();
    request.attributes.push(LinkAttribute::IfName(name.to_owned()));
    match ask(RouteNetlinkMessage::GetLink(request), NLM_F_REQUEST)? {
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => Ok(link),
        NetlinkPayload::Error(error) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn set_up(name: &str, up: bool) -> io::Result<()> {
    let mut request = LinkMessage::default();
    request.header.index = link(name)?.header.index;
    request.header.change_mask = LinkFlags::Up;
    if up {
        request.header.flags = LinkFlags::Up;
    }
    match ask(RouteNetlinkMessage::SetLink(request), NLM_F_REQUEST | NLM_F_ACK)? {
        // An acknowledgement is an error with the code 0.
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        NetlinkPayload::Error(_) => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The speed of an interface in Mbit/s; `None` if it does not say. Only sysfs says it without unsafe code, and it may
/// show another namespace: there the interface has another index, or is not found.
fn speed(name: &str, index: u32) -> Option<u32> {
    let property = |property: &str| std::fs::read_to_string(format!("/sys/class/net/{name}/{property}")).ok();
    let number = |text: String| text.trim().parse::<u32>().ok();
    let same = property("ifindex").and_then(number) == Some(index);
    same.then(|| property("speed").and_then(number)).flatten()
}
