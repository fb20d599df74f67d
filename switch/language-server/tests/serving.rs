//! The server as a client sees it.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use p4sched_language_server::serve;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Longest time for an answer: a test that waits longer has found a hang.
const LONGEST: Duration = Duration::from_secs(60);

struct Client {
    connection: Connection,
    server: Option<thread::JoinHandle<Result<(), String>>>,
    /// Number of the last request or text.
    number: i32,
    notes: Vec<Notification>,
}

impl Client {
    fn new() -> Client {
        Client::with_directories(Vec::new())
    }

    fn with_directories(directories: Vec<PathBuf>) -> Client {
        let (here, there) = Connection::memory();
        let server = thread::spawn(move || serve(&there, &directories));
        let mut client = Client {
            connection: here,
            server: Some(server),
            number: 0,
            notes: Vec::new(),
        };
        client.ask("initialize", json!({"capabilities": {}})).expect("a result");
        client.tell("initialized", json!({}));
        client
    }

    fn tell(&self, method: &str, params: Value) {
        let note = Notification::new(method.to_owned(), params);
        self.connection
            .sender
            .send(Message::Notification(note))
            .expect("the server listens");
    }

    /// The result, or the sentence of an error.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.number += 1;
        let id = RequestId::from(self.number);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection
            .sender
            .send(Message::Request(request))
            .expect("the server listens");
        loop {
            match self.connection.receiver.recv_timeout(LONGEST).expect("an answer") {
                Message::Response(Response {
                    id: of,
                    response_result,
                }) if of == id => {
                    return response_result.map_err(|error| error.message);
                }
                Message::Notification(note) => self.notes.push(note),
                _ => {}
            }
        }
    }

    fn open(&mut self, uri: &str, text: &str) {
        self.number += 1;
        let document = json!({"uri": uri, "languageId": "p4", "version": self.number, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn change(&mut self, uri: &str, text: &str) {
        self.number += 1;
        let document = json!({"uri": uri, "version": self.number});
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        );
    }

    /// The messages on the text that was sent last.
    fn messages(&mut self, uri: &str) -> Vec<Value> {
        let version = self.number;
        let wanted = |note: &Notification| note.params["uri"] == uri && note.params["version"] == version;
        loop {
            if let Some(note) = self.notes.iter().find(|note| wanted(note)) {
                return note.params["diagnostics"].as_array().expect("a list").clone();
            }
            match self.connection.receiver.recv_timeout(LONGEST).expect("messages") {
                Message::Notification(note) => self.notes.push(note),
                other => panic!("nobody asked for {other:?}"),
            }
        }
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null).expect("a result");
        self.tell("exit", Value::Null);
        let ended = self.server.take().expect("a thread").join().expect("no panic");
        assert_eq!(ended, Ok(()));
    }
}

fn at(uri: &str, line: usize, column: usize) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": column}})
}

/// Line and column of a text behind `before`.
#[track_caller]
fn find(text: &str, before: &str) -> (usize, usize) {
    let end = text.find(before).expect("the text") + before.len();
    let line = text[..end].matches('\n').count();
    (line, end - text[..end].rfind('\n').map_or(0, |n| n + 1))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../p4")
        .canonicalize()
        .expect("the folder of programs")
}

fn program(name: &str) -> (String, String) {
    let file = folder().join(name);
    (
        format!("file://{}", file.display()),
        std::fs::read_to_string(file).expect("a program"),
    )
}

