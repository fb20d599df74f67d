//! The services over TCP.

mod bytes;
mod common;
mod services;
