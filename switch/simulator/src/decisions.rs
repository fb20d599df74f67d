//! Decisions of a program and of its model on each packet of a trace.
//!
//! The program may come from anybody. If it lacks something, the answer is an error, not a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use p4sched_dataplane::{MatchKey, Port};
use p4sched_schedulers::{Nanos, Packet, Scheme, Target};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

use crate::frames::{Datagram, MIN_FRAME};
use crate::model::{Decision, ModelPort};
use crate::parameters::Parameters;
use crate::program::Program;
use crate::steps::{Step, Steps};
use crate::switch::{Counts, Sent, Switch};

const PORT: Port = 1;
const MAX_FRAME: u32 = 1514;

/// A trace, and the program and scheme that decide on it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// File of the program, `NAME.p4`.
    pub program: PathBuf,
    #[serde(default, deserialize_with = "target")]
    pub target: Target,
    /// The scheme whose table, action and counters the program has.
    pub scheme: String,
    /// Arguments of the scheme's action.
    pub parameters: Vec<u64>,
    /// Rate of the link in bit/s.
    pub rate_bps: u64,
    /// Users 1, 2, ... of FDPA: 256 / weight of each.
    #[serde(default)]
    pub scales: Vec<u32>,
    /// Packets, in order of time.
    pub packets: Vec<PacketArrival>,
    /// False if the program has no model.
    #[serde(default = "yes")]
    pub model: bool,
    /// True: the answer also has what each packet met.
    #[serde(default)]
    pub steps: bool,
}

/// A packet: its time in ns, its rank, its user (0: no user) and its Ethernet bytes.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PacketArrival(pub Nanos, pub u32, pub u32, pub u32);

fn yes() -> bool {
    true
}

fn target<'de, D: Deserializer<'de>>(name: D) -> Result<Target, D::Error> {
    String::deserialize(name)?.parse().map_err(de::Error::custom)
}

impl PacketArrival {
    fn datagram(self, id: u64) -> Datagram {
        let PacketArrival(_, rank, user, len) = self;
        Datagram {
            source: source(user),
            ..Datagram::ranked(id, rank, len)
        }
    }
}

/// Source address of a user.
fn source(user: u32) -> [u8; 4] {
    [10, 0, user as u8, 1]
}

/// Answers requests. Consecutive requests for the same program compile it once.
#[derive(Debug, Default)]
pub struct Decisions {
    compiled: Option<((PathBuf, Target), Program)>,
}

impl Decisions {
    /// Returns the compiled program. It is interpreted, because a trace is shorter than the translation to machine
    /// code.
    fn program(&mut self, request: &Request, scheme: Scheme) -> Result<&Program, String> {
        let key = (request.program.clone(), request.target);
        let program = match self.compiled.take() {
            Some((of, program)) if of == key => program,
            _ => {
                let directory = request.program.parent().unwrap_or(Path::new("."));
                let name = request.program.file_stem().and_then(|name| name.to_str());
                let name = name.ok_or("the program has no name")?;
                let compiled = match scheme {
                    Scheme::Folder(_) => Program::of_scheme(scheme, directory, request.target),
                    _ => Program::compile(directory, name, request.target),
                };
                let mut program = compiled.map_err(|error| error.to_string())?;
                program.interpret();
                program
            }
        };
        Ok(&self.compiled.insert((key, program)).1)
    }

    /// Answers one request. `program`, `model` (or null) and `lengths` have one item for each packet. A decision is the
    /// priority of the queue, `"refused"`, `"full"`, `"pushed out"`, or null if the counters do not show exactly one
    /// decision. `lengths` are the lengths of the eight queues before the packet, by priority.
    /// `departures` are the numbers of the packets that left the program's port, with the time at the far end. `steps`,
    /// if requested: for each packet the registers before it, and its events.
    ///
    /// # Errors
    /// A sentence, if the request is not valid, the program does not compile or load, or a table or counter is missing.
    pub fn answer(&mut self, request: &Request) -> Result<Value, String> {
        let scheme = Scheme::named(&request.scheme);
        let scheme = scheme.ok_or_else(|| format!("no scheme {}", request.scheme))?;
        let config = scheme.from_arguments(&request.parameters);
        let parameters = Parameters::new(config.map_err(|error| error.to_string())?, request.target);
        let mut before = 0;
        for &PacketArrival(at, _, user, len) in &request.packets {
            if at < before || user > 255 || !(MIN_FRAME..=MAX_FRAME).contains(&len) {
                return Err(
                    "packets are in order of time, users are 0 to 255, a frame has 54 to 1514 bytes".to_owned(),
                );
            }
            before = at;
        }
        let program = self.program(request, scheme)?;
        // `switch.rs` panics with a sentence if a table or counter is missing.
        let run = AssertUnwindSafe(|| by_program(program, scheme, &parameters, request));
        let Decided {
            decisions,
            lengths,
            departures,
            steps,
        } = catch_unwind(run).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            text.unwrap_or_else(|| "the program cannot run here".to_owned())
        })??;
        let model = match request.model && scheme.has_model() {
            true => Some(by_model(scheme, &parameters, request)?),
            false => None,
        };
        let mut answer = json!({
            "program": decisions.into_iter().map(decision_json).collect::<Vec<_>>(),
            "model": model.map(|model| model.into_iter().map(|decision| decision_json(Some(decision))).collect::<Vec<_>>()),
            "lengths": lengths,
            "departures": departures,
        });
        if let Some(steps) = steps {
            answer["steps"] = json!(steps);
        }
        Ok(answer)
    }
}

