//! The programs that scripts can name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use p4sched_compiler::{EmbeddedIncludes, IncludeResolver, Input, Options, compile, embedded};
use p4sched_device::Program;
use p4sched_proto::p4::v1::ForwardingPipelineConfig;

const SWITCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The name in a script, and the file.
const PROGRAMS: [(&str, &str); 4] = [
    ("everything", "device/tests/programs/everything.p4"),
    ("aifo", "../p4/aifo.p4"),
    ("fdpa", "../p4/fdpa.p4"),
    ("packs", "../p4/packs.p4"),
];

/// Include files: first the compiler's own, then those in the folder of the file.
struct Includes;

impl IncludeResolver for Includes {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        if embedded(path).is_some() {
            return EmbeddedIncludes.include(path, from, angled);
        }
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        [beside, Path::new(SWITCH).join("../p4").join(path)]
            .into_iter()
            .find_map(|file| {
                let text = std::fs::read_to_string(&file).ok()?;
                Some((file.to_string_lossy().into_owned(), text))
            })
    }
}

static CONFIGS: LazyLock<Mutex<HashMap<&'static str, ForwardingPipelineConfig>>> = LazyLock::new(Mutex::default);

fn config(file: &str) -> ForwardingPipelineConfig {
    let path = PathBuf::from(SWITCH).join(file);
    let text = std::fs::read_to_string(&path).expect("a program of the repository");
    let input = Input {
        name: &path.to_string_lossy(),
        text: &text,
    };
    let compiled = compile(&input, &Includes, &Options::default()).expect("it compiles");
    ForwardingPipelineConfig {
        p4info: Some(compiled.p4info),
        p4_device_config: compiled.json.into_bytes(),
        cookie: None,
    }
}

/// The name, if there is such a program; otherwise `everything`.
pub fn known(name: &str) -> &'static str {
    let found = PROGRAMS.into_iter().find(|(known, _)| *known == name);
    found.unwrap_or(PROGRAMS[0]).0
}

/// The program of this name.
pub fn program(name: &'static str) -> Program {
    let mut configs = CONFIGS.lock().unwrap_or_else(PoisonError::into_inner);
    let file = || PROGRAMS.into_iter().find(|(known, _)| *known == name);
    let config = configs
        .entry(name)
        .or_insert_with(|| config(file().expect("it is known").1));
    Program::new(config.clone()).expect("the compiler's programs load")
}
