//! Linux packet sockets (packet(7)).
//!
//! Receiving uses a memory-mapped `TPACKET_V2` ring. The kernel copies a frame into a slot and passes the slot on with
//! a store to its status word; the switch returns it in the same way. `TPACKET_V3` passes on blocks of slots, and a
//! block that is not full waits for a timer of at least one millisecond. That is too late for the links of this
//! laboratory.
//!
//! Sending uses `sendmmsg` on a separate socket for each interface. The kernel's transmit ring does not work on virtual
//! Ethernet: it passes the ring's pages to the receiver without a copy, and reports a slot as free when the receiver
//! takes ownership, before the receiver has read it.

#![allow(
    unsafe_code,
    reason = "packet sockets have no safe interface; each block says why it is sound"
)]

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// The most frames in one send call.
pub const SEND_BATCH: usize = 32;
/// Slots of a receive ring: enough for 80 ms of 1500-byte frames at 600 Mbit/s.
const RING_SLOTS: usize = 4096;
/// Bytes of a slot besides the payload: ring header, address, alignment, VLAN tag, Ethernet header.
const SLOT_OVERHEAD: usize = 32 + 20 + 64 + 4 + 14;
/// Bytes of a block of the ring. A slot never crosses a block boundary.
const BLOCK_BYTES: usize = 1 << 16;

/// The index of the interface with this name.
pub fn interface_index(name: &str) -> io::Result<i32> {
    let c_name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: the argument is a NUL-terminated string that outlives the call.
    let index = unsafe { libc::if_nametoindex(c_name.as_ptr()) };
    if index == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(index.cast_signed())
    }
}

/// Asks the kernel for a property of an interface; `request` is one of the SIOCGIF* calls.
fn interface_property(socket: &OwnedFd, name: &str, request: libc::Ioctl) -> io::Result<libc::ifreq> {
    // SAFETY: `ifreq` is plain integers and bytes, for which zeros are a value.
    let mut answer: libc::ifreq = unsafe { zeroed() };
    if name.len() >= answer.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in answer.ifr_name.iter_mut().zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    // SAFETY: the SIOCGIF* calls read the name of the `ifreq` and write its union; it outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), request, &raw mut answer) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer)
    }
}

/// The largest payload of a frame on the interface, in bytes, without the Ethernet header.
fn interface_mtu(socket: &OwnedFd, name: &str) -> io::Result<usize> {
    let answer = interface_property(socket, name, libc::SIOCGIFMTU)?;
    // SAFETY: after SIOCGIFMTU succeeded, the integer member of the union is the one that was written.
    let mtu = unsafe { answer.ifr_ifru.ifru_mtu };
    usize::try_from(mtu).map_err(|_| io::ErrorKind::InvalidData.into())
}

