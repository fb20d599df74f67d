//! Counters of a guest's network stack, from the kernel's own tables (Linux, snmp_counter.rst).

use std::collections::HashMap;

use p4sched_proto::p4sched::v1::HostCounters;

/// The files that [`counters`] reads, in this order.
pub const FILES: [&str; 3] = ["/proc/net/snmp", "/proc/net/netstat", "/proc/net/dev"];

/// The counters of a host, from the text of [`FILES`]. A counter that the kernel does not have is 0.
pub fn counters(name: &str, interface: &str, texts: &[String; 3]) -> HostCounters {
    let [snmp, netstat, devices] = texts;
    let values: HashMap<String, u64> = table(snmp).chain(table(netstat)).collect();
    let count = |names: &[&str]| names.iter().filter_map(|name| values.get(*name)).sum();
    let (frames_received, frames_sent) = frames(devices, interface);
    HostCounters {
        name: name.to_owned(),
        segments_sent: count(&["Tcp.OutSegs"]),
        segments_retransmitted: count(&["Tcp.RetransSegs"]),
        syn_retransmissions: count(&["TcpExt.TCPSynRetrans"]),
        timeouts: count(&["TcpExt.TCPTimeouts"]),
        reorderings_sack: count(&["TcpExt.TCPSACKReorder"]),
        reorderings_timestamp: count(&["TcpExt.TCPTSReorder"]),
        spurious_recoveries: count(&["TcpExt.TCPDSACKUndo", "TcpExt.TCPFullUndo", "TcpExt.TCPPartialUndo"]),
        frames_sent,
        frames_received,
        frames_unknown: count(&[
            "Ip.InHdrErrors",
            "Ip.InAddrErrors",
            "Ip.InUnknownProtos",
            "Tcp.InErrs",
            "Udp.NoPorts",
            "Udp.InErrors",
        ]),
    }
}

/// Pairs of lines: "Group: names..." and "Group: values...".
fn table(text: &str) -> impl Iterator<Item = (String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs: Vec<_> = lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().flat_map(|(names, values)| {
        let group = names.split(':').next().unwrap_or_default();
        let values = values.split_whitespace().skip(1);
        // Tcp.MaxConn is -1. It is not needed.
        let count = |(name, value): (&str, &str)| Some((format!("{group}.{name}"), value.parse().ok()?));
        names
            .split_whitespace()
            .skip(1)
            .zip(values)
            .filter_map(count)
            .collect::<Vec<_>>()
    })
}

/// Numbers of frames received and sent: columns 2 and 10 of the interface's line.
fn frames(devices: &str, interface: &str) -> (u64, u64) {
    let line = devices
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':'));
    let numbers: Vec<u64> = line
        .into_iter()
        .flat_map(str::split_whitespace)
        .flat_map(str::parse)
        .collect();
    let at = |place: usize| numbers.get(place).copied().unwrap_or_default();
    (at(1), at(9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_their_names() {
        let snmp = "Ip: Forwarding InAddrErrors\nIp: 2 1\nTcp: MaxConn OutSegs RetransSegs InErrs\nTcp: -1 120 7 2\n";
        let netstat = "TcpExt: TCPTimeouts TCPFullUndo TCPDSACKUndo\nTcpExt: 3 1 4\n";
        let devices = "Inter-|   Receive  | Transmit\n face |bytes packets\n    lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n  \
                       eth0: 9000 11 0 0 0 0 0 0 8000 12 0 0 0 0 0 0\n";
        let read = counters("u1", "eth0", &[snmp, netstat, devices].map(str::to_owned));
        assert_eq!(
            (read.segments_sent, read.segments_retransmitted, read.timeouts),
            (120, 7, 3)
        );
        assert_eq!((read.spurious_recoveries, read.reorderings_sack), (5, 0));
        assert_eq!(
            (read.frames_received, read.frames_sent, read.frames_unknown),
            (11, 12, 3)
        );
    }
}
