//! The syntax tree: the program as written (specification appendix G), with unresolved names.

mod decl;
mod expr;

pub use decl::*;
pub use expr::*;
