//! What happens to a switch, line by line: requests of P4Runtime in text format, and frames.
//!
//! ```text
//! program everything
//! write updates { type: INSERT entity { table_entry { ... } } }
//! read entities { table_entry { } }
//! packet-out payload: "..." metadata { ... }
//! frame PORT HEX
//! wait NANOSECONDS
//! ```
//!
//! Lines that make no sense are passed over. Every line goes to two devices, one that interprets the program and one that
//! has compiled it. They must answer the same.

use p4sched_dataplane::{Frame, Nanos, Port};
use p4sched_device::{Device, Program};
use p4sched_engine::{Engine, FrameSink};
use p4sched_proto::DESCRIPTORS;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::write_request::Atomicity;
use prost_reflect::DynamicMessage;

use crate::programs::program;

const CPU_PORT: Port = 510;
/// Between two lines.
const STEP: Nanos = 1_000_000;
const LONGEST_WAIT: Nanos = 10_000_000_000;
const MAX_LINES: usize = 200;

/// Frames as they left.
#[derive(Default)]
struct Sent(Vec<(Port, Vec<u8>, Nanos)>);

impl FrameSink for Sent {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.0.push((port, frame.to_vec(), due));
    }
}

/// Two devices with the same program.
pub struct Bench {
    devices: [Device; 2],
    now: Nanos,
}

impl Bench {
    /// `None` if the switch does not take the program.
    pub fn with(compiled: Program, interpreted: Program) -> Option<Bench> {
        let device = |program: Program, interprets: bool| {
            let mut engine = Engine::new();
            engine.set_cpu_port(Some(CPU_PORT));
            if interprets {
                engine.interpret();
            }
            let mut device = Device::new(1, engine, Box::new(|_| true));
            device.commit(program).ok().map(|()| device)
        };
        let devices = [device(compiled, false), device(interpreted, true)];
        let [Some(compiled), Some(interpreted)] = devices else {
            return None;
        };
        Some(Bench {
            devices: [compiled, interpreted],
            now: STEP,
        })
    }

    /// Does something to both devices, which must answer the same and send the same.
    fn both(&mut self, act: impl Fn(&mut Device, Nanos, &mut Sent) -> String) -> String {
        self.now += STEP;
        let now = self.now;
        let [compiled, interpreted] = self.devices.each_mut().map(|device| {
            let mut sent = Sent::default();
            let answer = act(device, now, &mut sent);
            device.advance(now, &mut sent);
            let balance = device.engine().balance();
            (answer, sent.0, format!("{balance:?}"))
        });
        assert_eq!(compiled, interpreted, "compiled code and the interpreter differ");
        compiled.0
    }
}

fn message<M: prost::Message + Default>(name: &str, text: &str) -> Option<M> {
    let descriptor = DESCRIPTORS.get_message_by_name(name)?;
    DynamicMessage::parse_text_format(descriptor, text)
        .ok()?
        .transcode_to()
        .ok()
}

/// Everything that a controller can read of tables, profiles and groups.
fn all(device: &mut Device, now: Nanos) -> String {
    let filters = [
        Entity::TableEntry(Default::default()),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::PacketReplicationEngineEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let filters = filters.map(|entity| p4rt::Entity { entity: Some(entity) });
    let found = device.read(&filters, now).into_iter().flatten();
    // What was deleted and comes back is the last one.
    let mut found: Vec<String> = found.flatten().flatten().map(|entity| format!("{entity:?}")).collect();
    found.sort_unstable();
    found.join("\n")
}

fn write(device: &mut Device, now: Nanos, request: &p4rt::WriteRequest) -> String {
    let all_or_none = request.atomicity() != Atomicity::ContinueOnError;
    let before = all_or_none.then(|| all(device, now));
    let results = device.write_request(request, now);
    if let (Some(before), Ok(results)) = (before, &results)
        && results.iter().any(Result::is_err)
    {
        assert_eq!(before, all(device, now), "a request that failed has changed something");
    }
    codes(
        results
            .into_iter()
            .flatten()
            .map(|result| result.err().map(|fault| fault.code)),
    )
}

fn codes(codes: impl Iterator<Item = impl std::fmt::Debug>) -> String {
    codes.map(|code| format!("{code:?} ")).collect()
}

fn frame(words: &str) -> Option<(Port, Vec<u8>)> {
    let (port, digits) = words.split_once(' ')?;
    let digits: Vec<u8> = digits
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    let bytes = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit));
    Some((port.parse::<Port>().ok()? & 511, bytes.collect()))
}

/// Plays a line; in a few words what became of it.
fn line(bench: &mut Bench, line: &str) -> Option<String> {
    let (word, rest) = line.split_once(' ')?;
    Some(match word {
        "write" => {
            let request: p4rt::WriteRequest = message("p4.v1.WriteRequest", rest)?;
            bench.both(|device, now, _| write(device, now, &request))
        }
        "read" => {
            let request: p4rt::ReadRequest = message("p4.v1.ReadRequest", rest)?;
            let found = bench.both(|device, now, _| format!("{:?}", device.read(&request.entities, now)));
            format!("read {}", found.len().ilog2())
        }
        "packet-out" => {
            let packet: p4rt::PacketOut = message("p4.v1.PacketOut", rest)?;
            bench.both(|device, now, sent| format!("{:?}", device.packet_out(&packet, now, sent).is_ok()))
        }
        "frame" => {
            let (port, frame) = frame(rest)?;
            bench.both(|device, now, sent| {
                device.receive(now, port, &frame, sent);
                let ports = sent.0.iter().map(|(port, _, _)| port);
                codes(ports)
            })
        }
        "wait" => {
            bench.now += rest.trim().parse::<Nanos>().ok()?.min(LONGEST_WAIT);
            bench.both(|_, _, _| String::new())
        }
        _ => return None,
    })
}

/// Plays the lines of a script.
pub fn play(bench: &mut Bench, text: &str) -> String {
    let mut outcome: Vec<String> = text
        .lines()
        .take(MAX_LINES)
        .filter_map(|text| line(bench, text))
        .collect();
    // Which things happened, not how often.
    outcome.sort_unstable();
    outcome.dedup();
    outcome.join(";")
}

/// Plays a script on the program that its first line names.
pub fn run(text: &str) -> String {
    let name = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("program "))
        .unwrap_or("everything");
    let bench = Bench::with(program(name), program(name));
    play(&mut bench.expect("the switch takes it"), text)
}
