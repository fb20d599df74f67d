//! Requests to the kernel about interfaces, rtnetlink(7).

use std::io;

use netlink_packet_core::{NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// The kernel's answer to one message.
pub fn ask(message: RouteNetlinkMessage, flags: u16) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
    let mut request = NetlinkMessage::new(NetlinkHeader::default(), NetlinkPayload::from(message));
    request.header.flags = flags;
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);

    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
    Ok(answer.payload)
}
