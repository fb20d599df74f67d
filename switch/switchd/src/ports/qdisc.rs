//! Queueing disciplines on the switch's interfaces (set by `tc` or Mininet's `TCLink`), and changes of the links.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_core::{NLM_F_REQUEST, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use super::netlink::ask;

/// `RTNLGRP_LINK`, rtnetlink(7): links that go up or down.
const LINKS: u32 = 1;
/// `RTNLGRP_TC`: changes of queueing disciplines.
const TRAFFIC_CONTROL: u32 = 4;
/// The default disciplines of interfaces. None of them limits the rate of a virtual link.
const DEFAULTS: [&str; 6] = ["noop", "noqueue", "pfifo_fast", "mq", "fq", "fq_codel"];

/// Reports changes of queueing disciplines and links.
pub struct Qdiscs {
    changes: Socket,
}

impl Qdiscs {
    /// Watches the interfaces of this network namespace.
    ///
    /// # Errors
    /// Those of netlink(7) sockets.
    pub fn watch() -> io::Result<Qdiscs> {
        let mut changes = Socket::new(NETLINK_ROUTE)?;
        changes.bind_auto()?;
        changes.add_membership(LINKS)?;
        changes.add_membership(TRAFFIC_CONTROL)?;
        changes.set_non_blocking(true)?;
        Ok(Qdiscs { changes })
    }

    /// Whether any discipline or link changed since the last call.
    pub fn changed(&self) -> bool {
        let mut any = false;
        loop {
            match self.changes.recv_from_full() {
                Ok(_) => any = true,
                // An overflow of the socket means that there were changes.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => any = true,
                Err(_) => return any,
            }
        }
    }

    /// Whether frames for this interface should go through its discipline; false if there is no such interface.
    pub fn is_set(interface: i32) -> bool {
        root_discipline(interface).is_ok_and(|kind| kind.is_some_and(|kind| !DEFAULTS.contains(&kind.as_str())))
    }
}

impl AsFd for Qdiscs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.changes.as_fd()
    }
}

/// The name of the discipline at the interface's root, as `ip link` shows it.
fn root_discipline(interface: i32) -> io::Result<Option<String>> {
    let mut link = LinkMessage::default();
    link.header.index = interface.cast_unsigned();
    match ask(RouteNetlinkMessage::GetLink(link), NLM_F_REQUEST)? {
        NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => {
            Ok(link.attributes.into_iter().find_map(|attribute| match attribute {
                LinkAttribute::Qdisc(kind) => Some(kind),
                _ => None,
            }))
        }
        NetlinkPayload::Error(error) => Err(error.to_io()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
