//! Service `standard`: action profiles with their members and groups.

use p4sched_device::bmv2::{Member, Runtime};

use crate::answer::{Failure, Outcome};
use crate::value::{Fields, Value};

fn member_value((handle, action, data): Member) -> Value {
    Value::Struct(vec![
        (1, Value::I32(handle.cast_signed())),
        (2, Value::String(action.into_bytes())),
        (3, Value::strings(data)),
    ])
}

fn group_value((handle, members): (u32, Vec<u32>)) -> Value {
    Value::Struct(vec![
        (1, Value::I32(handle.cast_signed())),
        (2, Value::handles(members)),
    ])
}

pub fn call(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Option<Outcome> {
    profiles(method, args, runtime).unwrap_or_else(|failure| Some(Err(failure)))
}

/// The methods; argument 2 is the profile.
fn profiles(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Result<Option<Outcome>, Failure> {
    let Some(method) = method.strip_prefix("bm_mt_act_prof_") else {
        return Ok(None);
    };
    let profile = args.text(2)?;
    let handle = |handle: u32| Some(Value::I32(handle.cast_signed()));
    let result = match method {
        "add_member" => handle(runtime.add_member(profile, args.text(3)?, &args.strings(4)?)?),
        "modify_member" => {
            runtime.modify_member(profile, args.handle(3)?, args.text(4)?, &args.strings(5)?)?;
            None
        }
        "delete_member" => {
            runtime.delete_member(profile, args.handle(3)?)?;
            None
        }
        "create_group" => handle(runtime.create_group(profile)?),
        "delete_group" => {
            runtime.delete_group(profile, args.handle(3)?)?;
            None
        }
        "add_member_to_group" => {
            runtime.add_to_group(profile, args.handle(3)?, args.handle(4)?)?;
            None
        }
        "remove_member_from_group" => {
            runtime.remove_from_group(profile, args.handle(3)?, args.handle(4)?)?;
            None
        }
        "get_members" => Some(Value::structs(runtime.members(profile)?.into_iter().map(member_value))),
        "get_member" => Some(member_value(runtime.member(profile, args.handle(3)?)?)),
        "get_groups" => Some(Value::structs(runtime.groups(profile)?.into_iter().map(group_value))),
        "get_group" => {
            let group = args.handle(3)?;
            Some(group_value((group, runtime.group_members(profile, group)?)))
        }
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}
