//! Where included files come from, and the files that come with the compiler.

use crate::arch::Arch;

/// Where included files come from.
pub trait IncludeResolver: Sync {
    /// The name and text of the file that `#include` of `path` means in the file `from`; `None` if there is none.
    /// `angled` is true for `<path>`, false for `"path"`.
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)>;

    /// The same for `#include_next`: the search begins behind the directory in which `from` was found.
    fn include_next(&self, path: &str, from: &str) -> Option<(String, String)> {
        self.include(path, from, true)
    }
}

/// The text of an embedded include file: `core.p4`, or that of an architecture.
#[must_use]
pub fn embedded(path: &str) -> Option<&'static str> {
    match (path, declared_by(path)) {
        ("core.p4", _) => Some(include_str!("../p4include/core.p4")),
        ("tofino.p4", _) => Some(include_str!("../p4include/tofino.p4")),
        (_, Some(Arch::V1model)) => Some(include_str!("../p4include/v1model.p4")),
        (_, Some(Arch::Tna)) => Some(include_str!("../p4include/tna.p4")),
        (_, Some(Arch::T2na)) => Some(include_str!("../p4include/t2na.p4")),
        (_, None) => None,
    }
}

/// The architecture that an embedded file declares. The open compiler's files for Tofino have parts, which programs may
/// include by their names.
pub(crate) fn declared_by(path: &str) -> Option<Arch> {
    match path {
        "v1model.p4" => Some(Arch::V1model),
        "tna.p4" | "tofino1_specs.p4" | "tofino1_base.p4" | "tofino1_arch.p4" => Some(Arch::Tna),
        "t2na.p4" | "tofino2_specs.p4" | "tofino2_base.p4" | "tofino2_arch.p4" => Some(Arch::T2na),
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
