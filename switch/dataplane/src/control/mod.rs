//! The control plane's view of a running program.

mod cells;
mod tables;
