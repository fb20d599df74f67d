//! A language server for P4: messages, types, definitions, references, renaming and completion.
//!
//! It speaks the Language Server Protocol 3.17 on standard input and output. Each document is a program, or a file that
//! programs include. The compiler itself answers, so an editor shows what `p4sched-p4c` would say.

mod files;
mod program;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    Completion, DocumentSymbolRequest, GotoDefinition, HoverRequest, PrepareRenameRequest, References, Rename,
    Request as _,
};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionOptions, CompletionParams, CompletionTextEdit,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentSymbolParams,
    GotoDefinitionParams, Hover, HoverContents, HoverParams, HoverProviderCapability, Location, MarkupContent,
    MarkupKind, OneOf, PublishDiagnosticsParams, ReferenceParams, RenameOptions, RenameParams, ServerCapabilities,
    SymbolInformation, SymbolKind, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextEdit, WorkDoneProgressOptions,
};
use p4sched_compiler::names::{Name, Names};
use p4sched_compiler::{KEYWORDS, names};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use files::{Document, Files, name_of, uri_of};
pub use lsp_types::Uri;
pub use program::architecture;

/// Runs the server on standard input and output until the client ends it.
///
/// # Errors
/// The client breaks the protocol, or ends without a word.
pub fn run(directories: &[PathBuf]) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    serve(&connection, directories)?;
    drop(connection);
    threads
        .join()
        .map_err(|error| format!("cannot read or write messages: {error}"))
}

/// Serves one client.
///
/// # Errors
/// The client breaks the protocol.
pub fn serve(connection: &Connection, directories: &[PathBuf]) -> Result<(), String> {
    connection
        .initialize(capabilities())
        .map_err(|error| format!("the client does not begin as the protocol says: {error}"))?;
    Server::new(connection, directories).run()
}

/// Answers one request on one document, without a session: for a page. Everything that the document includes is on
/// the disk.
///
/// # Errors
/// The sentence with which the server refuses the request.
pub fn answer_once(document: &Uri, text: String, method: &str, params: Value) -> Result<Value, String> {
    let (connection, _client) = Connection::memory();
    let mut server = Server::new(&connection, &[]);
    server.change(document, text, 0);
    let request = Request::new(RequestId::from(0), method.to_owned(), params);
    server.respond(request).response_result.map_err(|error| error.message)
}

/// All messages of the compiler on a document, by file.
pub fn messages(document: &Uri, text: &str) -> BTreeMap<String, Vec<lsp_types::Diagnostic>> {
    let name = name_of(document);
    let found = program::compiled(&Files::default(), &name, text);
    found.map_or_else(BTreeMap::new, |found| program::messages(&found, &name))
}

fn capabilities() -> Value {
    let found = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".to_owned()]),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    };
    json!(found)
}

struct Server<'a> {
    connection: &'a Connection,
    files: Files,
    /// Names of open documents, until one of them changes.
    analysed: HashMap<String, Option<Names>>,
    /// Documents without messages for their present text.
    changed: BTreeSet<String>,
    /// Files with messages that come from a document.
    marked: HashMap<String, BTreeSet<String>>,
}