fn packet_socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers. Protocol 0: the socket receives nothing until it is bound.
    let fd = unsafe {
        libc::socket(
            libc::AF_PACKET,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK,
            0,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just returned by the kernel and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set_option<T>(socket: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
    // SAFETY: pointer and length describe `value`, which the kernel only reads during the call.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const *value).cast(), length) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Binds a packet socket to an interface. It receives the frames of this protocol; none if it is 0.
fn bind(socket: &OwnedFd, interface: i32, protocol: u16) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: protocol.to_be(),
        sll_ifindex: interface,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: pointer and length describe `address`, which outlives the call.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A received frame, still in its ring slot.
pub struct RingFrame<'a> {
    /// The frame from the Ethernet header on, as far as it fits into the slot.
    pub bytes: &'a [u8],
    /// Length of the frame on the wire. It is larger than `bytes.len()` if the frame did not fit.
    pub wire_len: usize,
    /// The VLAN tag that the kernel removed from the frame: protocol and tag control, in host byte order.
    pub vlan: Option<(u16, u16)>,
    /// Whether the sender left the transport checksum to an offload that did not run.
    pub checksum_missing: bool,
}

/// The receive ring of an interface.
pub struct RxRing {
    socket: OwnedFd,
    map: NonNull<u8>,
    map_bytes: usize,
    slot_bytes: usize,
    slots: usize,
    head: usize,
    interface: i32,
}

// SAFETY: the mapping belongs to this value alone; nothing else in the process holds a pointer into it.
unsafe impl Send for RxRing {}

impl RxRing {
    /// Opens a ring on the interface with this name and switches the interface to promiscuous mode.
    pub fn open(name: &str) -> io::Result<RxRing> {
        let socket = packet_socket()?;
        let interface = interface_index(name)?;
        let mtu = interface_mtu(&socket, name)?;
        let slot_bytes = (mtu + SLOT_OVERHEAD).next_power_of_two().clamp(2048, BLOCK_BYTES);
        set_option(
            &socket,
            libc::SOL_PACKET,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as c_int),
        )?;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1_i32)?;
        let blocks = RING_SLOTS * slot_bytes / BLOCK_BYTES;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: RING_SLOTS as u32,
        };
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let map_bytes = blocks * BLOCK_BYTES;
        let ring = RxRing::map(socket, map_bytes, slot_bytes, interface)?;
        ring.bind()?;
        Ok(ring)
    }

    fn map(socket: OwnedFd, map_bytes: usize, slot_bytes: usize, interface: i32) -> io::Result<RxRing> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, of the size of the ring that was just asked for.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                map_bytes,
                protection,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map = NonNull::new(address.cast()).ok_or_else(|| io::Error::other("the ring was mapped at address 0"))?;
        Ok(RxRing {
            socket,
            map,
            map_bytes,
            slot_bytes,
            slots: RING_SLOTS,
            head: 0,
            interface,
        })
    }

    fn bind(&self) -> io::Result<()> {
        bind(&self.socket, self.interface, libc::ETH_P_ALL as u16)?;
        let promiscuous = libc::packet_mreq {
            mr_ifindex: self.interface,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set_option(
            &self.socket,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &promiscuous,
        )
    }

    /// Kernel index of the interface.
    pub fn interface(&self) -> i32 {
        self.interface
    }

    /// Whether the interface is administratively up.
    pub fn is_up(&self, name: &str) -> bool {
        self.flags(name) & libc::IFF_UP != 0
    }

    /// Whether frames reach the other end of the link.
    pub fn is_running(&self, name: &str) -> bool {
        self.flags(name) & libc::IFF_RUNNING != 0
    }

    /// The flags of the interface, netdevice(7); 0 if there is no such interface.
    fn flags(&self, name: &str) -> c_int {
        interface_property(&self.socket, name, libc::SIOCGIFFLAGS).map_or(0, |answer| {
            // SAFETY: after SIOCGIFFLAGS succeeded, the flags member of the union is the one that was written.
            c_int::from(unsafe { answer.ifr_ifru.ifru_flags })
        })
    }

    fn slot(&self) -> NonNull<u8> {
        // SAFETY: `head < slots` and `slots * slot_bytes == map_bytes`, so the slot lies inside the mapping.
        unsafe { self.map.add(self.head * self.slot_bytes) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: the slot starts with the 32-bit status word, aligned because slots are powers of two of at least 2048
        // bytes in a page-aligned mapping; the kernel accesses it concurrently, hence atomically.
        unsafe { AtomicU32::from_ptr(self.slot().as_ptr().cast()) }
    }

    fn header(&self) -> libc::tpacket2_hdr {
        // SAFETY: called after `status` showed with acquire order that the slot is ours; the kernel wrote a whole header
        // at its start and does not touch it until the slot is released.
        unsafe { self.slot().cast::<libc::tpacket2_hdr>().read() }
    }

    /// Receive time of the frame at the head of the ring, in ns of `CLOCK_REALTIME`; `None` if the ring is empty.
    pub fn head_time(&self) -> Option<u64> {
        if self.status().load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let header = self.header();
        Some(u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec))
    }

    /// The frame at the head of the ring. Call only after [`RxRing::head_time`] returned a time.
    pub fn head(&self) -> RingFrame<'_> {
        let status = self.status().load(Ordering::Acquire);
        let header = self.header();
        let start = usize::from(header.tp_mac).min(self.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        // SAFETY: start and length were clamped to the slot, the slot is ours until `release`, which needs `&mut self`
        // and so cannot be called while the slice lives.
        let bytes = unsafe { std::slice::from_raw_parts(self.slot().add(start).as_ptr(), length) };
        let tpid = if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 {
            header.tp_vlan_tpid
        } else {
            0x8100
        };
        RingFrame {
            bytes,
            wire_len: header.tp_len as usize,
            vlan: (status & libc::TP_STATUS_VLAN_VALID != 0).then_some((tpid, header.tp_vlan_tci)),
            checksum_missing: status & libc::TP_STATUS_CSUMNOTREADY != 0,
        }
    }

    /// Returns the slot at the head to the kernel and moves to the next slot.
    pub fn release(&mut self) {
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.head = (self.head + 1) % self.slots;
    }

    /// The number of frames that the kernel dropped since the last call because the ring was full.
    pub fn take_lost(&self) -> u64 {
        // SAFETY: two plain integers, for which zeros are a value.
        let mut counts: libc::tpacket_stats = unsafe { zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: pointer and length describe `counts`; the kernel writes at most that many bytes during the call.
        let done = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast::<c_void>(),
                &raw mut length,
            )
        };
        if done < 0 { 0 } else { u64::from(counts.tp_drops) }
    }

    /// Reads and clears the socket's error, which the kernel sets for example when the interface goes down.
    pub fn take_error(&self) -> Option<io::Error> {
        rustix::net::sockopt::socket_error(&self.socket)
            .ok()
            .and_then(Result::err)
            .map(Into::into)
    }
}

