//! gNMI: the ports of the switch as openconfig-interfaces, with the paths that Stratum has.

mod interfaces;
mod leaves;
mod path;
mod reader;
mod service;
mod set;
mod subscribe;
mod subscription;
mod value;

pub use interfaces::{Interface, Interfaces};
pub(crate) use reader::Reader;
pub(crate) use service::{Service, System};
