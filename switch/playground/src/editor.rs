//! Answers about one file, for the page's editor.

use std::fs;

use p4sched_language_server::{Uri, answer_once, architecture, messages};
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

/// The messages of the compiler, and the architecture of the program.
pub fn check(about: &About) -> Result<Value, String> {
    let text = read(&about.file)?;
    let messages = messages_on(&about.file, &text)?;
    Ok(json!({ "arch": architecture(&text).name(), "messages": messages }))
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
