//! The typed tree: every name is resolved, every expression has its type, every conversion is explicit.

pub mod annotations;
mod expr;
mod stmt;
pub mod tree;
pub mod types;
