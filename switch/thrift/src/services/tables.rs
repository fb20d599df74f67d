//! Service `standard`: tables with their direct counters and meters.

use p4sched_device::bmv2::{EntryRow, KeyParam, RowAction, Runtime, TableCode};

use super::arrays::{count_of, count_value, meter_of, meter_value};
use crate::answer::{Failure, Outcome};
use crate::value::{ArgumentError, Fields, Value};

/// Kinds of matches, with the numbers of `BmMatchParamType`.
mod match_kind {
    pub const EXACT: i32 = 0;
    pub const LPM: i32 = 1;
    pub const TERNARY: i32 = 2;
    pub const VALID: i32 = 3;
    pub const RANGE: i32 = 4;
}

/// Kinds of actions, with the numbers of `BmActionEntryType`.
mod action_kind {
    pub const NONE: i32 = 0;
    pub const ACTION_DATA: i32 = 1;
    pub const MEMBER: i32 = 2;
    pub const GROUP: i32 = 3;
}

/// Decodes a field of a key: its kind, and the structure for this kind.
fn param_of(param: Fields<'_>) -> Result<KeyParam, ArgumentError> {
    let kind = param.i32(1)?;
    let inner = |number| param.fields(number);
    Ok(match kind {
        match_kind::EXACT => KeyParam::Exact(inner(2)?.bytes(1)?.to_vec()),
        match_kind::LPM => KeyParam::Lpm(inner(3)?.bytes(1)?.to_vec(), inner(3)?.i32(2)?),
        match_kind::TERNARY => KeyParam::Ternary(inner(4)?.bytes(1)?.to_vec(), inner(4)?.bytes(2)?.to_vec()),
        match_kind::VALID => KeyParam::Valid(inner(5)?.bool(1)?),
        match_kind::RANGE => KeyParam::Range(inner(6)?.bytes(1)?.to_vec(), inner(6)?.bytes(2)?.to_vec()),
        _ => {
            return Err(ArgumentError {
                field: 1,
                expected: "a kind of match, 0 to 4",
            });
        }
    })
}

fn param_value(param: KeyParam) -> Value {
    let bytes = |value| Value::String(value);
    let (kind, number, fields) = match param {
        KeyParam::Exact(key) => (match_kind::EXACT, 2, vec![(1, bytes(key))]),
        KeyParam::Lpm(key, length) => (match_kind::LPM, 3, vec![(1, bytes(key)), (2, Value::I32(length))]),
        KeyParam::Ternary(key, mask) => (match_kind::TERNARY, 4, vec![(1, bytes(key)), (2, bytes(mask))]),
        KeyParam::Valid(valid) => (match_kind::VALID, 5, vec![(1, Value::Bool(valid))]),
        KeyParam::Range(low, high) => (match_kind::RANGE, 6, vec![(1, bytes(low)), (2, bytes(high))]),
    };
    Value::Struct(vec![(1, Value::I32(kind)), (number, Value::Struct(fields))])
}

fn key_of(args: Fields<'_>, number: i16) -> Result<Vec<KeyParam>, ArgumentError> {
    args.structs(number)?.into_iter().map(param_of).collect()
}

/// The priority in `BmAddEntryOptions`; 0 if it is missing.
fn priority_of(args: Fields<'_>, number: i16) -> i32 {
    let options = args.fields(number);
    options.and_then(|options| options.i32(1)).unwrap_or(0)
}

/// An action: one argument has its name, the next one its parameters.
fn action_of(args: Fields<'_>, number: i16) -> Result<RowAction, ArgumentError> {
    Ok(RowAction::Action(
        args.text(number)?.to_owned(),
        args.strings(number + 1)?,
    ))
}

fn action_value(action: RowAction) -> Value {
    let fields = match action {
        RowAction::None => vec![(1, Value::I32(action_kind::NONE))],
        RowAction::Action(name, data) => vec![
            (1, Value::I32(action_kind::ACTION_DATA)),
            (2, Value::String(name.into_bytes())),
            (3, Value::strings(data)),
        ],
        RowAction::Member(member) => vec![
            (1, Value::I32(action_kind::MEMBER)),
            (4, Value::I32(member.cast_signed())),
        ],
        RowAction::Group(group) => vec![
            (1, Value::I32(action_kind::GROUP)),
            (5, Value::I32(group.cast_signed())),
        ],
    };
    Value::Struct(fields)
}

fn row_value(row: EntryRow) -> Value {
    let options = vec![(1, Value::I32(row.priority))];
    let mut fields = vec![
        (1, Value::structs(row.key.into_iter().map(param_value))),
        (2, Value::Struct(options)),
        (3, Value::I32(row.handle.cast_signed())),
        (4, action_value(row.action)),
    ];
    if let Some(life) = row.life {
        let life = vec![(1, Value::I32(life.timeout_ms)), (2, Value::I32(life.since_hit_ms))];
        fields.push((5, Value::Struct(life)));
    }
    Value::Struct(fields)
}