impl<'a> Server<'a> {
    fn new(connection: &'a Connection, directories: &[PathBuf]) -> Server<'a> {
        Server {
            connection,
            files: Files::new(directories),
            analysed: HashMap::new(),
            changed: BTreeSet::new(),
            marked: HashMap::new(),
        }
    }

    fn run(&mut self) -> Result<(), String> {
        while let Ok(message) = self.connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    let ends = self.connection.handle_shutdown(&request);
                    if ends.map_err(|error| format!("the client does not end as the protocol says: {error}"))? {
                        return Ok(());
                    }
                    let response = self.respond(request);
                    self.send(Message::Response(response));
                }
                Message::Notification(notification) => self.note(notification),
                Message::Response(_) => {}
            }
            // a fast typist's last text is the one that counts
            if self.connection.receiver.is_empty() {
                self.publish();
            }
        }
        Ok(())
    }

    fn send(&self, message: Message) {
        // a client that is gone ends the loop
        let _ = self.connection.sender.send(message);
    }

    fn note(&mut self, notification: Notification) {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value::<DidOpenTextDocumentParams>(notification.params) {
                    let document = params.text_document;
                    self.change(&document.uri, document.text, document.version);
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(notification.params)
                    && let Some(last) = params.content_changes.into_iter().next_back()
                {
                    let document = params.text_document;
                    self.change(&document.uri, last.text, document.version);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Ok(params) = serde_json::from_value::<DidCloseTextDocumentParams>(notification.params) {
                    self.close(&name_of(&params.text_document.uri));
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, uri: &Uri, text: String, version: i32) {
        self.files.open.insert(name_of(uri), Document { text, version });
        self.analysed.clear();
        // the document may be a part of the others
        self.changed.extend(self.files.open.keys().cloned());
    }

    fn close(&mut self, name: &str) {
        self.files.open.remove(name);
        self.analysed.clear();
        self.changed.remove(name);
        for file in self.marked.remove(name).unwrap_or_default() {
            self.mark(&file, Vec::new());
        }
    }

    /// Sends the messages of all changed documents.
    fn publish(&mut self) {
        for document in std::mem::take(&mut self.changed) {
            let found = self
                .names(&document)
                .map(|names| program::messages(&names.messages, &document));
            let found = found.unwrap_or_default();
            let before = self.marked.insert(document.clone(), found.keys().cloned().collect());
            for file in before.unwrap_or_default() {
                if !found.contains_key(&file) {
                    self.mark(&file, Vec::new());
                }
            }
            for (file, messages) in found {
                // an open file has messages of its own
                if file == document || !self.files.open.contains_key(&file) {
                    self.mark(&file, messages);
                }
            }
        }
    }

    fn mark(&self, file: &str, diagnostics: Vec<lsp_types::Diagnostic>) {
        if let Some(uri) = uri_of(file) {
            let params = PublishDiagnosticsParams {
                uri,
                diagnostics,
                version: self.files.open.get(file).map(|document| document.version),
            };
            let method = PublishDiagnostics::METHOD.to_owned();
            self.send(Message::Notification(Notification::new(method, params)));
        }
    }

    fn names(&mut self, document: &str) -> Option<&Names> {
        if !self.analysed.contains_key(document) {
            let text = &self.files.open.get(document)?.text;
            let names = program::analysed(&self.files, document, text);
            self.analysed.insert(document.to_owned(), names);
        }
        self.analysed.get(document)?.as_ref()
    }

    fn respond(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        match method.as_str() {
            HoverRequest::METHOD => answer(id, params, |p| self.hover(&p)),
            GotoDefinition::METHOD => answer(id, params, |p| self.definition(&p)),
            References::METHOD => answer(id, params, |p| self.references(&p)),
            DocumentSymbolRequest::METHOD => answer(id, params, |p| self.symbols(&p)),
            Completion::METHOD => answer(id, params, |p| self.complete(&p)),
            PrepareRenameRequest::METHOD => answer(id, params, |p| self.prepare(&p)),
            Rename::METHOD => answer(id, params, |p| self.rename(&p)),
            other => {
                let message = format!("the server has no '{other}'");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    /// The name at a position, and the document.
    fn name(&mut self, at: &TextDocumentPositionParams) -> Option<(String, Name)> {
        let document = name_of(&at.text_document.uri);
        let found = self
            .names(&document)?
            .at(&document, at.position.line, at.position.character)?;
        Some((document, found))
    }

    fn hover(&mut self, params: &HoverParams) -> Result<Value, String> {
        let at = &params.text_document_position_params;
        let document = name_of(&at.text_document.uri);
        let Some(names) = self.names(&document) else {
            return Ok(Value::Null);
        };
        let (line, column) = (at.position.line, at.position.character);
        let name = names.at(&document, line, column);
        let ty = names.type_at(&document, line, column);
        let head = name.map(|name| format!("```p4\n{}\n```\n{}", name.head, name.kind));
        let ty = ty.map(|ty| format!("type: `{ty}`"));
        let parts: Vec<String> = head.into_iter().chain(ty).collect();
        if parts.is_empty() {
            return Ok(Value::Null);
        }
        let contents = HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n"),
        });
        Ok(json!(Hover { contents, range: None }))
    }

    fn definition(&mut self, params: &GotoDefinitionParams) -> Result<Value, String> {
        let found = self.name(&params.text_document_position_params);
        Ok(found
            .and_then(|(_, name)| location(&name.declared))
            .map_or(Value::Null, |at| json!(at)))
    }

    fn references(&mut self, params: &ReferenceParams) -> Result<Value, String> {
        let Some((_, name)) = self.name(&params.text_document_position) else {
            return Ok(Value::Null);
        };
        let wanted = |place: &&names::Place| params.context.include_declaration || **place != name.declared;
        Ok(json!(
            name.places
                .iter()
                .filter(wanted)
                .filter_map(location)
                .collect::<Vec<_>>()
        ))
    }

    fn symbols(&mut self, params: &DocumentSymbolParams) -> Result<Value, String> {
        let document = name_of(&params.text_document.uri);
        let Some(names) = self.names(&document) else {
            return Ok(Value::Null);
        };
        let made = names
            .declared_in(&document)
            .into_iter()
            .filter_map(|(place, kind, name)| {
                #[expect(deprecated, reason = "the type has this field")]
                let symbol = SymbolInformation {
                    name,
                    kind: symbol_kind(kind),
                    tags: None,
                    deprecated: None,
                    location: location(&place)?,
                    container_name: None,
                };
                Some(symbol)
            });
        Ok(json!(made.collect::<Vec<_>>()))
    }

    fn complete(&mut self, params: &CompletionParams) -> Result<Value, String> {
        let at = &params.text_document_position;
        let document = name_of(&at.text_document.uri);
        let Some(Document { text, .. }) = self.files.open.get(&document) else {
            return Ok(Value::Null);
        };
        let (range, found) = program::fitting(&self.files, &document, text, at.position);
        let items = found.into_iter().map(|each| CompletionItem {
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, each.name.clone()))),
            label: each.name,
            kind: Some(completion_kind(each.kind)),
            detail: Some(each.ty.unwrap_or_else(|| each.kind.to_owned())),
            ..CompletionItem::default()
        });
        Ok(json!(items.collect::<Vec<_>>()))
    }

    fn prepare(&mut self, params: &TextDocumentPositionParams) -> Result<Value, String> {
        let (document, name) = self.renamable(params)?;
        let here = name.places.iter().find(|place| {
            place.file == document
                && place.line == params.position.line
                && (place.start..=place.end).contains(&params.position.character)
        });
        Ok(here.map_or(Value::Null, |place| json!(program::range(place))))
    }

    fn rename(&mut self, params: &RenameParams) -> Result<Value, String> {
        let new = &params.new_name;
        let begins = new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || !new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("'{new}' is not a name of P4"));
        }
        if KEYWORDS.contains(&new.as_str()) {
            return Err(format!("'{new}' is a keyword of P4"));
        }
        let (_, name) = self.renamable(&params.text_document_position)?;
        let mut changes: BTreeMap<String, Vec<TextEdit>> = BTreeMap::new();
        for place in &name.places {
            let uri = uri_of(&place.file).ok_or("a part of the compiler uses this name")?;
            let edits = changes.entry(uri.to_string()).or_default();
            edits.push(TextEdit::new(program::range(place), new.clone()));
        }
        Ok(json!({ "changes": changes }))
    }

    /// A name that this document alone declares. Other programs may include any other file.
    fn renamable(&mut self, at: &TextDocumentPositionParams) -> Result<(String, Name), String> {
        let (document, name) = self.name(at).ok_or("there is no name that the program declares")?;
        if name.declared.file != document {
            let file = &name.declared.file;
            return Err(format!(
                "'{}' is declared in {file}, which other programs may include",
                name.text
            ));
        }
        if !name.plain {
            return Err(format!("a macro writes '{}'", name.text));
        }
        Ok((document, name))
    }
}

