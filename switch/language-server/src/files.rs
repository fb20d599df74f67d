//! Files of the editor and of the disk, and their URIs.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;
use p4sched_compiler::IncludeDirectories;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

const SCHEME: &str = "file://";
/// Characters that a path of a URI does not have.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Path of a file on this machine. The name of any other document is its whole URI.
pub fn name_of(uri: &Uri) -> String {
    match uri.as_str().strip_prefix(SCHEME) {
        Some(path) => percent_decode_str(path).decode_utf8_lossy().into_owned(),
        None => uri.as_str().to_owned(),
    }
}

/// URI of a file; `None` for an include file that is a part of the compiler.
pub fn uri_of(name: &str) -> Option<Uri> {
    if !Path::new(name).is_absolute() {
        return name.contains(':').then(|| Uri::from_str(name).ok()).flatten();
    }
    Uri::from_str(&format!("{SCHEME}{}", utf8_percent_encode(name, ESCAPED))).ok()
}

/// A document as the editor has it.
#[derive(Debug)]
pub struct Document {
    pub text: String,
    /// The editor's number of the text.
    pub version: i32,
}

/// Open documents, and directories to search for included files.
#[derive(Debug, Default)]
pub struct Files {
    /// By name.
    pub open: HashMap<String, Document>,
    directories: Vec<PathBuf>,
}

impl Files {
    pub fn new(directories: &[PathBuf]) -> Self {
        Self {
            open: HashMap::new(),
            directories: directories.iter().map(|directory| normal(directory)).collect(),
        }
    }
}

impl IncludeDirectories for Files {
    fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    fn read(&self, file: &Path) -> Option<(String, String)> {
        let file = normal(file);
        let name = file.display().to_string();
        let text = match self.open.get(&name) {
            Some(document) => document.text.clone(),
            None => String::from_utf8_lossy(&fs::read(&file).ok()?).into_owned(),
        };
        Some((name, text))
    }
}

/// A path without `.` and `..`, so that a file has one name.
fn normal(path: &Path) -> PathBuf {
    use std::path::Component::{CurDir, ParentDir};
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            CurDir => {}
            ParentDir => {
                found.pop();
            }
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_its_uri_name_the_same_file() {
        let path = "/home/a b/größe #1/x%.p4";
        let uri = uri_of(path).expect("an absolute path");
        assert!(uri.as_str().is_ascii());
        assert_eq!(name_of(&uri), path);
    }

    #[test]
    fn a_file_has_one_name() {
        assert_eq!(normal(Path::new("/a/./b/../c.p4")), Path::new("/a/c.p4"));
    }
}
