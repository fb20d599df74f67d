//! The include files that come with the compiler.

use crate::preprocess::IncludeResolver;

/// The text of an embedded include file: `core.p4` or `v1model.p4`.
#[must_use]
pub fn embedded(path: &str) -> Option<&'static str> {
    match path {
        "core.p4" => Some(include_str!("../p4include/core.p4")),
        "v1model.p4" => Some(include_str!("../p4include/v1model.p4")),
        _ => None,
    }
}

/// Finds the embedded files, and no others.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddedIncludes;

impl IncludeResolver for EmbeddedIncludes {
    fn include(&self, path: &str, _from: &str, _angled: bool) -> Option<(String, String)> {
        embedded(path).map(|text| (path.to_owned(), text.to_owned()))
    }
}