/// The response with the result of a rule, or with its sentence.
fn answer<P: DeserializeOwned>(
    id: RequestId,
    params: Value,
    rule: impl FnOnce(P) -> Result<Value, String>,
) -> Response {
    match serde_json::from_value(params) {
        Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        Ok(params) => match rule(params) {
            Ok(result) => Response::new_ok(id, result),
            Err(message) => Response::new_err(id, ErrorCode::RequestFailed as i32, message),
        },
    }
}

fn location(place: &names::Place) -> Option<Location> {
    Some(Location::new(uri_of(&place.file)?, program::range(place)))
}

fn symbol_kind(kind: &str) -> SymbolKind {
    match kind {
        "a type" => SymbolKind::STRUCT,
        "a field" => SymbolKind::FIELD,
        "a constant" => SymbolKind::CONSTANT,
        "a function" | "an action" | "a method" => SymbolKind::FUNCTION,
        "a table" => SymbolKind::CLASS,
        "an instance" => SymbolKind::OBJECT,
        "a member" => SymbolKind::ENUM_MEMBER,
        "a state" => SymbolKind::EVENT,
        _ => SymbolKind::VARIABLE,
    }
}

fn completion_kind(kind: &str) -> CompletionItemKind {
    match kind {
        "a type" => CompletionItemKind::STRUCT,
        "a field" => CompletionItemKind::FIELD,
        "a constant" => CompletionItemKind::CONSTANT,
        "a function" | "an action" => CompletionItemKind::FUNCTION,
        "a method" => CompletionItemKind::METHOD,
        "a table" => CompletionItemKind::CLASS,
        "a member" => CompletionItemKind::ENUM_MEMBER,
        _ => CompletionItemKind::VARIABLE,
    }
}
