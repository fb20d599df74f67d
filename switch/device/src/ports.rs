//! What the device needs from the owner of the network interfaces.

use p4sched_engine::{FrameSink, Port};

/// The switch's ports: counts and fidelity besides frames.
pub trait Ports: FrameSink {
    /// Numbers of the ports that have an interface, ascending.
    fn numbers(&self) -> Vec<Port>;
    /// Counts of one port; zeros if it has no interface.
    fn counts(&mut self, port: Port) -> PortCounts;
    /// Gives a port an interface.
    ///
    /// # Errors
    /// One line: the port has one, there is no such interface, or ports are as they are here.
    fn add(&mut self, port: Port, interface: &str) -> Result<(), String> {
        Err(format!(
            "port {port}: {interface}: the ports of this switch do not change"
        ))
    }
    /// Takes a port's interface away.
    ///
    /// # Errors
    /// One line: the port has none, or ports are as they are here.
    fn remove(&mut self, port: Port) -> Result<(), String> {
        Err(format!("port {port}: the ports of this switch do not change"))
    }
    /// How far the emulation was from an ideal switch since the last reset. `reset`: the next answer starts from here.
    fn fidelity(&mut self, reset: bool) -> Fidelity;
}

/// One port's interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Name of the interface.
    pub interface: String,
    /// It exists and is up.
    pub up: bool,
    /// Frames received.
    pub rx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames that the interface refused.
    pub tx_errors: u64,
    /// Frames lost before the switch read them.
    pub rx_lost: u64,
}

/// How far the emulation was from an ideal switch. Times in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    /// Time covered.
    pub measured_ns: u64,
    /// Frames sent.
    pub departures: u64,
    /// Lateness (handed to the interface minus due) that half of them did not exceed.
    pub lateness_p50_ns: u64,
    /// That 99 % did not exceed.
    pub lateness_p99_ns: u64,
    /// That 99.9 % did not exceed.
    pub lateness_p999_ns: u64,
    /// The greatest.
    pub lateness_max_ns: u64,
    /// Frames lost before the switch read them.
    pub rx_lost: u64,
    /// Frames that an interface refused.
    pub tx_errors: u64,
    /// CPU time of the thread that runs the switch.
    pub cpu_ns: u64,
}
