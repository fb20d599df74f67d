//! Tests of Linux in virtual time.

mod faults;
mod iperf3;
mod ping;
mod wire;
