//! The interface between the device and the owner of the network interfaces.

use p4sched_engine::{FrameSink, Port};

/// The switch's ports: they send frames, count, and measure fidelity.
pub trait Ports: FrameSink {
    /// The numbers of the ports with an interface, in ascending order.
    fn numbers(&self) -> Vec<Port>;
    /// The counts of one port; zeros if it has no interface.
    fn counts(&mut self, port: Port) -> PortCounts;
    /// Adds an interface to a port.
    ///
    /// # Errors
    /// One line: the port already has an interface, the interface does not exist, or the ports of this switch are
    /// fixed.
    fn add(&mut self, port: Port, interface: &str) -> Result<(), String> {
        Err(format!(
            "port {port}: {interface}: the ports of this switch do not change"
        ))
    }
    /// Removes the interface of a port.
    ///
    /// # Errors
    /// One line: the port has no interface, or the ports of this switch are fixed.
    fn remove(&mut self, port: Port) -> Result<(), String> {
        Err(format!("port {port}: the ports of this switch do not change"))
    }
    /// The difference from an ideal switch since the last reset. If `reset`, the next answer starts from now.
    fn fidelity(&mut self, reset: bool) -> Fidelity;
}

/// The interface of a port, and its counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortCounts {
    pub interface: String,
    /// Whether the interface exists and is up.
    pub up: bool,
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    /// Frames that the interface refused.
    pub tx_errors: u64,
    /// Frames lost before the switch read them.
    pub rx_lost: u64,
}

/// The difference between the emulation and an ideal switch. Times are in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Time covered by the measurement.
    pub measured_ns: u64,
    /// Number of frames sent.
    pub departures: u64,
    /// Median of the lateness: the time at which a frame was given to the interface minus the time at which it was due.
    pub lateness_p50_ns: u64,
    /// 99th percentile.
    pub lateness_p99_ns: u64,
    /// 99.9th percentile.
    pub lateness_p999_ns: u64,
    /// Maximum.
    pub lateness_max_ns: u64,
    /// Frames lost before the switch read them.
    pub rx_lost: u64,
    /// Frames that an interface refused.
    pub tx_errors: u64,
    /// CPU time of the thread that runs the switch.
    pub cpu_ns: u64,
}
