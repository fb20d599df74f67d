//! Service `standard`: ports, and the configuration of the switch.

use md5::{Digest, Md5};
use p4sched_dataplane::{DROP_PORT, Port};
use p4sched_device::bmv2::PortCode;
use p4sched_device::{Device, Ports, program_json};

use crate::answer::{Failure, Outcome};
use crate::value::{Fields, Value, kind};

pub fn call(method: &str, args: Fields<'_>, device: &mut Device, ports: &mut dyn Ports) -> Option<Outcome> {
    methods(method, args, device, ports).unwrap_or_else(|failure| Some(Err(failure)))
}

/// The JSON of the program that requests apply to; empty without a program.
fn program(device: &Device) -> Vec<u8> {
    device
        .config()
        .map_or_else(Vec::new, |config| program_json(&config.p4_device_config).into_owned())
}

fn port_number(number: i32) -> Result<Port, Failure> {
    let port = Port::try_from(number).ok().filter(|&port| port < DROP_PORT);
    let problem = || PortCode::Error.because(format!("port {number}; ports are 0 to {}", DROP_PORT - 1));
    Ok(port.ok_or_else(problem)?)
}

fn methods(
    method: &str,
    args: Fields<'_>,
    device: &mut Device,
    ports: &mut dyn Ports,
) -> Result<Option<Outcome>, Failure> {
    let result = match method {
        "bm_swap_configs" => {
            device.swap()?;
            None
        }
        "bm_get_config" => Some(Value::String(program(device))),
        "bm_get_config_md5" => Some(Value::String(Md5::digest(program(device)).to_vec())),
        "bm_dev_mgr_add_port" => {
            let (interface, port) = (args.text(1)?, port_number(args.i32(2)?)?);
            let added = ports.add(port, interface);
            added.map_err(|problem| PortCode::Error.because(problem))?;
            None
        }
        "bm_dev_mgr_remove_port" => {
            let removed = ports.remove(port_number(args.i32(1)?)?);
            removed.map_err(|problem| PortCode::Error.because(problem))?;
            None
        }
        "bm_dev_mgr_show_ports" => {
            let rows = ports.numbers().into_iter().map(|port| {
                let counts = ports.counts(port);
                Value::Struct(vec![
                    (1, Value::I32(i32::from(port))),
                    (2, Value::String(counts.interface.into_bytes())),
                    (3, Value::Bool(counts.up)),
                    (4, Value::Map(kind::STRING, kind::STRING, Vec::new())),
                ])
            });
            Some(Value::structs(rows))
        }
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}
