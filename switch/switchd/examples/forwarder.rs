//! Forwards every frame between two interfaces and does nothing else: the maximum rate of AF_PACKET on this machine.
//!
//!     cargo run --release --example forwarder -- INTERFACE INTERFACE
//!
//! Like the switch, it has one thread with the name and priority of the switch's data plane, takes frames in batches,
//! and sends them without a queueing discipline. It runs until its process is ended.
#![allow(unsafe_code, reason = "packet sockets, as those of the switch")]

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::{env, mem, ptr};

/// The most frames in one system call.
const BATCH: usize = 64;
/// The size of a frame without offloads, in bytes.
const FRAME_BYTES: usize = 2048;
/// While traffic flows, frames gather for this time, as in the switch: a wake-up costs more than a frame.
const GATHER_NS: libc::c_long = 50_000;
/// Size of the receive buffer, in bytes.
const RECEIVE_BYTES: libc::c_int = 8 << 20;
/// Size of the send buffer, in bytes, as in the switch.
const SEND_BYTES: libc::c_int = 4 << 20;
/// The priority of the switch's data plane.
const PRIORITY: libc::c_int = 2;

fn checked(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}

fn size_of<T>() -> libc::socklen_t {
    mem::size_of::<T>() as libc::socklen_t
}

/// A packet socket bound to an interface.
fn open(interface: &str) -> Result<OwnedFd> {
    let name = CString::new(interface)?;
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    // Protocol 0: the socket receives nothing until it is bound.
    // SAFETY: plain calls; all pointers are to values that outlive them.
    unsafe {
        let index = libc::if_nametoindex(name.as_ptr());
        if index == 0 {
            return Err(Error::last_os_error());
        }
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        let socket = OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_PACKET, kind, 0))?);
        let on: libc::c_int = 1;
        for option in [libc::PACKET_QDISC_BYPASS, libc::PACKET_IGNORE_OUTGOING] {
            let value = ptr::from_ref(&on).cast();
            checked(libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_PACKET,
                option,
                value,
                size_of::<libc::c_int>(),
            ))?;
        }
        // Frames that wait for the other CPU still occupy the send buffer. With a small buffer, frames would be lost
        // that the switch does not lose.
        for (option, room) in [
            (libc::SO_RCVBUFFORCE, RECEIVE_BYTES),
            (libc::SO_SNDBUFFORCE, SEND_BYTES),
        ] {
            let value = ptr::from_ref(&room).cast();
            checked(libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                option,
                value,
                size_of::<libc::c_int>(),
            ))?;
        }
        let mut address: libc::sockaddr_ll = mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index.cast_signed();
        let at = ptr::from_ref(&address).cast();
        checked(libc::bind(socket.as_raw_fd(), at, size_of::<libc::sockaddr_ll>()))?;
        Ok(socket)
    }
}

/// Buffers for one batch, and the kernel's view of them.
struct Batch {
    _frames: Vec<[u8; FRAME_BYTES]>,
    spans: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

impl Batch {
    fn new() -> Batch {
        let mut frames = vec![[0; FRAME_BYTES]; BATCH];
        let span = |frame: &mut [u8; FRAME_BYTES]| libc::iovec {
            iov_base: frame.as_mut_ptr().cast(),
            iov_len: FRAME_BYTES,
        };
        let mut spans: Vec<libc::iovec> = frames.iter_mut().map(span).collect();
        let message = |span: &mut libc::iovec| {
            // SAFETY: a message of zeros is an empty one.
            let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
            message.msg_hdr.msg_iov = span;
            message.msg_hdr.msg_iovlen = 1;
            message
        };
        let messages = spans.iter_mut().map(message).collect();
        Batch {
            _frames: frames,
            spans,
            messages,
        }
    }

    /// Forwards the frames that wait on one socket to the other one, and returns their number.
    fn forward(&mut self, from: &OwnedFd, to: &OwnedFd) -> usize {
        self.spans.iter_mut().for_each(|span| span.iov_len = FRAME_BYTES);
        let messages = self.messages.as_mut_ptr();
        // SAFETY: the messages point to the spans, and these to the frames, which live as long as the batch.
        let taken = unsafe {
            libc::recvmmsg(
                from.as_raw_fd(),
                messages,
                BATCH as u32,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        let taken = usize::try_from(taken).unwrap_or(0);
        for (span, message) in self.spans.iter_mut().zip(&self.messages[..taken]) {
            span.iov_len = message.msg_len as usize;
        }
        let mut sent = 0;
        while sent < taken {
            let rest = &mut self.messages[sent..taken];
            // SAFETY: as above.
            let done = unsafe { libc::sendmmsg(to.as_raw_fd(), rest.as_mut_ptr(), rest.len() as u32, 0) };
            // A frame that the interface refuses is lost.
            sent += usize::try_from(done).unwrap_or(0).max(1);
        }
        taken
    }
}

fn main() -> Result<()> {
    let interfaces: Vec<String> = env::args().skip(1).collect();
    let [left, right] = &interfaces[..] else {
        return Err(Error::other("give two interfaces"));
    };
    let (left, right) = (open(left)?, open(right)?);
    let forward = move || {
        let priority = libc::sched_param {
            sched_priority: PRIORITY,
        };
        // SAFETY: a plain call. If it fails, the thread keeps its normal priority.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &priority) };
        let mut batch = Batch::new();
        loop {
            if batch.forward(&left, &right) + batch.forward(&right, &left) > 0 {
                let time = libc::timespec {
                    tv_sec: 0,
                    tv_nsec: GATHER_NS,
                };
                // SAFETY: a plain call.
                unsafe { libc::nanosleep(&time, ptr::null_mut()) };
                while batch.forward(&left, &right) + batch.forward(&right, &left) > 0 {}
            }
            let mut waited = [&left, &right].map(|socket| libc::pollfd {
                fd: socket.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            });
            // SAFETY: a plain call on an array of its length.
            unsafe { libc::poll(waited.as_mut_ptr(), 2, -1) };
        }
    };
    let thread = std::thread::Builder::new()
        .name("data-plane".to_owned())
        .spawn(forward)?;
    println!("ready");
    thread.join().map_err(|_| Error::other("the thread has failed"))
}
