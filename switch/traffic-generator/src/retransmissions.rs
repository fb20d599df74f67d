//! What the kernel knows of a connection's retransmissions (tcp(7), TCP_INFO).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, sockopt_impl};

sockopt_impl!(
    /// The state of a connection.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    libc::tcp_info
);

/// Segments that this connection has sent again so far.
///
/// # Errors
/// If it is no TCP socket.
pub fn retransmitted(stream: &impl AsFd) -> io::Result<u32> {
    Ok(getsockopt(stream, TcpInfo)?.tcpi_total_retrans)
}
