//! Memory in pages of 2 MiB, if the kernel gives them on request (`madvise`, the default of most distributions).
//!
//! A lookup in a table with a million entries waits for memory. With small pages, it also waits for the address of the
//! page; in a virtual machine, that is a walk through two page tables. The allocator of the C library requests large
//! pages if a variable is set when the process starts. So the switch sets the variable and restarts itself once. To map
//! the large arrays by hand would need `unsafe` code for each, and would leave out everything that is not in arrays.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

const TUNABLES: &str = "GLIBC_TUNABLES";
const HUGE_PAGES: &str = "glibc.malloc.hugetlb=1";
/// Set after the restart. The C library hides its own variable from programs with extra capabilities.
const ASKED: &str = "P4SCHED_HUGE_PAGES";

/// Restarts the program with large pages, unless this was already done or the C library's variable is set. The program
/// also works without large pages.
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
    // Returns only if it failed.
    let _ = again.exec();
}
