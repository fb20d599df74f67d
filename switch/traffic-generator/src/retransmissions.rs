//! The kernel's counter of a connection's retransmissions (tcp(7), TCP_INFO).

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::getsockopt;
use nix::{getsockopt_impl, sockopt_impl};

/// Words of the kernel's `struct tcp_info` up to `tcpi_total_retrans`. Later kernels have more fields after it. A
/// kernel fills only the requested size.
const WORDS: usize = 26;

sockopt_impl!(
    /// The first part of the state of a connection.
    TcpInfo,
    GetOnly,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u32; WORDS]
);

/// Number of segments that this connection has sent again so far.
///
/// # Errors
/// If it is not a TCP socket.
pub fn retransmitted(stream: &impl AsFd) -> io::Result<u32> {
    Ok(getsockopt(stream, TcpInfo)?[WORDS - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_last_word_is_the_number_of_retransmissions() {
        assert_eq!(
            offset_of!(libc::tcp_info, tcpi_total_retrans),
            (WORDS - 1) * size_of::<u32>()
        );
    }
}
