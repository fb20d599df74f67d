//! What the kernel knows of a connection's retransmissions (tcp(7), TCP_INFO).

#![allow(unsafe_code, reason = "no safe interface reads TCP_INFO")]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};

/// Segments that this connection has sent again so far.
///
/// # Errors
/// If it is no TCP socket.
pub fn retransmitted(stream: &impl AsFd) -> io::Result<u32> {
    // SAFETY: plain integers, for which zeros are a value.
    let mut known: libc::tcp_info = unsafe { zeroed() };
    let mut length = size_of_val(&known) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `known`, which is that long, during the call only.
    let done = unsafe {
        libc::getsockopt(
            stream.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut known).cast(),
            &raw mut length,
        )
    };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(known.tcpi_total_retrans)
    }
}