fn decision_json(decision: Option<Decision>) -> Value {
    match decision {
        Some(Decision::Queued { priority }) => json!(priority),
        Some(Decision::Refused) => json!("refused"),
        Some(Decision::Full) => json!("full"),
        Some(Decision::PushedOut) => json!("pushed out"),
        None => Value::Null,
    }
}

/// Decisions of a program.
struct Decided {
    decisions: Vec<Option<Decision>>,
    /// Lengths of the queues before each packet, by priority.
    lengths: Vec<[u64; 8]>,
    /// Number of each packet that left, and the time at which it was at the far end of the link.
    departures: Vec<(u64, Nanos)>,
    /// What each packet met, if requested.
    steps: Option<Vec<Step>>,
}

fn by_program(
    program: &Program,
    scheme: Scheme,
    parameters: &Parameters,
    request: &Request,
) -> Result<Decided, String> {
    let mut switch = Switch::new(program, scheme).map_err(|error| error.to_string())?;
    if scheme.p4().ranks {
        switch.route_ranked(PORT);
    } else {
        let route = [MatchKey::Lpm(vec![10, 200, 0, 0], 16)];
        switch.set_entry("forwarding.ipv4_routes", &route, "forward", &[u64::from(PORT), 1]);
    }
    for (user, &scale) in (1..).zip(&request.scales) {
        let prefix = [MatchKey::Lpm(source(user).to_vec(), 24)];
        let data = [u64::from(user), u64::from(scale)];
        switch.set_entry("users.users_by_prefix", &prefix, "set_user", &data);
    }
    switch.set_port(PORT, parameters, true, request.rate_bps);
    let (mut sent, mut frame) = (Sent::default(), Vec::new());
    let mut done = Decided {
        decisions: Vec::new(),
        lengths: Vec::new(),
        departures: Vec::new(),
        steps: None,
    };
    let mut steps = request.steps.then(|| Steps::of(&mut switch, program.registers()));
    let depart = |sent: &mut Sent, departures: &mut Vec<(u64, Nanos)>| {
        sent.drain(|port, id, due, _| departures.extend(id.filter(|_| port == PORT).map(|id| (id, due))));
    };
    for (id, packet) in (0..).zip(&request.packets) {
        switch.advance(packet.0, &mut sent);
        let before: Counts = switch.counts(PORT);
        packet.datagram(id).write(&mut frame);
        steps.iter_mut().for_each(|steps| steps.before(switch.pipeline()));
        switch.receive(packet.0, &frame, &mut sent);
        steps.iter_mut().for_each(|steps| steps.after(id));
        done.decisions.push(switch.counts(PORT).decision_since(&before));
        done.lengths.push(before.lengths);
        depart(&mut sent, &mut done.departures);
    }
    // until the queues are empty
    let bytes: u64 = request.packets.iter().map(|packet| u64::from(packet.3)).sum();
    let last = request.packets.last().map_or(0, |packet| packet.0);
    let sending = bytes.saturating_mul(8_000_000_000) / request.rate_bps.max(1);
    switch.advance(last.saturating_add(sending), &mut sent);
    depart(&mut sent, &mut done.departures);
    done.steps = steps.map(Steps::done);
    Ok(done)
}