const URI: &str = "file:///t.p4";
const SMALL: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> ttl; bit<16> kind; }
struct headers { h_t h; }
struct meta_t { bit<32> rank; }
parser P(packet_in p, out headers hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { transition more; }
    state more { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t m) { apply {} }
control I(inout headers hdr, inout meta_t m, inout standard_metadata_t s) {
    // Sends to a port.
    action send(bit<9> port) { s.egress_spec = port; }
    action none() {}
    table t { key = { hdr.h.ttl : exact; } actions = { send; none; } default_action = none(); }
    apply { m.rank = (bit<32>) hdr.h.kind; t.apply(); }
}
control E(inout headers hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn every_program_of_the_laboratory_is_without_errors() {
    let mut client = Client::new();
    for name in ["fifo", "fdpa", "aifo", "rifo", "packs", "sp_pifo"] {
        let (uri, text) = program(&format!("{name}.p4"));
        client.open(&uri, &text);
        assert_eq!(client.messages(&uri), Vec::<Value>::new(), "{name}");
    }
    client.end();
}

#[test]
fn an_error_is_marked_where_it_is_and_goes_when_it_is_mended() {
    let mut client = Client::new();
    client.open(URI, &SMALL.replace("m.rank =", "m.rnk ="));
    let found = client.messages(URI);
    let (line, end) = find(SMALL, "apply { m.rank");
    assert_eq!(found.len(), 1, "{found:?}");
    let range = json!({"start": {"line": line, "character": end - 4}, "end": {"line": line, "character": end - 1}});
    assert_eq!(found[0]["range"], range);
    assert_eq!(found[0]["message"], "no field 'rnk' in meta_t; did you mean 'rank'?");
    client.change(URI, SMALL);
    assert_eq!(client.messages(URI), Vec::<Value>::new());
    client.end();
}

#[test]
fn columns_count_as_editors_count_them() {
    let mut client = Client::new();
    client.open(URI, &SMALL.replace("apply { m.rank", "/* 🦀é */ apply { m.rnk"));
    let found = client.messages(URI);
    let (_, end) = find(SMALL, "apply { m.ra");
    // the crab takes two UTF-16 units, each of the other eight characters one
    assert_eq!(found[0]["range"]["start"]["character"], end - 2 + 10);
    client.end();
}

#[test]
fn hover_shows_declaration_comment_and_type() {
    let mut client = Client::new();
    client.open(URI, SMALL);
    let mut hover = |before: &str| {
        let (line, column) = find(SMALL, before);
        client
            .ask("textDocument/hover", at(URI, line, column))
            .expect("a result")["contents"]["value"]
            .clone()
    };
    assert_eq!(
        hover("actions = { sen"),
        "```p4\n// Sends to a port.\naction send(bit<9> port)\n```\nan action"
    );
    let field = hover("(bit<32>) hdr.h.ki").to_string();
    assert!(field.contains("type: `bit<16>`"), "{field}");
    assert_eq!(hover("#incl"), Value::Null);
    client.end();
}

#[test]
fn definitions_and_references_are_found_across_files() {
    let mut client = Client::new();
    client.open(URI, SMALL);
    let (line, column) = find(SMALL, "transition mor");
    let found = client
        .ask("textDocument/definition", at(URI, line, column))
        .expect("a result");
    let (declared, _) = find(SMALL, "state mor");
    assert_eq!(
        (&found["uri"], &found["range"]["start"]["line"]),
        (&json!(URI), &json!(declared))
    );
    let (line, column) = find(SMALL, "bit<8> tt");
    let mut params = at(URI, line, column);
    params["context"] = json!({"includeDeclaration": true});
    let found = client.ask("textDocument/references", params).expect("a result");
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");

    let (uri, text) = program("aifo.p4");
    client.open(&uri, &text);
    let (line, column) = find(&text, "standard_metadata_");
    let inside = client
        .ask("textDocument/definition", at(&uri, line, column))
        .expect("a result");
    assert_eq!(
        inside,
        Value::Null,
        "the include files of the compiler are not on the disk"
    );
    client.end();
}

#[test]
fn include_next_goes_on_behind_the_directory_of_its_file() {
    let directories = ["/two/../one", "/two"].map(PathBuf::from);
    let mut client = Client::with_directories(directories.to_vec());
    client.open("file:///one/wire.p4", "#include_next <wire.p4>\n");
    client.open("file:///two/wire.p4", "const bit<8> WIRE = 1;\n");
    let text = SMALL.replace("header h_t", "#include <wire.p4>\nheader h_t");
    let text = text.replace("(bit<32>) hdr.h.kind", "(bit<32>) WIRE");
    client.open(URI, &text);
    assert_eq!(client.messages(URI), Vec::<Value>::new());
    client.end();
}

#[test]
fn a_name_of_the_document_is_renamed_everywhere() {
    let mut client = Client::new();
    client.open(URI, SMALL);
    let (line, column) = find(SMALL, "actions = { sen");
    let mut params = at(URI, line, column);
    params["newName"] = json!("forward");
    let found = client.ask("textDocument/rename", params.clone()).expect("a result");
    let mut lines: Vec<&str> = SMALL.lines().collect();
    let edits = found["changes"][URI].as_array().expect("edits").clone();
    assert_eq!(edits.len(), 2);
    let renamed = SMALL.replace("send", "forward");
    let mut texts: Vec<String> = lines.drain(..).map(str::to_owned).collect();
    for edit in edits {
        let range = &edit["range"];
        let place = |end: &str| usize::try_from(range[end]["character"].as_u64().expect("a number")).expect("small");
        let line = usize::try_from(range["start"]["line"].as_u64().expect("a number")).expect("small");
        texts[line].replace_range(place("start")..place("end"), "forward");
    }
    assert_eq!(texts.join("\n") + "\n", renamed);
    for (name, sentence) in [
        ("9x", "'9x' is not a name of P4"),
        ("table", "'table' is a keyword of P4"),
    ] {
        params["newName"] = json!(name);
        assert_eq!(
            client.ask("textDocument/rename", params.clone()),
            Err(sentence.to_owned())
        );
    }
    let (line, column) = find(SMALL, "inout standard_metadata_");
    let refused = client
        .ask("textDocument/prepareRename", at(URI, line, column))
        .expect_err("a sentence");
    assert!(refused.contains("which other programs may include"), "{refused}");
    client.end();
}

#[test]
fn half_a_statement_is_completed() {
    let mut client = Client::new();
    client.open(URI, SMALL);
    let mut fitting = |from: &str, to: &str| {
        let text = SMALL.replace(from, to);
        client.change(URI, &text);
        let (line, column) = find(&text, to);
        let found = client
            .ask("textDocument/completion", at(URI, line, column))
            .expect("a result");
        let list = found.as_array().expect("a list").clone();
        list.iter()
            .map(|each| each["label"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    for half in ["m.rank = (bit<32>) hdr.h.", "hdr.h.", "if (hdr.h.", "hdr.h.ki"] {
        let members = fitting("apply { m.rank = (bit<32>) hdr.h.kind;", &format!("apply {{ {half}"));
        assert_eq!(members, ["isValid", "kind", "setInvalid", "setValid", "ttl"], "{half}");
    }
    assert_eq!(fitting("hdr.h.kind; t.apply();", "hdr.h.kind; t."), ["apply"]);
    assert_eq!(fitting("transition more;", "transition mo"), ["more", "start"]);
    let names = fitting("actions = { send; none;", "actions = { se");
    assert!(
        ["send", "none"]
            .iter()
            .all(|name| names.iter().any(|found| found == name)),
        "{names:?}"
    );
    client.end();
}

#[test]
fn wrong_requests_get_a_sentence() {
    let mut client = Client::new();
    let unknown = client.ask("textDocument/nonsense", json!({}));
    assert_eq!(unknown, Err("the server has no 'textDocument/nonsense'".to_owned()));
    assert!(client.ask("textDocument/hover", json!({"position": 7})).is_err());
    assert_eq!(
        client.ask("textDocument/hover", at("file:///closed.p4", 1, 1)),
        Ok(Value::Null)
    );
    client.open(URI, SMALL);
    assert_eq!(
        client.ask("textDocument/hover", at(URI, 4_000_000, 4_000_000)),
        Ok(Value::Null)
    );
    let beyond = client
        .ask("textDocument/completion", at(URI, 4_000_000, 7))
        .expect("a result");
    assert_eq!(beyond, json!([]));
    client.tell("textDocument/didChange", json!([1, 2]));
    client.end();
}

/// A program as it looks while somebody types: a part is missing, and some characters are new.
#[test]
fn no_half_typed_program_stops_the_server() {
    let (uri, text) = program("packs.p4");
    assert!(text.is_ascii());
    let mut client = Client::new();
    client.open(&uri, &text);
    let length = text.len();
    let runner = TestRunner::new_with_rng(
        Config {
            cases: 60,
            failure_persistence: None,
            ..Config::default()
        },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let mut runner = runner;
    let typed = (0..length, 0..200_usize, "[a-z.;(){}<>=@\"/ \n]{0,6}");
    let client = std::cell::RefCell::new(client);
    runner
        .run(&typed, |(from, missing, new)| {
            let end = (from + missing).min(length);
            let changed = format!("{}{new}{}", &text[..from], &text[end..]);
            let (line, column) = find(&changed, &changed[..from + new.len()]);
            let mut client = client.borrow_mut();
            client.change(&uri, &changed);
            for method in ["hover", "definition", "completion", "documentSymbol", "prepareRename"] {
                // an answer, of whatever kind
                let _ = client.ask(&format!("textDocument/{method}"), at(&uri, line, column));
            }
            Ok(())
        })
        .expect("an answer to every request");
    let mut client = client.into_inner();
    client.change(&uri, &text);
    assert_eq!(client.messages(&uri), Vec::<Value>::new());
    client.end();
}
