//! Paths of the guests' kernel and of the guests' first program.

use crate::GuestError;
use std::env;
use std::path::PathBuf;

/// Version of the Debian package that the kernel is built from.
const VERSION: &str = include_str!("../kernel/version");
const INIT: &str = "p4sched-guest-init";

/// The guests' kernel, built by `make virtual`. It is in `$P4SCHED_CACHE`, or in `~/.cache/p4sched`.
///
/// # Errors
/// [`GuestError::Missing`] if it is not there.
pub fn kernel() -> Result<PathBuf, GuestError> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("P4SCHED_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("p4sched")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/p4sched")))
        .ok_or_else(|| GuestError::Missing("neither $P4SCHED_CACHE nor $HOME is set".into()))?;
    let kernel = folder.join(format!("linux-um-{}", VERSION.trim()));
    if kernel.is_file() {
        Ok(kernel)
    } else {
        Err(GuestError::Missing(format!(
            "there is no {}: run `make virtual`",
            kernel.display()
        )))
    }
}

/// The guests' first program. It is in the folder of the running program.
///
/// # Errors
/// [`GuestError::Missing`] if it is not there.
pub fn init() -> Result<PathBuf, GuestError> {
    let init = env::current_exe()?.with_file_name(INIT);
    if init.is_file() {
        Ok(init)
    } else {
        Err(GuestError::Missing(format!(
            "there is no {}: run `make setup`",
            init.display()
        )))
    }
}
