//! Arbitration of the primary controller (specification, section "Client Arbitration and Controller Replication").

use std::collections::BTreeMap;

use p4sched_device::{self as device, Fault};
use p4sched_proto::google::rpc;
use p4sched_proto::p4::v1 as p4rt;
use tonic::Code;

/// Number of a controller's stream; it is never used again while the switch runs.
pub type StreamId = u64;

/// The most streams of one role.
pub const MAX_STREAMS_PER_ROLE: usize = 64;

/// An answer to send on a stream.
pub type Answer = (StreamId, p4rt::MasterArbitrationUpdate);

fn election_id(id: Option<&p4rt::Uint128>) -> Option<u128> {
    id.map(|id| u128::from(id.high) << 64 | u128::from(id.low))
}

fn to_message(id: u128) -> p4rt::Uint128 {
    p4rt::Uint128 {
        high: (id >> 64) as u64,
        low: id as u64,
    }
}

/// The name of a role. Older clients give a number only; then the name is made from it.
fn role_name(role: Option<&p4rt::Role>) -> String {
    match role {
        None => String::new(),
        Some(role) if !role.name.is_empty() => role.name.clone(),
        #[allow(deprecated, reason = "clients older than P4Runtime 1.4 number their roles")]
        Some(role) => numbered_role(role.id),
    }
}

fn numbered_role(id: u64) -> String {
    if id == 0 { String::new() } else { format!("role {id}") }
}

/// The name of the role in a request. Older clients give a number only.
pub fn requested_role(name: &str, number: u64) -> String {
    if name.is_empty() {
        numbered_role(number)
    } else {
        name.to_owned()
    }
}

#[derive(Debug, Default)]
struct Role {
    /// The role as the controllers gave it.
    named: Option<p4rt::Role>,
    config: Option<prost_types::Any>,
    /// The highest election identifier so far.
    highest: Option<u128>,
    streams: BTreeMap<StreamId, Option<u128>>,
}

impl Role {
    fn primary(&self) -> Option<StreamId> {
        let highest = self.highest?;
        self.streams
            .iter()
            .find(|(_, id)| **id == Some(highest))
            .map(|(&stream, _)| stream)
    }

    fn answer(&self, device_id: u64, stream: StreamId) -> Answer {
        let (code, message) = match self.primary() {
            Some(primary) if primary == stream => (Code::Ok, "you are primary"),
            Some(_) => (Code::AlreadyExists, "you are backup; another controller is primary"),
            None => (Code::NotFound, "you are backup; there is no primary"),
        };
        let role = self.named.clone().map(|role| p4rt::Role {
            config: self.config.clone(),
            ..role
        });
        let update = p4rt::MasterArbitrationUpdate {
            device_id,
            role,
            election_id: self.highest.map(to_message),
            status: Some(rpc::Status {
                code: code as i32,
                message: message.to_owned(),
                details: Vec::new(),
            }),
        };
        (stream, update)
    }

    /// Answers to every stream; the primary's is the last one.
    fn answers(&self, device_id: u64) -> Vec<Answer> {
        let primary = self.primary();
        let backups = self.streams.keys().copied().filter(|&stream| Some(stream) != primary);
        backups
            .chain(primary)
            .map(|stream| self.answer(device_id, stream))
            .collect()
    }
}

/// The controllers of one device.
#[derive(Debug)]
pub struct Arbitration {
    device_id: u64,
    roles: BTreeMap<String, Role>,
    role_of: BTreeMap<StreamId, String>,
}

impl Arbitration {
    pub fn new(device_id: u64) -> Arbitration {
        Arbitration {
            device_id,
            roles: BTreeMap::new(),
            role_of: BTreeMap::new(),
        }
    }

