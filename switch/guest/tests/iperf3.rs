//! iperf3 between two guests.

use crate::wire::{SECOND, pair};
use p4sched_guest::BOOT_NS;
use p4sched_guest::orders::Event;

/// Runs a transfer. Returns the client's report, the hash of the bytes on the wire, and the time at which the client
/// ended.
fn transfer(seed: u64) -> Option<(String, u64, u64)> {
    // The round trip is short, because iperf3 polls while it must not send, and each of its system calls costs time
    // here.
    let mut wire = pair(seed, 2_000_000)?;
    wire.start(
        1,
        BOOT_NS,
        1,
        &["iperf3", "--server", "--one-off", "--version4"],
        "server",
    );
    let begin = wire.run(BOOT_NS + SECOND / 10, |_, _| false);
    let words = [
        "iperf3", "--client", "10.0.0.2", "--bytes", "1M", "--length", "16K", "--json",
    ];
    wire.start(0, begin, 2, &words, "client");
    let end = wire.run(BOOT_NS + 20 * SECOND, |_, event| {
        matches!(event, Event::Ended { id: 2, status: 0 })
    });
    Some((wire.text(0, "client"), wire.hash, end))
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
    let Some(first) = transfer(1) else { return };
    let report: serde_json::Value = serde_json::from_str(&first.0).unwrap();
    let sent = &report["end"]["sum_sent"];
    assert_eq!(sent["retransmits"].as_u64(), Some(0), "{}", first.0);
    // Slow start from ten segments: 630 segments take six round trips of 4 ms.
    let milliseconds = sent["seconds"].as_f64().unwrap() * 1e3;
    assert!((20.0..28.1).contains(&milliseconds), "{milliseconds}");
    assert_eq!(report["end"]["sender_tcp_congestion"], "cubic");
    assert_eq!(transfer(1), Some(first.clone()));
    assert_ne!(transfer(3).unwrap().1, first.1);
}
