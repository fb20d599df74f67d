//! The include files that come with the compiler.

/// The text of an embedded include file, such as `v1model.p4`.
#[must_use]
pub fn embedded(path: &str) -> Option<&'static str> {
    match path {
        "core.p4" => Some(include_str!("../p4include/core.p4")),
        "v1model.p4" => Some(include_str!("../p4include/v1model.p4")),
        _ => None,
    }
}
