//! Tests of networks in virtual time.

mod bench;
mod conservation;
mod endless;
mod entries;
mod hosts;
mod lab;
mod network;
