//! Checks of the identifiers and names in P4Info: each must be used once and be of the right kind.

use std::collections::HashMap;

use p4sched_proto::p4::config::v1 as p4info;
use p4sched_proto::p4::config::v1::p4_ids::Prefix;

use crate::fault::Fault;

/// Refuses an identifier that is used twice or whose first byte belongs to another kind of object.
#[derive(Default)]
pub struct Identifiers {
    seen: HashMap<u32, String>,
}

impl Identifiers {
    /// Checks an object's identifier and returns it with the object's name.
    pub fn claim(&mut self, kind: Prefix, preamble: Option<&p4info::Preamble>) -> Result<(u32, String), Fault> {
        let what = kind.as_str_name().to_lowercase().replace('_', " ");
        let Some(preamble) = preamble else {
            return Err(Fault::invalid(format!(
                "P4Info: {what} without a preamble (identifier and name)"
            )));
        };
        let (id, name) = (preamble.id, preamble.name.clone());
        if kind != Prefix::ControllerHeader && id >> 24 != kind as u32 {
            return Err(Fault::invalid(format!(
                "P4Info: {what} '{name}' has the identifier {id:#010x}; those of its kind start with {:#04x}",
                kind as u32
            )));
        }
        if let Some(other) = self.seen.insert(id, name.clone()) {
            return Err(Fault::invalid(format!(
                "P4Info: '{other}' and '{name}' have the same identifier {id:#010x}"
            )));
        }
        Ok((id, name))
    }
}

/// `INVALID_ARGUMENT`: P4Info has an object that the program does not have.
pub fn not_in_program(kind: &str, name: &str) -> Fault {
    Fault::invalid(format!(
        "P4Info does not belong to the program: the program has no {kind} '{name}'"
    ))
}

/// `INVALID_ARGUMENT`: P4Info and program disagree about an object.
pub fn mismatch(kind: &str, name: &str, problem: impl std::fmt::Display) -> Fault {
    Fault::invalid(format!(
        "P4Info does not belong to the program: {kind} '{name}': {problem}"
    ))
}
