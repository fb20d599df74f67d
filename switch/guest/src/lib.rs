//! Linux in virtual time.
//!
//! A [`Guest`] is a process of User-mode Linux in the mode `time-travel=ext:`. This process moves the guest's clock
//! (see [`timetravel`]) and is the other end of its network interface (see [`vhost_user`]). So the guest's TCP is the
//! kernel's own, and a run depends only on its input and its seed.

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
