//! The smallest network: two guests and a wire.

use crate::wire::{SECOND, pair};
use p4sched_guest::BOOT_NS;
use p4sched_guest::orders::Event;

#[test]
fn a_round_trip_takes_twice_the_delay_of_the_wire() {
    let Some(mut wire) = pair(1, 10_000_000) else { return };
    wire.start(0, BOOT_NS, 1, &["ping", "-c", "3", "-i", "0.5", "10.0.0.2"], "ping");
    let end = wire.run(BOOT_NS + 10 * SECOND, |_, event| {
        matches!(event, Event::Ended { id: 1, status: 0 })
    });
    // Two pauses of half a second, and the round trip of the last request.
    assert_eq!((end - BOOT_NS) / 1_000_000, 1020);
    let text = wire.text(0, "ping");
    assert_eq!(text.matches("time=20.0 ms").count(), 3, "{text}");
}
