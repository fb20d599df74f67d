//! Actions: parameters and code.

use std::collections::HashMap;

use super::builder::Builder;
use super::json::{Json, Load};
use super::primitive::{self, Objects};
use crate::bits::words;
use crate::run::table::Action;

/// Most words for the parameters of an action: 32 KiB.
const MAX_PARAM_WORDS: usize = 1 << 12;
const MAX_PARAM_BITS: u64 = 1 << 14;

/// Number of words for the parameters of the largest action.
pub(crate) fn parameter_words(root: &Json) -> Load<usize> {
    let mut most = 0;
    for json in root.list("actions")? {
        let count: usize = parameters(&json)?.iter().map(|(_, width)| words(*width)).sum();
        if count > MAX_PARAM_WORDS {
            return json.error("its parameters take too much room");
        }
        most = most.max(count);
    }
    Ok(most)
}

fn parameters(json: &Json) -> Load<Vec<(String, u32)>> {
    let mut params = Vec::new();
    for param in json.list("runtime_data")? {
        let width = param.get("bitwidth")?.count(MAX_PARAM_BITS)? as u32;
        params.push((param.get("name")?.str()?.to_string(), width));
    }
    Ok(params)
}

/// Lowers all actions; `base` is the first word for parameters. Returns the actions, and their indices by id.
pub(crate) fn load(
    root: &Json,
    builder: &mut Builder,
    objects: &Objects,
    base: u32,
) -> Load<(Vec<Action>, HashMap<i64, u32>)> {
    let mut actions = Vec::new();
    let mut ids = HashMap::new();
    for json in root.list("actions")? {
        let name = json.get("name")?.str()?.to_string();
        let params = parameters(&json)?;
        let mut next = base;
        let mut places = Vec::new();
        for (_, width) in &params {
            places.push((next, *width));
            next += words(*width) as u32;
        }
        let start = primitive::lower_all(builder, objects, &places, &json.list("primitives")?)?;
        if ids.insert(json.get("id")?.int()?, actions.len() as u32).is_some() {
            return json.error("another action has this id");
        }
        let end = builder.address() - 1;
        actions.push(Action {
            name,
            params,
            start,
            end,
        });
    }
    Ok((actions, ids))
}