fn by_model(scheme: Scheme, parameters: &Parameters, request: &Request) -> Result<Vec<Decision>, String> {
    let port = ModelPort::new(&parameters.config, request.rate_bps, false);
    let mut port = port.map_err(|error| error.to_string())?;
    let p4 = scheme.p4();
    let decide = |(id, &PacketArrival(at, rank, user, len))| {
        port.advance(at);
        while port.next_departed().is_some() {}
        let flow = crate::frames::flow_cell(&p4, PacketArrival(at, rank, user, len).datagram(id).flow_hash());
        let scale = (user as usize).checked_sub(1).and_then(|user| request.scales.get(user));
        let packet = Packet {
            id,
            rank,
            user: if scale.is_some() { user } else { 0 },
            flow,
            len,
        };
        port.enqueue(at, packet, scale.copied().unwrap_or(256))
    };
    Ok((0..).zip(&request.packets).map(decide).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        let file = |name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = text.replace("AIFO", &file("p4/aifo.p4").display().to_string());
        let text = text.replace("ON_CHIP", &file("tofino-port/sp_pifo.p4").display().to_string());
        serde_json::from_str(&text).unwrap()
    }

    fn answered(request: &Request) -> Result<Value, String> {
        Decisions::default().answer(request)
    }

    #[test]
    fn a_program_for_a_chip_decides_as_the_chips_model() {
        let text = r#"{"program":"ON_CHIP","target":"tna","scheme":"sp_pifo","parameters":[2,2,0,0,0,0,0,0],
            "rate_bps":8000000,"packets":[[0,5,0,1000],[0,7,0,1000],[0,6,0,1000],[0,3,0,1000],[0,8,0,1000]]}"#;
        let found = answered(&request(text)).unwrap();
        assert_eq!(found["program"], found["model"]);
        // b_2 rises to 7. So 6 enters queue 1, and 3 is an inversion.
        assert_eq!(found["program"], json!([6, 6, 7, 7, 6]));
    }

    #[test]
    fn one_program_answers_for_one_target_and_then_for_another() {
        let mut decisions = Decisions::default();
        let text = r#"{"program":"AIFO","scheme":"aifo","parameters":[3,3,0,1,1],"rate_bps":8000000,"packets":[[0,5,0,1000]]}"#;
        let first = request(text);
        let answered = [decisions.answer(&first), decisions.answer(&first)].map(Result::unwrap);
        assert_eq!(answered[0], answered[1]);
        let other = Request {
            target: Target::Tna,
            ..first
        };
        assert!(decisions.answer(&other).unwrap_err().contains("aifo.p4"));
    }

    #[test]
    fn program_and_model_decide_alike_and_the_queue_is_reported_before_each_packet() {
        // One frame of 1000 bytes leaves each millisecond; C = 3 and a window of one rank.
        let packets = "[[0,5,0,1000],[0,5,0,1000],[0,5,0,1000],[0,9,0,1000],[0,5,0,1000],[1000000,5,0,1000]]";
        let answered = answered(&request(&format!(
            r#"{{"program":"AIFO","scheme":"aifo","parameters":[3,3,0,1,1],"rate_bps":8000000,"packets":{packets}}}"#
        )))
        .unwrap();
        assert_eq!(answered["program"], answered["model"]);
        assert_eq!(answered["program"], json!([0, 0, 0, 0, "full", 0]));
        let in_queue: Vec<&Value> = answered["lengths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|all| &all[0])
            .collect();
        assert_eq!(in_queue, [0, 0, 1, 2, 3, 2]);
    }

    #[test]
    fn steps_show_the_window_before_a_packet_and_the_line_that_decides() {
        let text = r#"{"program":"AIFO","scheme":"aifo","parameters":[3,3,0,1,1],"rate_bps":8000000,"steps":true,
            "packets":[[0,5,0,1000],[0,5,0,1000],[0,9,0,1000]]}"#;
        let steps = &answered(&request(text)).unwrap()["steps"];
        assert_eq!(steps[0]["registers"], json!({}));
        // A cell of the window holds the complement of a rank, so that an empty one is larger than all.
        let window = &steps[2]["registers"]["AifoIngress.window.cell_0.entry"];
        assert_eq!(*window, json!({"1": !5_u32}));
        let decides = |event: &&Value| event["source"]["text"] == "needed <= free";
        let way = steps[2]["way"].as_array().unwrap();
        let condition = way.iter().find(decides).unwrap();
        assert_eq!(
            (&condition["event"], &condition["holds"]),
            (&json!("condition"), &json!(true))
        );
        assert!(
            condition["source"]["file"]
                .as_str()
                .unwrap()
                .ends_with("aifo_admission.p4")
        );
        assert_eq!(way.last().unwrap()["event"], "enqueued");
    }

    #[test]
    fn a_request_that_makes_no_sense_is_a_sentence() {
        let wrong = |from: &str, to: &str| {
            let text = r#"{"program":"AIFO","scheme":"aifo","parameters":[3,3,0,1,1],"rate_bps":8000000,"packets":[[0,5,0,1000]]}"#;
            answered(&request(&text.replace(from, to))).unwrap_err()
        };
        assert!(wrong("[[0,5,0,1000]]", "[[0,5,0,10]]").contains("54 to 1514"));
        assert!(wrong("\"aifo\"", "\"aifos\"").contains("no scheme aifos"));
        assert!(wrong("AIFO\"", "none/aifo.p4\"").contains("cannot read"));
        assert!(wrong("\"aifo\",\"parameters\":[3,3,0,1,1]", "\"rifo\",\"parameters\":[3,0,1]").contains("has no"));
    }
}
