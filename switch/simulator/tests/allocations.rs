//! Once its buffers are warm, a switch allocates no memory for a packet: on no target, compiled or interpreted.
#![allow(unsafe_code)] // An allocator that counts.

#[path = "../benches/ready/mod.rs"]
mod ready;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ready::{Ready, SCHEMES};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter for each thread.
struct Counting;

// SAFETY: The system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: The caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: The caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: The caller keeps the contract of `GlobalAlloc`.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_packet_takes_no_memory() {
    let programs = SCHEMES.into_iter();
    let programs = programs.flat_map(|scheme| scheme.targets().iter().map(move |&target| (scheme, target)));
    for ((scheme, target), interpret) in programs.flat_map(|program| [(program, false), (program, true)]) {
        let mut ready = Ready::new(scheme, target, interpret);
        // Queues fill, and buffers grow to their final size.
        ready.receive(20_000);
        let (before, sent) = (ALLOCATIONS.get(), ready.sink.frames);
        ready.receive(20_000);
        assert_eq!(
            ALLOCATIONS.get() - before,
            0,
            "{} for {}, interpreted: {interpret}",
            scheme.name(),
            target.name()
        );
        assert!(ready.sink.frames > sent + 10_000, "{}: the link is busy", scheme.name());
    }
}
