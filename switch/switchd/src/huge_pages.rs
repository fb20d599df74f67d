//! Memory in pages of 2 MiB, where the kernel gives them to those who ask (`madvise`, the default of most distributions).
//!
//! A lookup in a table of a million entries waits for memory, and where the page is small, for the page's address too. In a
//! virtual machine that is a walk through two page tables. The allocator of the C library asks for large pages itself,
//! if a variable is set when the process starts. So the switch sets the variable and replaces itself, once. Mapping the
//! large arrays by hand would take `unsafe` code for each, and leave out all that is not in arrays.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

const TUNABLES: &str = "GLIBC_TUNABLES";
const HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";
/// Says that it was done. The C library takes its variable away from programs with capabilities of their own.
const ASKED: &str = "P4SCHED_HUGE_PAGES";

/// Restarts the program with large pages, unless that was done, or the C library's variable is already set. Without large
/// pages it works as well.
pub fn ask() {
    if env::var_os(ASKED).is_some() || env::var_os(TUNABLES).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    let (Ok(program), Some(name)) = (env::current_exe(), arguments.next()) else {
        return;
    };
    let mut again = Command::new(program);
    again
        .arg0(name)
        .args(arguments)
        .env(TUNABLES, HUGE_PAGES)
        .env(ASKED, "1");
    // Comes back only if it failed.
    let _ = again.exec();
}