impl AsFd for RxRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for RxRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `map` with this address and size, and no slice into it outlives `self`.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.map_bytes) };
    }
}

/// The sending socket of an interface.
///
/// It is bound to the interface. Otherwise the kernel would search for the interface for every frame.
pub struct TxSocket {
    socket: OwnedFd,
}

impl TxSocket {
    /// Opens a socket that only sends, around the queueing discipline of the interface.
    pub fn open(interface: i32) -> io::Result<TxSocket> {
        let socket = TxSocket::bound(interface)?;
        set_option(&socket.socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
        // Best effort: without CAP_NET_ADMIN the kernel keeps its default.
        let _ = set_option(&socket.socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &(4_i32 << 20));
        Ok(socket)
    }

    /// Opens a socket that only sends, through the queueing discipline of the interface.
    pub fn through_discipline(interface: i32) -> io::Result<TxSocket> {
        TxSocket::bound(interface)
    }

    /// Makes the socket writable, poll(2), while its frames in the kernel take fewer bytes than this bound, or than the
    /// minimum that the kernel allows. Returns the bound in force. The kernel refuses frames (`EAGAIN`) beyond twice
    /// the bound.
    pub fn set_writable_below(&self, bytes: u32) -> io::Result<u32> {
        let wanted = c_int::try_from(bytes).map_err(io::Error::other)?;
        // socket(7): the kernel doubles the value. `sock_writeable` in include/net/sock.h compares with half of it.
        set_option(&self.socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &wanted)?;
        let doubled = rustix::net::sockopt::socket_send_buffer_size(&self.socket)?;
        u32::try_from(doubled / 2).map_err(io::Error::other)
    }

    /// Size in bytes of the socket's frames that are still in the kernel, with its own bookkeeping.
    pub fn unsent_bytes(&self) -> io::Result<u32> {
        let mut bytes: c_int = 0;
        // SAFETY: `TIOCOUTQ`, the number of `SIOCOUTQ`, writes one integer, which outlives the call.
        let done = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        u32::try_from(bytes).map_err(io::Error::other)
    }

    fn bound(interface: i32) -> io::Result<TxSocket> {
        let socket = packet_socket()?;
        bind(&socket, interface, 0)?;
        Ok(TxSocket { socket })
    }

    /// Sends frames in order, at most [`SEND_BATCH`]. Returns how many the kernel took before it refused one; an error
    /// if it refused the first one.
    pub fn send<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) -> io::Result<usize> {
        let mut slices = [libc::iovec {
            iov_base: std::ptr::null_mut(),
            iov_len: 0,
        }; SEND_BATCH];
        // SAFETY: `mmsghdr` is pointers and integers, for which zeros are a value.
        let mut messages: [libc::mmsghdr; SEND_BATCH] = unsafe { zeroed() };
        let mut count = 0;
        for frame in frames.take(SEND_BATCH) {
            slices[count] = libc::iovec {
                iov_base: frame.as_ptr().cast_mut().cast(),
                iov_len: frame.len(),
            };
            let header = &mut messages[count].msg_hdr;
            header.msg_iov = &raw mut slices[count];
            header.msg_iovlen = 1;
            count += 1;
        }
        // SAFETY: the first `count` messages point to slices of this function and to frames borrowed for `'a`; all outlive
        // the call, and the kernel only reads the frames.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                count as u32,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

impl AsFd for TxSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
