//! The methods, one file for each kind of object.

mod action_profiles;
mod arrays;
mod multicast;
mod simple_switch;
mod switch;
mod tables;

use p4sched_dataplane::Nanos;
use p4sched_device::bmv2::Runtime;
use p4sched_device::{Device, Ports};

use crate::answer::{Failure, Outcome};
use crate::value::Fields;

/// Methods that use a program. They return `None` for a method that is in another file.
type Methods = fn(&str, Fields<'_>, &mut Runtime<'_>) -> Option<Outcome>;

/// The methods of `standard` that use a program.
const OF_PROGRAM: [Methods; 3] = [tables::call, action_profiles::call, arrays::call];

/// Calls a method of a service.
///
/// # Errors
/// If the interface refuses the call, the method is unknown, or an argument is wrong.
pub fn call(
    service: &str,
    method: &str,
    args: Fields<'_>,
    device: &mut Device,
    ports: &mut dyn Ports,
    now: Nanos,
) -> Outcome {
    if service == "standard"
        && let Some(outcome) = switch::call(method, args, device, ports)
    {
        return outcome;
    }
    if service == "simple_switch"
        && let Some(outcome) = simple_switch::queues(method, args, device, ports, now)
    {
        return outcome;
    }
    let mut runtime = device.runtime(now).ok_or(Failure::NoProgram)?;
    let outcome = match service {
        "standard" => OF_PROGRAM
            .iter()
            .find_map(|methods| methods(method, args, &mut runtime)),
        "simple_pre_lag" => multicast::call(method, args, &mut runtime),
        "simple_switch" => simple_switch::mirroring(method, args, &mut runtime),
        _ => None,
    };
    outcome.unwrap_or(Err(Failure::UnknownMethod))
}
