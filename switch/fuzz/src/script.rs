//! Scripts for a switch: P4Runtime requests in text format, and frames, one per line.
//!
//! ```text
//! program everything
//! write updates { type: INSERT entity { table_entry { ... } } }
//! read entities { table_entry { } }
//! packet-out payload: "..." metadata { ... }
//! frame PORT HEX
//! wait NANOSECONDS
//! clear
//! ```
//!
//! Invalid lines are skipped. Every line goes to two devices: one interprets the program, the other one has compiled
//! it. Their answers must be equal.

use std::collections::HashMap;

use p4sched_dataplane::{Frame, Nanos, Port};
use p4sched_device::{Device, Program};
use p4sched_engine::{Engine, FrameSink};
use p4sched_proto::DESCRIPTORS;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;
use p4sched_proto::p4::v1::write_request::Atomicity;
use prost_reflect::DynamicMessage;

use crate::programs::{known, program};

const CPU_PORT: Port = 510;
/// Time in ns between two lines.
const STEP: Nanos = 1_000_000;
const LONGEST_WAIT: Nanos = 10_000_000_000;
/// The most lines of a script that are run.
const MAX_LINES: usize = 200;
/// The number of scripts that one pair of devices runs before it is replaced.
const SESSION: usize = 128;

/// The frames that left, with their ports and times.
#[derive(Default)]
struct Sent(Vec<(Port, Vec<u8>, Nanos)>);

impl FrameSink for Sent {
    fn transmit(&mut self, port: Port, frame: &mut Frame, due: Nanos) {
        self.0.push((port, frame.to_vec(), due));
    }
}

/// Two devices with the same program; one of them interprets it.
pub struct Bench {
    devices: [Device; 2],
    now: Nanos,
}

impl Bench {
    /// `None` if the switch cannot run the program.
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

    /// Calls `act` with both devices. Their answers and outputs must be equal.
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

/// All entities of tables, profiles and groups that a controller can read. An entity that refers to another one comes
/// first.
fn entities(device: &mut Device, now: Nanos) -> impl Iterator<Item = Entity> {
    let filters = [
        Entity::TableEntry(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::ActionProfileMember(Default::default()),
        Entity::PacketReplicationEngineEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let filters = filters.map(|entity| p4rt::Entity { entity: Some(entity) });
    device.read(&filters, now).into_iter().flatten().flatten().flatten()
}

/// All entities as text.
fn all(device: &mut Device, now: Nanos) -> String {
    // Sorted, because an entity that was deleted and restored moves to the end.
    let mut found: Vec<String> = entities(device, now).map(|entity| format!("{entity:?}")).collect();
    found.sort_unstable();
    found.join("\n")
}

/// Deletes everything that can be deleted, and restores the default actions of tables.
fn clear(device: &mut Device, now: Nanos) -> String {
    let delete = |mut entity: Entity| {
        let mut kind = Type::Delete;
        if let Entity::TableEntry(entry) = &mut entity
            && entry.is_default_action
        {
            kind = Type::Modify;
            entry.action = None;
        }
        p4rt::Update {
            r#type: kind.into(),
            entity: Some(p4rt::Entity { entity: Some(entity) }),
        }
    };
    let updates: Vec<p4rt::Update> = entities(device, now).map(delete).collect();
    let results = device.write(&updates, now).into_iter().flatten();
    codes(results.map(|result| result.err().map(|fault| fault.code)))
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

/// Runs a line and returns a short description of the outcome.
fn line(bench: &mut Bench, line: &str) -> Option<String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
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
        "clear" => bench.both(|device, now, _| clear(device, now)),
        "wait" => {
            bench.now += rest.trim().parse::<Nanos>().ok()?.min(LONGEST_WAIT);
            bench.both(|_, _, _| String::new())
        }
        _ => return None,
    })
}

/// Runs the lines of a script.
pub fn play(bench: &mut Bench, text: &str) -> String {
    let mut outcome: Vec<String> = text.lines().filter_map(|text| line(bench, text)).collect();
    // The outcome tells what happened, but not how often.
    outcome.sort_unstable();
    outcome.dedup();
    outcome.join(";")
}

/// The name of the program in the first line of a script.
fn named(text: &str) -> &str {
    let first = text.lines().next().and_then(|line| line.strip_prefix("program "));
    first.unwrap_or("everything")
}

fn bench(name: &'static str) -> Bench {
    Bench::with(program(name), program(name)).expect("the switch takes it")
}

/// Runs a script with the program of its first line.
pub fn run(text: &str) -> String {
    play(&mut bench(known(named(text))), text)
}

/// Runs scripts one after the other on the same devices, because loading a program takes longer than running a script.
/// The entries are cleared before each script; registers, counters and queues keep their state.
#[derive(Default)]
pub struct Sessions(HashMap<&'static str, Session>);

struct Session {
    bench: Bench,
    /// The lines that were run; they form a script.
    played: String,
    scripts: usize,
}

impl Sessions {
    /// Runs a script on the devices of its program. `before` gets all lines that they have run, including this script.
    pub fn run(&mut self, text: &str, before: impl FnOnce(&str)) -> String {
        let name = known(named(text));
        let session = self.0.entry(name).or_insert_with(|| Session {
            bench: bench(name),
            played: format!("program {name}\n"),
            scripts: 0,
        });
        if session.scripts > 0 {
            session.played.push_str("clear\n");
        }
        let new = session.played.len();
        let lines = text.lines().take(MAX_LINES);
        session.played.extend(lines.flat_map(|line| [line, "\n"]));
        before(&session.played);
        if session.scripts > 0 {
            line(&mut session.bench, "clear");
        }
        session.scripts += 1;
        let outcome = play(&mut session.bench, &session.played[new..]);
        if session.scripts == SESSION {
            self.0.remove(name);
        }
        outcome
    }
}
