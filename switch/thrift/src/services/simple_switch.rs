//! Service `simple_switch`: mirroring sessions, queues and time. It also has the rate of a port, which BMv2 does not
//! have.

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::bmv2::{Mirror, Queues, Runtime};
use p4sched_device::{Device, Ports};

use crate::answer::{Failure, Outcome};
use crate::value::{ArgumentError, Fields, Value};

const NANOS_PER_MICRO: u64 = 1000;

/// The methods for queues, ports and time.
pub fn queues(
    method: &str,
    args: Fields<'_>,
    device: &mut Device,
    ports: &mut dyn Ports,
    now: Nanos,
) -> Option<Outcome> {
    let outcome = match rates_of_ports(method, args, device, ports) {
        Ok(None) => methods_of_queues(method, args, device, now).map_err(Failure::from),
        outcome => outcome,
    };
    outcome.unwrap_or_else(|failure| Some(Err(failure)))
}

/// The methods for the rate of a port in bit/s; 0 means no limit.
fn rates_of_ports(
    method: &str,
    args: Fields<'_>,
    device: &mut Device,
    ports: &dyn Ports,
) -> Result<Option<Outcome>, Failure> {
    let result = match method {
        "set_port_rate" => {
            device.set_port_rate(args.i32(1)?, args.i64(2)?, ports)?;
            None
        }
        "get_port_rate" => Some(Value::I64(device.port_rate(args.i32(1)?, ports)?.cast_signed())),
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}

fn methods_of_queues(
    method: &str,
    args: Fields<'_>,
    device: &mut Device,
    now: Nanos,
) -> Result<Option<Outcome>, ArgumentError> {
    let all = Queues {
        port: None,
        priority: None,
    };
    let of_port = |port| Queues {
        port: Some(port),
        ..all
    };
    let one = || -> Result<Queues, ArgumentError> {
        Ok(Queues {
            port: Some(args.i32(1)?),
            priority: Some(args.i32(2)?),
        })
    };
    match method {
        "set_all_egress_queue_depths" => device.set_queue_sizes(all, args.i32(1)?),
        "set_egress_queue_depth" => device.set_queue_sizes(of_port(args.i32(1)?), args.i32(2)?),
        "set_egress_priority_queue_depth" => device.set_queue_sizes(one()?, args.i32(3)?),
        "set_all_egress_queue_rates" => device.set_queue_rates(all, args.i64(1)?),
        "set_egress_queue_rate" => device.set_queue_rates(of_port(args.i32(1)?), args.i64(2)?),
        "set_egress_priority_queue_rate" => device.set_queue_rates(one()?, args.i64(3)?),
        "get_time_elapsed_us" => {
            let elapsed = (now / NANOS_PER_MICRO).cast_signed();
            return Ok(Some(Ok(Some(Value::I64(elapsed)))));
        }
        _ => return Ok(None),
    }
    Ok(Some(Ok(Some(Value::I32(0)))))
}

/// The methods for mirroring sessions.
pub fn mirroring(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Option<Outcome> {
    methods_of_mirroring(method, args, runtime).unwrap_or_else(|failure| Some(Err(failure)))
}

/// A port or a group. A number that is too large gets no packet.
fn place(number: i32) -> Option<u16> {
    u16::try_from(number).ok()
}

fn methods_of_mirroring(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Result<Option<Outcome>, Failure> {
    let result = match method {
        "mirroring_session_add" => {
            let config = args.fields(2)?;
            let mirror = Mirror {
                port: config.get(1).and_then(|_| place(config.i32(1).ok()?)),
                group: config.get(2).and_then(|_| place(config.i32(2).ok()?)),
            };
            runtime.set_mirror(args.i32(1)?, mirror)?;
            None
        }
        "mirroring_session_delete" => {
            runtime.delete_mirror(args.i32(1)?)?;
            None
        }
        "mirroring_session_get" => {
            let Mirror { port, group } = runtime.mirror(args.i32(1)?)?;
            let field = |number: i16, value: Option<Port>| value.map(|value| (number, Value::I32(i32::from(value))));
            let fields = [field(1, port), field(2, group)];
            Some(Value::Struct(fields.into_iter().flatten().collect()))
        }
        "mirroring_mapping_add" => {
            let mirror = Mirror {
                port: place(args.i32(2)?),
                group: None,
            };
            Some(Value::I32(i32::from(runtime.set_mirror(args.i32(1)?, mirror).is_ok())))
        }
        "mirroring_mapping_delete" => Some(Value::I32(i32::from(runtime.delete_mirror(args.i32(1)?).is_ok()))),
        "mirroring_mapping_get_egress_port" => {
            let port = runtime.mirror(args.i32(1)?).ok().and_then(|mirror| mirror.port);
            Some(Value::I32(port.map_or(-1, i32::from)))
        }
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}
