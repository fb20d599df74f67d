//! The typed tree: every name resolved to what it names, every expression with its type, every conversion explicit.

pub mod annotations;
mod expr;
mod stmt;
pub mod tree;
pub mod types;
