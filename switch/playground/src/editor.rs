//! Answers about one file, for the page's editor.

use std::fs;

use p4sched_compiler::{Compiled, Input, Options, p4info_text};
use p4sched_language_server::{Uri, answer_once, architecture, messages};
use p4sched_simulator::program::FileIncludes;
use serde::Deserialize;
use serde_json::{Value, json};

/// The beginning of the URI of a file of the lab.
const ROOT: &str = "file:///";

/// A file, by its path from the root of the lab.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    file: String,
}

/// A request of the Language Server Protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    method: String,
    params: Value,
}

/// The messages of the compiler.
pub fn check(about: &About) -> Result<Value, String> {
    Ok(json!({ "messages": messages_on(&about.file, &read(&about.file)?)? }))
}

/// BMv2 JSON and P4Info, or the messages that say why not.
pub fn compile(about: &About) -> Result<Value, String> {
    let (name, text) = (about.file.as_str(), read(&about.file)?);
    let options = Options {
        arch: architecture(&text),
        ..Options::default()
    };
    let compiled = p4sched_compiler::compile(&Input { name, text: &text }, &FileIncludes(&[]), &options);
    let messages = messages_on(name, &text)?;
    Ok(match compiled {
        Ok(Compiled { json, p4info, .. }) => {
            json!({ "ok": true, "json": json, "p4info": p4info_text(&p4info), "messages": messages })
        }
        Err(_) => json!({ "ok": false, "messages": messages }),
    })
}

/// The result of one request of the Language Server Protocol.
pub fn ask(question: &Question) -> Result<Value, String> {
    let uri = question.params["textDocument"]["uri"].as_str().unwrap_or_default();
    let file = uri
        .strip_prefix(ROOT)
        .ok_or_else(|| format!("{uri} is not a file of the lab"))?;
    let result = answer_once(&uri_of(file)?, read(file)?, &question.method, question.params.clone())?;
    Ok(json!({ "result": result }))
}

fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))
}

fn uri_of(file: &str) -> Result<Uri, String> {
    format!("{ROOT}{file}")
        .parse()
        .map_err(|error| format!("{file}: {error}"))
}

/// Messages with the file of each, in the form of the Language Server Protocol.
fn messages_on(file: &str, text: &str) -> Result<Vec<Value>, String> {
    let by_file = messages(&uri_of(file)?, text);
    let each = by_file.iter().flat_map(|(file, messages)| {
        let file = file.trim_start_matches('/');
        messages.iter().map(move |message| {
            json!({ "file": file, "range": message.range, "severity": message.severity, "code": message.code,
                "message": message.message })
        })
    });
    Ok(each.collect())
}
