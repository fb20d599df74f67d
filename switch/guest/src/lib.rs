//! Linux in virtual time.
//!
//! A [`Guest`] is a process of User-mode Linux in the mode `time-travel=ext:`. Its clock moves only when this process lets it
//! (see [`timetravel`]), and its network interface ends in this process (see [`vhost_user`]). So its TCP is the kernel's own,
//! and a run depends on nothing but its input and its seed.

mod device;
mod error;
mod guest;
mod kernel;
pub mod orders;
mod temporary;
pub mod timetravel;
pub mod vhost_user;

pub use error::GuestError;
pub use guest::{BOOT_NS, Guest, Options};
pub use kernel::{init, kernel};
pub use temporary::temporary_folder;
