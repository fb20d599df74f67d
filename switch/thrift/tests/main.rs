//! The Thrift interface: its messages and its methods.

mod bytes;
mod common;
mod services;
