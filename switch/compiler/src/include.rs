//! Sources of included files, and the include files of the compiler.

use std::path::{Path, PathBuf};

use crate::arch::Arch;

/// Finds included files.
pub trait IncludeResolver: Sync {
    /// Name and text of the file that `#include` of `path` in the file `from` refers to; `None` if it does not exist.
    /// `angled` is true for `<path>`, false for `"path"`.
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)>;

    /// The same for `#include_next`: the search starts after the directory in which `from` was found.
    fn include_next(&self, path: &str, from: &str) -> Option<(String, String)> {
        self.include(path, from, true)
    }
}

/// Directories to search for included files, as `cpp -I` does. Who implements this has an [`IncludeResolver`].
pub trait IncludeDirectories: Sync {
    /// Directories in the order of the search.
    fn directories(&self) -> &[PathBuf];

    /// Name and text of a file; `None` if it cannot be read.
    fn read(&self, file: &Path) -> Option<(String, String)>;
}

impl<T: IncludeDirectories> IncludeResolver for T {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        let beside = if angled { None } else { Path::new(from).parent() };
        let directories = self.directories().iter().map(PathBuf::as_path);
        search(self, beside.into_iter().chain(directories), path)
    }

    fn include_next(&self, path: &str, from: &str) -> Option<(String, String)> {
        let directories = self.directories();
        let here = |directory: &PathBuf| Path::new(from).starts_with(directory);
        let behind = directories.iter().position(here).map_or(0, |i| i + 1);
        search(self, directories[behind..].iter().map(PathBuf::as_path), path)
    }
}

/// The first file of this name in the directories; else the embedded one.
fn search<'a>(
    files: &impl IncludeDirectories,
    mut directories: impl Iterator<Item = &'a Path>,
    path: &str,
) -> Option<(String, String)> {
    let found = directories.find_map(|directory| files.read(&directory.join(path)));
    found.or_else(|| EmbeddedIncludes.include(path, "", true))
}

/// Text of an embedded include file: `core.p4`, or that of an architecture.
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

/// The architecture that an embedded file declares. p4c's files for Tofino have several parts, which programs may
/// include by name.
pub(crate) fn declared_by(path: &str) -> Option<Arch> {
    match path {
        "v1model.p4" => Some(Arch::V1model),
        "tna.p4" | "tofino1_specs.p4" | "tofino1_base.p4" | "tofino1_arch.p4" => Some(Arch::Tna),
        "t2na.p4" | "tofino2_specs.p4" | "tofino2_base.p4" | "tofino2_arch.p4" => Some(Arch::T2na),
        _ => None,
    }
}

/// Finds only the embedded files.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmbeddedIncludes;

impl IncludeResolver for EmbeddedIncludes {
    fn include(&self, path: &str, _from: &str, _angled: bool) -> Option<(String, String)> {
        embedded(path).map(|text| (path.to_owned(), text.to_owned()))
    }
}
