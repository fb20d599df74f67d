//! Real-time priority of the data-plane thread.

#![allow(unsafe_code, reason = "the scheduling class of a thread has no safe interface")]

use std::io;
use std::mem::zeroed;

/// The second lowest of the real-time priorities (1 to 99): important kernel threads have higher ones.
const PRIORITY: i32 = 2;

/// Puts the calling thread into the round-robin real-time class. It runs whenever it has work, as a hardware switch
/// would, even while the hosts of the laboratory use every processor. The kernel reserves 5 % for other threads.
///
/// # Errors
/// If it is not permitted: it needs root or `CAP_SYS_NICE`.
pub fn make_real_time() -> io::Result<()> {
    // SAFETY: plain integers, for which zeros are a value.
    let mut parameters: libc::sched_param = unsafe { zeroed() };
    parameters.sched_priority = PRIORITY;
    // SAFETY: 0 is the calling thread; the kernel reads `parameters` during the call only.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const parameters) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
