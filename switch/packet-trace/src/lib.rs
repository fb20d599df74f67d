//! The path of a packet through a program: its events as text and as JSON lines. It also sends captured packets through
//! a program.
//!
//! The switch writes its log of packets with this crate. `p4sched-packet-trace` shows what a program does with a
//! capture.

mod packet;
mod pcap;
mod pcapng;
mod reader;
pub mod text;
pub mod way;

pub use packet::Packet;
pub use reader::Reader;

use p4sched_dataplane::{Event, EventKind};

/// An event as a line of JSON, with at most `data_bytes` bytes of a frame.
pub fn json(event: &Event, data_bytes: usize) -> String {
    let mut event = event.clone();
    if let EventKind::Received { data, .. } | EventKind::Transmitted { data, .. } = &mut event.what {
        data.0.truncate(data_bytes);
    }
    // An event has only names and numbers, so this cannot fail.
    serde_json::to_string(&event).unwrap_or_default()
}
