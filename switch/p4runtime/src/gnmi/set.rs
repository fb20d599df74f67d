//! `Set` requests: ports go up and down.

use std::sync::Arc;

use p4sched_proto::gnmi::update_result::Operation;
use p4sched_proto::gnmi::{Path, SetRequest, SetResponse, Update, UpdateResult};
use tonic::Status;

use super::interfaces::Interfaces;
use super::leaves::ENABLED;
use super::path::{Selection, answer_prefix, select};
use super::reader::{Reader, unix_time};
use super::subscription::MOST_PATHS;
use super::value::requested;

const SETTABLE: &str = "only config/enabled of one interface can be set";

/// A port to take up or down.
struct Change {
    interface: String,
    enabled: bool,
}

/// Applies all updates of a request, or none.
///
/// # Errors
/// `INVALID_ARGUMENT` for paths and values that cannot be set, `NOT_FOUND` for unknown interfaces,
/// `FAILED_PRECONDITION` if an interface does not change.
pub async fn set(reader: &Reader, request: SetRequest) -> Result<SetResponse, Status> {
    let prefix = request.prefix.as_ref();
    if let Some(path) = request.delete.first() {
        let text = select(prefix, path)?.text;
        return Err(Status::invalid_argument(format!(
            "{text}: nothing can be deleted; {SETTABLE}"
        )));
    }
    if !request.union_replace.is_empty() {
        return Err(Status::unimplemented(
            "union_replace is not supported; use update or replace",
        ));
    }
    let asked = (request.replace.iter().map(|update| (update, Operation::Replace)))
        .chain(request.update.iter().map(|update| (update, Operation::Update)));
    let (mut changes, mut response) = (Vec::new(), Vec::new());
    for (update, operation) in asked {
        changes.extend(change(prefix, update)?);
        response.push(UpdateResult {
            path: update.path.clone(),
            op: operation.into(),
        });
    }
    if changes.len() > MOST_PATHS {
        return Err(Status::invalid_argument(format!(
            "{} updates; a request has at most {MOST_PATHS}",
            changes.len()
        )));
    }
    let reading = reader.read(false).await?;
    let names: Vec<&str> = reading.ports.iter().map(|port| port.name.as_str()).collect();
    if let Some(change) = changes
        .iter()
        .find(|change| !names.contains(&change.interface.as_str()))
    {
        return Err(unknown(&change.interface, &names));
    }
    let interfaces = Arc::clone(reader.interfaces());
    tokio::task::spawn_blocking(move || apply(&*interfaces, &changes))
        .await
        .map_err(|_| Status::unavailable("the switch is shutting down"))?
        .map_err(Status::failed_precondition)?;
    Ok(SetResponse {
        prefix: answer_prefix(prefix),
        response,
        timestamp: unix_time().cast_signed(),
    })
}

/// The status for an interface that no port has.
pub fn unknown(interface: &str, names: &[&str]) -> Status {
    let known = match names.is_empty() {
        true => "no port".to_owned(),
        false => names.join(", "),
    };
    Status::not_found(format!("no interface {interface}; this switch has {known}"))
}

/// The change that an update asks for; `None` if it sets a value that the switch has anyway.
fn change(prefix: Option<&Path>, update: &Update) -> Result<Option<Change>, Status> {
    let selection = select(prefix, &update.path.clone().unwrap_or_default())?;
    let text = &selection.text;
    let wrong = |problem: String| Status::invalid_argument(format!("{text}: {problem}"));
    let Selection {
        interface: Some(interface),
        below: Some(below),
        ..
    } = &selection
    else {
        return Err(wrong(format!("it names no leaf of one interface; {SETTABLE}")));
    };
    let value = update.val.as_ref().and_then(requested);
    let is_bool = "give true or false, as a boolean";
    let enabled = match (&below[..], value) {
        (path, Some(serde_json::Value::Bool(enabled))) if path == ENABLED => Some(enabled),
        (path, _) if path == ENABLED => return Err(wrong(is_bool.to_owned())),
        ([config], Some(serde_json::Value::Object(members))) if config == ENABLED[0] => {
            let mut enabled = None;
            for (member, value) in members {
                match (member.as_str(), value.as_bool()) {
                    ("enabled", Some(value)) => enabled = Some(value),
                    ("enabled", None) => return Err(wrong(format!("enabled: {is_bool}"))),
                    ("name", _) if value == *interface => {}
                    _ => return Err(wrong(format!("{member}: {SETTABLE}"))),
                }
            }
            enabled
        }
        _ => return Err(wrong(SETTABLE.to_owned())),
    };
    let interface = interface.clone();
    Ok(enabled.map(|enabled| Change { interface, enabled }))
}

/// Makes the changes in order. After a failure, those that were made are taken back.
fn apply(interfaces: &dyn Interfaces, changes: &[Change]) -> Result<(), String> {
    let mut made = Vec::new();
    for Change { interface, enabled } in changes {
        let before = interfaces.read(interface).is_some_and(|interface| interface.enabled);
        if let Err(problem) = interfaces.enable(interface, *enabled) {
            for (interface, before) in made.into_iter().rev() {
                // A second failure changes nothing about the first one.
                let _ = interfaces.enable(interface, before);
            }
            return Err(problem);
        }
        made.push((interface, before));
    }
    Ok(())
}
