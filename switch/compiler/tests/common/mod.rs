//! Programs for tests: compiled from text, and run on the data plane by the same switch as its own tests use.
#![allow(dead_code)]

#[path = "../../../dataplane/tests/common/mod.rs"]
pub mod switch;

use p4sched_compiler::{Compiled, EmbeddedIncludes, Input, Options, compile};

/// Compiles a program that is expected to be right.
pub fn compiled(text: &str) -> Compiled {
    let input = Input { name: "test.p4", text };
    match compile(&input, &EmbeddedIncludes, &Options::default()) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{diagnostics}\n{text}"),
    }
}

/// What the compiler says to a program, a line for each message; nothing if it is right.
pub fn messages(text: &str) -> String {
    let input = Input { name: "test.p4", text };
    let list = match compile(&input, &EmbeddedIncludes, &Options::default()) {
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
