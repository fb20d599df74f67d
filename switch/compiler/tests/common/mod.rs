//! Programs for tests: compiled from text, and run on the data plane by the switch of its own tests.
#![allow(dead_code)]

#[path = "../../../dataplane/tests/common/mod.rs"]
pub mod switch;
pub mod tofino;

use std::path::Path;

use p4sched_compiler::{Arch, Compiled, EmbeddedIncludes, IncludeResolver, Input, Options, compile, embedded};

/// Compiles a correct program.
pub fn compiled(text: &str) -> Compiled {
    let input = Input { name: "test.p4", text };
    match compile(&input, &EmbeddedIncludes, &Options::default()) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{diagnostics}\n{text}"),
    }
}

/// The compiler's messages on a program, one per line; empty if there are none.
pub fn messages(text: &str) -> String {
    messages_for(Arch::V1model, text)
}

/// The compiler's messages on a program for an architecture.
pub fn messages_for(arch: Arch, text: &str) -> String {
    let input = Input { name: "test.p4", text };
    let options = Options {
        arch,
        ..Options::default()
    };
    let list = match compile(&input, &EmbeddedIncludes, &options) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    };
    list.iter()
        .map(|d| match &d.position {
            Some(position) => format!("{}:{}: {}\n", position.line, position.column, d.message),
            None => format!("{}\n", d.message),
        })
        .collect()
}

/// Files below `p4/`, and those of the architecture. The latter are empty on request.
pub struct Lab {
    pub with_architecture: bool,
}

impl IncludeResolver for Lab {
    fn include(&self, path: &str, from: &str, _angled: bool) -> Option<(String, String)> {
        let file = Path::new(from).parent()?.join(path);
        if let Ok(text) = std::fs::read_to_string(&file) {
            return Some((file.display().to_string(), text));
        }
        let text = embedded(path)?;
        let text = if self.with_architecture { text } else { "" };
        Some((path.to_owned(), text.to_owned()))
    }
}

/// File and text of a program in `p4/`.
pub fn lab_program(name: &str) -> (String, String) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let file = directory.join(name).with_extension("p4").display().to_string();
    let text = std::fs::read_to_string(&file).expect("a program of the lab");
    (file, text)
}
