//! The syntax tree: the program as written (specification appendix G), names not yet resolved.

mod decl;
mod expr;

pub use decl::*;
pub use expr::*;
