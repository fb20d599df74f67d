//! The network interfaces behind the ports, as their owner shows them.

use tokio::sync::watch;

/// The state of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// Whether it is administratively up.
    pub enabled: bool,
    /// Whether frames get through.
    pub up: bool,
    pub mac: [u8; 6],
    /// In Mbit/s; `None` if the interface does not say.
    pub speed: Option<u32>,
}

/// The owner of the interfaces. All calls may block for some milliseconds, so they are made outside the data plane.
pub trait Interfaces: Send + Sync {
    /// The present state of an interface; `None` if there is no such interface.
    fn read(&self, name: &str) -> Option<Interface>;

    /// Takes an interface up or down.
    ///
    /// # Errors
    /// One sentence with the reason.
    fn enable(&self, name: &str, enabled: bool) -> Result<(), String>;

    /// Reports that an interface may have changed, or that a port got or lost its interface.
    fn changes(&self) -> watch::Receiver<()>;
}
