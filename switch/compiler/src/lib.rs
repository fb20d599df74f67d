//! A compiler from P4_16 for v1model to BMv2 JSON and P4Info.

pub mod check;
pub mod diagnostics;
pub mod preprocess;
pub mod source;
pub mod syntax;
pub mod typed;
pub mod include;