    /// Processes a `MasterArbitrationUpdate`. The answers must be sent in this order, backups first: a new primary must
    /// get its answer only after the writes of the old one are done.
    ///
    /// # Errors
    /// The stream must end with the error: `NOT_FOUND` for another device, `INVALID_ARGUMENT` for an election
    /// identifier in use, `FAILED_PRECONDITION` for a change of device or role, `RESOURCE_EXHAUSTED` for too many
    /// streams.
    pub fn update(&mut self, stream: StreamId, request: &p4rt::MasterArbitrationUpdate) -> Result<Vec<Answer>, Fault> {
        let name = role_name(request.role.as_ref());
        match self.role_of.get(&stream) {
            None if request.device_id != self.device_id => {
                return Err(Fault::not_found(format!(
                    "no device {}; this switch is device {}",
                    request.device_id, self.device_id
                )));
            }
            Some(_) if request.device_id != self.device_id => {
                return Err(Fault::precondition(
                    "a stream belongs to one device; open another stream",
                ));
            }
            Some(role) if *role != name => {
                return Err(Fault::precondition(format!(
                    "this stream has the role '{role}'; for the role '{name}' open another stream"
                )));
            }
            _ => {}
        }
        let asked = election_id(request.election_id.as_ref());
        let role = self.roles.entry(name.clone()).or_default();
        if asked.is_some() && role.streams.iter().any(|(&other, &id)| other != stream && id == asked) {
            let id = asked.unwrap_or_default();
            return Err(Fault::invalid(format!(
                "the election id {id} is in use by another controller of this role"
            )));
        }
        if !role.streams.contains_key(&stream) && role.streams.len() >= MAX_STREAMS_PER_ROLE {
            let what = format!("{MAX_STREAMS_PER_ROLE} controllers of the role '{name}' are connected");
            return Err(Fault::new(device::Code::ResourceExhausted, what));
        }
        let was_primary = role.primary() == Some(stream);
        if role.named.is_none() {
            role.named.clone_from(&request.role);
        }
        role.streams.insert(stream, asked);
        self.role_of.insert(stream, name);
        if asked.is_some() && asked >= role.highest {
            role.highest = asked;
            role.config = request.role.as_ref().and_then(|role| role.config.clone());
            return Ok(role.answers(self.device_id));
        }
        if was_primary {
            return Ok(role.answers(self.device_id));
        }
        Ok(vec![role.answer(self.device_id, stream)])
    }

    /// Removes a stream that has ended. Returns the answers for the other streams.
    pub fn close(&mut self, stream: StreamId) -> Vec<Answer> {
        let Some(role) = self.role_of.remove(&stream).and_then(|name| self.roles.get_mut(&name)) else {
            return Vec::new();
        };
        let was_primary = role.primary() == Some(stream);
        role.streams.remove(&stream);
        if was_primary {
            role.answers(self.device_id)
        } else {
            Vec::new()
        }
    }

    /// Checks that a client with this device, role and election identifier may write.
    ///
    /// # Errors
    /// `NOT_FOUND` for another device or a role without a controller, `PERMISSION_DENIED` if the client is not the
    /// primary.
    pub fn check_write(&self, device_id: u64, role: &str, id: Option<&p4rt::Uint128>) -> Result<(), Fault> {
        self.check_device(device_id)?;
        let Some(known) = self.roles.get(role) else {
            return match role {
                "" => Err(Fault::denied(
                    "no controller is primary; open a stream and send an election id",
                )),
                _ => Err(Fault::not_found(format!("no controller has the role '{role}'"))),
            };
        };
        let given = election_id(id);
        if known.primary().is_none() || given != known.highest {
            let given = given.map_or("no election id".to_owned(), |id| format!("election id {id}"));
            return Err(Fault::denied(format!(
                "{given} is not that of the primary controller of the role '{role}'"
            )));
        }
        Ok(())
    }

    /// Checks that a request is for this device; `NOT_FOUND` otherwise.
    pub fn check_device(&self, device_id: u64) -> Result<(), Fault> {
        if device_id == self.device_id {
            return Ok(());
        }
        Err(Fault::not_found(format!(
            "no device {device_id}; this switch is device {}",
            self.device_id
        )))
    }

    /// Whether a stream belongs to the primary controller of its role.
    pub fn is_primary(&self, stream: StreamId) -> bool {
        let role = self.role_of.get(&stream).and_then(|name| self.roles.get(name));
        role.is_some_and(|role| role.primary() == Some(stream))
    }

    /// The stream of the controller with this election identifier, in any role.
    pub fn stream_of(&self, election_id: u128) -> Option<StreamId> {
        let mut streams = self.roles.values().flat_map(|role| &role.streams);
        let found = streams.find(|(_, id)| **id == Some(election_id));
        found.map(|(&stream, _)| stream)
    }

    /// The streams of the primary controllers of all roles.
    pub fn primaries(&self) -> Vec<StreamId> {
        self.roles.values().filter_map(Role::primary).collect()
    }
}