fn handle_value(handle: u32) -> Option<Value> {
    Some(Value::I32(handle.cast_signed()))
}

pub fn call(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Option<Outcome> {
    entries(method, args, runtime).unwrap_or_else(|failure| Some(Err(failure)))
}

type Outcomes = Result<Option<Outcome>, Failure>;

/// Adds an entry; `options` is the number of the argument with its priority.
fn add(args: Fields<'_>, runtime: &mut Runtime<'_>, action: &RowAction, options: i16) -> Result<Outcome, Failure> {
    let (table, key) = (args.text(2)?, key_of(args, 3)?);
    let handle = runtime.add(table, &key, action, priority_of(args, options))?;
    Ok(Ok(handle_value(handle)))
}

/// The methods; argument 2 is the table.
fn entries(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Outcomes {
    let table = || args.text(2);
    let done = Ok(None);
    Ok(Some(match method {
        "bm_mt_get_num_entries" => Ok(Some(Value::I64(runtime.entry_count(table()?)? as i64))),
        "bm_mt_clear_entries" => {
            runtime.clear(table()?, args.bool(3)?)?;
            done
        }
        "bm_mt_add_entry" => add(args, runtime, &action_of(args, 4)?, 6)?,
        "bm_mt_indirect_add_entry" => add(args, runtime, &RowAction::Member(args.handle(4)?), 5)?,
        "bm_mt_indirect_ws_add_entry" => add(args, runtime, &RowAction::Group(args.handle(4)?), 5)?,
        "bm_mt_modify_entry" => {
            runtime.modify(table()?, args.handle(3)?, &action_of(args, 4)?)?;
            done
        }
        "bm_mt_indirect_modify_entry" => {
            runtime.modify(table()?, args.handle(3)?, &RowAction::Member(args.handle(4)?))?;
            done
        }
        "bm_mt_indirect_ws_modify_entry" => {
            runtime.modify(table()?, args.handle(3)?, &RowAction::Group(args.handle(4)?))?;
            done
        }
        "bm_mt_delete_entry" | "bm_mt_indirect_delete_entry" => {
            runtime.delete(table()?, args.handle(3)?)?;
            done
        }
        "bm_mt_set_entry_ttl" | "bm_mt_indirect_set_entry_ttl" => {
            runtime.set_timeout(table()?, args.handle(3)?, args.i32(4)?)?;
            done
        }
        "bm_mt_set_default_action" => {
            runtime.set_default(table()?, &action_of(args, 3)?)?;
            done
        }
        "bm_mt_indirect_set_default_member" => {
            runtime.set_default(table()?, &RowAction::Member(args.handle(3)?))?;
            done
        }
        "bm_mt_indirect_ws_set_default_group" => {
            runtime.set_default(table()?, &RowAction::Group(args.handle(3)?))?;
            done
        }
        "bm_mt_reset_default_entry" | "bm_mt_indirect_reset_default_entry" => {
            runtime.set_default(table()?, &RowAction::None)?;
            done
        }
        "bm_mt_get_entries" => {
            let rows = runtime.entries(table()?)?;
            Ok(Some(Value::structs(rows.into_iter().map(row_value))))
        }
        "bm_mt_get_entry" => Ok(Some(row_value(runtime.entry(table()?, args.handle(3)?)?))),
        "bm_mt_get_entry_from_key" => {
            let (key, priority) = (key_of(args, 3)?, priority_of(args, 4));
            Ok(Some(row_value(runtime.entry_of_key(table()?, &key, priority)?)))
        }
        "bm_mt_get_default_entry" => Ok(Some(action_value(runtime.default_action(table()?)?))),
        _ => return direct(method, args, runtime),
    }))
}

fn direct(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Outcomes {
    let table = || args.text(2);
    let done = Ok(None);
    Ok(Some(match method {
        "bm_mt_read_counter" => Ok(Some(count_value(runtime.direct_counter(table()?, args.handle(3)?)?))),
        "bm_mt_write_counter" => {
            runtime.set_direct_counter(table()?, args.handle(3)?, count_of(args.fields(4)?)?)?;
            done
        }
        "bm_mt_reset_counters" => {
            runtime.reset_direct_counters(table()?)?;
            done
        }
        "bm_mt_set_meter_rates" => {
            let bad = || TableCode::InvalidMeterOperation.because("two rates, the committed one first");
            let config = meter_of(&args.structs(4)?)?.ok_or_else(bad)?;
            runtime.set_direct_meter(table()?, args.handle(3)?, config)?;
            done
        }
        "bm_mt_get_meter_rates" => Ok(Some(meter_value(runtime.direct_meter(table()?, args.handle(3)?)?))),
        _ => return Ok(None),
    }))
}
