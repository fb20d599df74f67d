//! Faults of guests.

use std::time::Duration;

use crate::wire::{options, start};
use p4sched_guest::orders::Order;
use p4sched_guest::{BOOT_NS, Guest, GuestError};
use tempfile::TempDir;

fn booted(patience: Duration) -> Option<(TempDir, Guest)> {
    let folder = TempDir::new().unwrap();
    let options = options(folder.path(), 1, 1)?;
    let mut guest = Guest::boot(&p4sched_guest::Options { patience, ..options }).unwrap();
    guest.settle().unwrap();
    Some((folder, guest))
}

/// Lets the guest run until it fails, and returns the error.
fn failure(guest: &mut Guest, order: &Order) -> GuestError {
    guest.order(BOOT_NS, order).unwrap();
    for _ in 0..10_000 {
        let now = guest.next_event().expect("it runs");
        if let Err(error) = guest.advance(now) {
            return error;
        }
    }
    panic!("nothing failed");
}

#[test]
fn a_program_that_never_waits_ends_the_run_with_a_sentence() {
    let Some((_folder, mut guest)) = booted(Duration::from_secs(2)) else {
        return;
    };
    let error = failure(&mut guest, &start(1, &["sh", "-c", "while :; do :; done"], "spin"));
    assert_eq!(
        error.to_string(),
        "guest h1 ran for 2s of the wall clock without waiting: virtual time stands still while a program never waits"
    );
}

#[test]
fn a_kernel_that_panics_says_why() {
    let folder = TempDir::new().unwrap();
    let Some(options) = options(folder.path(), 1, 1) else {
        return;
    };
    // A kernel cannot run without its first program.
    let error = Guest::boot(&p4sched_guest::Options {
        init: "/bin/true".into(),
        ..options
    })
    .unwrap_err()
    .to_string();
    assert!(
        error.starts_with("guest h1 ended: Kernel panic - not syncing: Attempted to kill init!"),
        "{error}"
    );
}

#[test]
fn a_command_that_fails_is_reported_with_its_errors() {
    let Some((_folder, mut guest)) = crate::wire::unsettled() else {
        return;
    };
    let error = guest.run(&["ip", "link", "set", "eth7", "up"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "guest h1: `ip link set eth7 up` failed: Cannot find device \"eth7\""
    );
    let error = guest.run(&["no-such-program"]).unwrap_err().to_string();
    assert!(error.starts_with("guest h1: no-such-program: No such file"), "{error}");
}
