//! A switch with the program `everything.p4`, and calls of its interface.

use p4sched_dataplane::{Nanos, Port};
use p4sched_device::{Device, Fidelity, PortCounts, Ports, Program};
use p4sched_engine::{Engine, Frame, FrameSink};
use p4sched_thrift::answer::{Failure, Outcome};
use p4sched_thrift::call;
use p4sched_thrift::value::{Fields, Value, kind};

pub const JSON: &[u8] = include_bytes!("../../../device/tests/programs/everything.json");

/// Ports 1 and 2; further ports can be added and removed.
#[derive(Default)]
pub struct Wires {
    pub added: Vec<(Port, String)>,
    pub sent: Vec<(Port, Vec<u8>)>,
}

impl FrameSink for Wires {
    fn transmit(&mut self, port: Port, frame: &mut Frame, _due: Nanos) {
        self.sent.push((port, frame.to_vec()));
    }
}

impl Ports for Wires {
    fn numbers(&self) -> Vec<Port> {
        self.added.iter().map(|(port, _)| *port).collect()
    }
    fn counts(&mut self, port: Port) -> PortCounts {
        let interface = self.added.iter().find(|(number, _)| *number == port);
        PortCounts {
            interface: interface.map(|(_, name)| name.clone()).unwrap_or_default(),
            up: true,
            ..PortCounts::default()
        }
    }
    fn add(&mut self, port: Port, interface: &str) -> Result<(), String> {
        self.added.push((port, interface.to_owned()));
        Ok(())
    }
    fn remove(&mut self, port: Port) -> Result<(), String> {
        self.added.retain(|(number, _)| *number != port);
        Ok(())
    }
    fn fidelity(&mut self, _reset: bool) -> Fidelity {
        Fidelity::default()
    }
}

pub fn device() -> Device {
    let mut device = Device::new(0, Engine::new(), Box::new(|_| true));
    let program = Program::without_p4info(JSON.to_vec()).expect("p4c wrote it");
    device.commit(program).expect("it fits the switch");
    device
}

/// A device in stepped time.
pub struct Bench {
    pub device: Device,
    pub wires: Wires,
    pub now: Nanos,
}

impl Bench {
    pub fn new() -> Bench {
        Bench {
            device: device(),
            wires: Wires::default(),
            now: 1_000_000_000,
        }
    }

    /// Calls `SERVICE:METHOD`; the arguments are numbered from 1.
    pub fn call(&mut self, method: &str, args: &[Value]) -> Outcome {
        let (service, method) = method.split_once(':').unwrap_or(("standard", method));
        let args: Vec<(i16, Value)> = (1..).zip(args.iter().cloned()).collect();
        call(
            service,
            method,
            Fields(&args),
            &mut self.device,
            &mut self.wires,
            self.now,
        )
    }

    /// Calls a method that succeeds, and returns its result.
    pub fn done(&mut self, method: &str, args: &[Value]) -> Value {
        let result = self
            .call(method, args)
            .unwrap_or_else(|failure| panic!("{method}: {failure}"));
        result.unwrap_or(Value::Bool(true))
    }

    /// Calls a method that is refused, and returns the code.
    pub fn refused(&mut self, method: &str, args: &[Value]) -> i32 {
        match self.call(method, args) {
            Err(Failure::Refused(refusal)) => refusal.code,
            other => panic!("{method} is refused, not {other:?}"),
        }
    }
}

/// The context; it is always 0.
pub const CXT: Value = Value::I32(0);

pub fn text(text: &str) -> Value {
    Value::String(text.as_bytes().to_vec())
}

pub fn data(values: &[&[u8]]) -> Value {
    Value::strings(values.iter().map(|value| value.to_vec()))
}

/// A list of `BmMatchParam`.
pub fn key(params: &[Value]) -> Value {
    Value::List(kind::STRUCT, params.to_vec())
}

fn param(number: i32, fields: Vec<(i16, Value)>) -> Value {
    Value::Struct(vec![
        (1, Value::I32(number)),
        (number as i16 + 2, Value::Struct(fields)),
    ])
}

pub fn exact(value: &[u8]) -> Value {
    param(0, vec![(1, Value::String(value.to_vec()))])
}

pub fn lpm(value: &[u8], length: i32) -> Value {
    param(1, vec![(1, Value::String(value.to_vec())), (2, Value::I32(length))])
}

pub fn ternary(value: &[u8], mask: &[u8]) -> Value {
    param(
        2,
        vec![(1, Value::String(value.to_vec())), (2, Value::String(mask.to_vec()))],
    )
}

pub fn range(low: &[u8], high: &[u8]) -> Value {
    param(
        4,
        vec![(1, Value::String(low.to_vec())), (2, Value::String(high.to_vec()))],
    )
}

pub fn priority(priority: i32) -> Value {
    Value::Struct(vec![(1, Value::I32(priority))])
}

/// A field of a structure.
pub fn field(value: &Value, number: i16) -> &Value {
    match value {
        Value::Struct(fields) => Fields(fields)
            .get(number)
            .unwrap_or_else(|| panic!("{value:?} has no field {number}")),
        other => panic!("{other:?} is not a structure"),
    }
}

pub fn items(value: &Value) -> &[Value] {
    match value {
        Value::List(_, items) => items,
        other => panic!("{other:?} is not a list"),
    }
}
