//! Runs a script against a program, in stepped time.

use std::collections::{BTreeMap, HashMap, VecDeque};

use p4sched_dataplane::{Count, MeterConfig, Nanos, Port, TableId};
use p4sched_device::bmv2::{KeyParam, Mirror, RowAction, Runtime};
use p4sched_device::{Device, Program};
use p4sched_engine::{Engine, Frame, FrameSink};

use crate::script::{Call, EntryAction, Line, Pattern, Statement};
use crate::{names, value};

/// Time in ns between two statements. All effects of a packet happen within it.
const STEP: Nanos = 1_000_000;
/// BMv2's priority for priority 0 in a script.
const LOWEST_PRIORITY: i32 = 1 << 30;
const START: Nanos = 1_000_000;

/// The result of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Differences from the script, one paragraph for each. Empty if the script passed.
    pub failures: Vec<String>,
    /// The output of the script's commands.
    pub output: Vec<String>,
}

/// The frames that left, for each port.
#[derive(Default)]
struct Wires {
    left: BTreeMap<Port, VecDeque<Vec<u8>>>,
}

impl FrameSink for Wires {
    fn transmit(&mut self, port: Port, frame: &mut Frame, _due: Nanos) {
        self.left.entry(port).or_default().push_back(frame.to_vec());
    }
}

/// The frames that a port must send: each has the number of its line and a pattern.
#[derive(Default)]
struct Expected {
    frames: Vec<(usize, Pattern)>,
    /// Whether any number of any frames may leave.
    any: bool,
}

/// Runs a script; the program starts in its initial state.
///
/// # Errors
/// If the program does not load.
pub fn run(json: &[u8], script: &[Line]) -> Result<Outcome, String> {
    let program = Program::without_p4info(json.to_vec()).map_err(|fault| fault.message)?;
    let mut device = Device::new(0, Engine::new(), Box::new(|_| true));
    device.commit(program).map_err(|fault| fault.message)?;
    let mut bench = Bench {
        device,
        wires: Wires::default(),
        now: START,
        expected: BTreeMap::new(),
        handles: HashMap::new(),
        members: HashMap::new(),
        groups: HashMap::new(),
        outcome: Outcome::default(),
    };
    for line in script {
        if let Err(problem) = bench.step(line) {
            bench.outcome.failures.push(format!("line {}: {problem}", line.number));
        }
    }
    bench.compare();
    Ok(bench.outcome)
}

/// Converts a priority: in a script the largest wins, in BMv2 the smallest.
fn bmv2_priority(priority: Option<i32>) -> i32 {
    LOWEST_PRIORITY - priority.unwrap_or(0).clamp(0, LOWEST_PRIORITY)
}

struct Bench {
    device: Device,
    wires: Wires,
    now: Nanos,
    expected: BTreeMap<Port, Expected>,
    /// The table and handle of each entry with a name.
    handles: HashMap<String, (String, u32)>,
    /// Handles of members and groups, by profile and by their number in the script.
    members: HashMap<(String, u32), u32>,
    groups: HashMap<(String, u32), u32>,
    outcome: Outcome,
}

impl Bench {
    fn runtime(&mut self) -> Result<Runtime<'_>, String> {
        self.device
            .runtime(self.now)
            .ok_or_else(|| "no program is loaded".to_owned())
    }

    /// A table and its full name.
    fn table(&self, name: &str) -> Result<(String, TableId), String> {
        let pipeline = self.device.engine().pipeline().ok_or("no program is loaded")?;
        let table = names::table(pipeline, name)?;
        Ok((pipeline.table_name(table).to_owned(), table))
    }

    /// The action of an entry.
    fn row(&self, table: TableId, does: &EntryAction) -> Result<RowAction, String> {
        let (handles, number, kind) = match does {
            EntryAction::Action(call) => {
                return self
                    .action(table, call)
                    .map(|(name, data)| RowAction::Action(name, data));
            }
            EntryAction::Member(number) => (&self.members, *number, "member"),
            EntryAction::Group(number) => (&self.groups, *number, "group"),
        };
        let pipeline = self.device.engine().pipeline().ok_or("no program is loaded")?;
        let profile = pipeline.table_profile(table).ok_or("the table has no action profile")?;
        let place = (pipeline.profile_name(profile).to_owned(), number);
        let handle = *handles
            .get(&place)
            .ok_or_else(|| format!("{}: no {kind} {number}", place.0))?;
        Ok(match does {
            EntryAction::Member(_) => RowAction::Member(handle),
            _ => RowAction::Group(handle),
        })
    }

    /// The full name of an action, and its parameters at full width.
    fn action(&self, table: TableId, call: &Call) -> Result<(String, Vec<Vec<u8>>), String> {
        let pipeline = self.device.engine().pipeline().ok_or("no program is loaded")?;
        let action = names::action(pipeline, table, &call.name)?;
        let params = pipeline.action_params(action);
        if call.arguments.len() > params.len() {
            return Err(format!("action '{}' has {} parameters", call.name, params.len()));
        }
        let mut words: Vec<Option<&str>> = vec![None; params.len()];
        for (place, (name, word)) in call.arguments.iter().enumerate() {
            let place = match name {
                None => place,
                Some(name) => params
                    .iter()
                    .position(|(known, _)| known == name)
                    .ok_or_else(|| format!("action '{}' has no parameter '{name}'", call.name))?,
            };
            words[place] = Some(word);
        }
        let data = params.iter().zip(words).map(|((name, width), word)| {
            let word = word.ok_or_else(|| format!("action '{}': parameter '{name}' is missing", call.name))?;
            value::plain(word, *width)
        });
        let data = data.collect::<Result<Vec<_>, _>>()?;
        Ok((pipeline.action_name(action).to_owned(), data))
    }

    fn key(&self, table: TableId, given: &[(String, String)]) -> Result<Vec<KeyParam>, String> {
        let pipeline = self.device.engine().pipeline().ok_or("no program is loaded")?;
        let fields = pipeline.table_key(table);
        let mut words: Vec<Option<&str>> = vec![None; fields.len()];
        for (name, word) in given {
            words[names::field(fields, name)?] = Some(word);
        }
        let params = fields.iter().zip(words);
        params
            .map(|(field, word)| value::key(field, word).map_err(|problem| format!("'{}': {problem}", field.name)))
            .collect()
    }

    fn step(&mut self, line: &Line) -> Result<(), String> {
        match &line.statement {
            Statement::Add {
                table,
                priority,
                key,
                action,
                handle,
            } => {
                let (name, table) = self.table(table)?;
                let (key, action) = (self.key(table, key)?, self.row(table, action)?);
                let added = self.runtime()?.add(&name, &key, &action, bmv2_priority(*priority));
                let added = added.map_err(|refusal| refusal.reason)?;
                if let Some(handle) = handle {
                    self.handles.insert(handle.clone(), (name, added));
                }
                Ok(())
            }
            Statement::SetDefault { table, action } => {
                let (name, table) = self.table(table)?;
                let (action, data) = self.action(table, action)?;
                self.runtime()?
                    .set_default(&name, &RowAction::Action(action, data))
                    .map_err(|refusal| refusal.reason)
            }
            Statement::Member {
                profile,
                member,
                action,
            } => {
                let (profile, table) = self.profile(profile)?;
                let (action, data) = self.action(table, action)?;
                let added = self.runtime()?.add_member(&profile, &action, &data);
                let handle = added.map_err(|refusal| refusal.reason)?;
                self.members.insert((profile, *member), handle);
                Ok(())
            }
            Statement::Group {
                profile,
                group,
                members,
            } => self.add_group(profile, *group, members),
            Statement::Remove(None) => self.remove_all(),
            Statement::Remove(Some(handle)) => {
                let (table, entry) = self
                    .handles
                    .remove(handle)
                    .ok_or_else(|| format!("no entry '{handle}'"))?;
                self.runtime()?.delete(&table, entry).map_err(|refusal| refusal.reason)
            }
            Statement::Packet { port, frame } => {
                self.device.receive(self.now, *port, frame, &mut self.wires);
                self.wait();
                Ok(())
            }
            Statement::Expect { port, pattern } => {
                let expected = self.expected.entry(*port).or_default();
                match pattern {
                    Some(pattern) => expected.frames.push((line.number, pattern.clone())),
                    None => expected.any = true,
                }
                Ok(())
            }
            Statement::Wait => {
                self.wait();
                Ok(())
            }
            Statement::NoPacket => Ok(()),
            Statement::CheckCounter {
                counter,
                place,
                bytes,
                condition,
                value,
            } => {
                let count = self.count(counter, place)?;
                let found = if *bytes { count.bytes } else { count.packets };
                let holds = match condition.as_str() {
                    "==" => found == *value,
                    "!=" => found != *value,
                    "<" => found < *value,
                    "<=" => found <= *value,
                    ">" => found > *value,
                    ">=" => found >= *value,
                    other => return Err(format!("'{other}' is not a condition")),
                };
                match holds {
                    true => Ok(()),
                    false => Err(format!("{counter}({place}) is {found}, not {condition} {value}")),
                }
            }
            Statement::Command(words) => self.command(words),
        }
    }

    fn profile(&self, name: &str) -> Result<(String, TableId), String> {
        names::profile(self.device.engine().pipeline().ok_or("no program is loaded")?, name)
    }

    fn add_group(&mut self, profile: &str, group: u32, members: &[u32]) -> Result<(), String> {
        let (profile, _) = self.profile(profile)?;
        let created = self.runtime()?.create_group(&profile);
        let handle = created.map_err(|refusal| refusal.reason)?;
        for member in members {
            let place = (profile.clone(), *member);
            let member = *self
                .members
                .get(&place)
                .ok_or_else(|| format!("{profile}: no member {member}"))?;
            let added = self.runtime()?.add_to_group(&profile, member, handle);
            added.map_err(|refusal| refusal.reason)?;
        }
        self.groups.insert((profile, group), handle);
        Ok(())
    }

    fn wait(&mut self) {
        self.now += STEP;
        self.device.advance(self.now, &mut self.wires);
    }

    fn remove_all(&mut self) -> Result<(), String> {
        let pipeline = self.device.engine().pipeline().ok_or("no program is loaded")?;
        let tables = pipeline.table_ids().filter(|&table| !pipeline.table_is_const(table));
        let names: Vec<String> = tables.map(|table| pipeline.table_name(table).to_owned()).collect();
        for name in names {
            self.runtime()?.clear(&name, false).map_err(|refusal| refusal.reason)?;
        }
        Ok(())
    }

    /// A cell of a counter, or the direct counter of an entry with a name.
    fn count(&mut self, counter: &str, place: &str) -> Result<Count, String> {
        if let Some((table, entry)) = self.handles.get(place).cloned() {
            return self
                .runtime()?
                .direct_counter(&table, entry)
                .map_err(|refusal| refusal.reason);
        }
        let index = place
            .parse()
            .map_err(|_| format!("'{place}' is not an index, and no entry"))?;
        self.runtime()?
            .counter_read(counter, index)
            .map_err(|refusal| refusal.reason)
    }

    fn command(&mut self, words: &[String]) -> Result<(), String> {
        let name = words.get(1).map_or("", String::as_str);
        let number = |place: usize| -> Result<i32, String> {
            let word = words.get(place).ok_or_else(|| format!("{}: too few words", words[0]))?;
            word.parse().map_err(|_| format!("'{word}' is not a number"))
        };
        let ports = || -> Result<Vec<Port>, String> {
            let words = words.iter().skip(2);
            words
                .map(|word| word.parse().map_err(|_| format!("'{word}' is not a port number")))
                .collect()
        };
        let place = |place: usize| number(place).map(|number| u16::try_from(number).ok());
        let mut runtime = self.device.runtime(self.now).ok_or("no program is loaded")?;
        let done = match words[0].as_str() {
            "mirroring_add" => {
                let mirror = Mirror {
                    port: place(2)?,
                    group: None,
                };
                runtime.set_mirror(number(1)?, mirror).map(|()| None)
            }
            "mirroring_add_mc" => {
                let mirror = Mirror {
                    port: None,
                    group: place(2)?,
                };
                runtime.set_mirror(number(1)?, mirror).map(|()| None)
            }
            "mirroring_delete" => runtime.delete_mirror(number(1)?).map(|()| None),
            "mirroring_get" => runtime.mirror(number(1)?).map(|mirror| Some(format!("{mirror:?}"))),
            "mc_mgrp_create" => runtime.create_multicast_group(number(1)?).map(|()| None),
            "mc_node_create" => runtime
                .create_node(number(1)?, ports()?, Vec::new())
                .map(|handle| Some(format!("node {handle}"))),
            "mc_node_update" => runtime.update_node(number(1)?, ports()?, Vec::new()).map(|()| None),
            "mc_node_associate" => runtime.associate_node(number(1)?, number(2)?).map(|()| None),
            "counter_read" => runtime
                .counter_read(name, number(2)?)
                .map(|count| Some(format!("{count:?}"))),
            "counter_write" => {
                let count = |place: usize| number(place).map(|number| u64::try_from(number).unwrap_or(0));
                let (packets, bytes) = (count(3)?, count(4)?);
                runtime
                    .counter_write(name, number(2)?, Count { packets, bytes })
                    .map(|()| None)
            }
            "counter_reset" => runtime.counter_reset(name).map(|()| None),
            "register_read" => runtime
                .register_read(name, number(2)?)
                .map(|value| Some(value.to_string())),
            "register_write" => {
                let index = number(2)?;
                let value = i64::from(number(3)?);
                runtime
                    .register_write(name, index, index.saturating_add(1), value)
                    .map(|()| None)
            }
            "register_reset" => runtime.register_reset(name).map(|()| None),
            "meter_get_rates" => runtime
                .meter_read(name, number(2)?)
                .map(|config| Some(format!("{config:?}"))),
            "meter_set_rates" => runtime
                .meter_write(name, Some(number(2)?), rates(&words[3..])?)
                .map(|()| None),
            "meter_array_set_rates" => runtime.meter_write(name, None, rates(&words[2..])?).map(|()| None),
            other => return Err(format!("'{other}' is not a command")),
        };
        let said = done.map_err(|refusal| refusal.reason)?;
        self.outcome
            .output
            .extend(said.map(|said| format!("{} = {said}", words.join(" "))));
        Ok(())
    }

    /// Compares the frames that left with the expected ones, for each port and frame.
    fn compare(&mut self) {
        let mut left = std::mem::take(&mut self.wires.left);
        for (port, expected) in &self.expected {
            let mut frames = left.remove(port).unwrap_or_default().into_iter();
            for (line, pattern) in &expected.frames {
                match frames.next() {
                    Some(frame) if matches(pattern, &frame) => {}
                    Some(frame) => self.outcome.failures.push(difference(*line, *port, pattern, &frame)),
                    None => self.outcome.failures.push(format!(
                        "line {line}: port {port} sent no such frame:\n  expected {}",
                        shown(pattern)
                    )),
                }
            }
            let more = frames.filter(|_| !expected.any);
            self.outcome
                .failures
                .extend(more.map(|frame| unexpected(*port, &frame)));
        }
        for (port, frames) in left {
            let frames = frames.iter().map(|frame| unexpected(port, frame));
            self.outcome.failures.extend(frames);
        }
    }
}

/// Two rates in units per microsecond, each with its burst: `0.5:100 1:200`.
fn rates(words: &[String]) -> Result<MeterConfig, String> {
    let rate = |word: &String| -> Option<(u64, u64)> {
        let (rate, burst) = word.split_once(':')?;
        let rate: f64 = rate
            .parse()
            .ok()
            .filter(|rate: &f64| rate.is_finite() && *rate >= 0.0)?;
        Some(((rate * 1e6).round() as u64, burst.parse().ok()?))
    };
    match words.iter().map(rate).collect::<Option<Vec<_>>>().as_deref() {
        Some(&[(cir, cburst), (pir, pburst)]) => Ok(MeterConfig {
            cir,
            cburst,
            pir,
            pburst,
            eburst: 0,
        }),
        _ => Err("two rates, each RATE:BURST".to_owned()),
    }
}

fn nibbles(frame: &[u8]) -> impl Iterator<Item = u8> {
    frame.iter().flat_map(|byte| [byte >> 4, byte & 15])
}

fn matches(pattern: &Pattern, frame: &[u8]) -> bool {
    let length = pattern.nibbles.len();
    let long_enough = if pattern.ends {
        frame.len() * 2 == length
    } else {
        frame.len() * 2 >= length
    };
    long_enough
        && pattern
            .nibbles
            .iter()
            .zip(nibbles(frame))
            .all(|(want, have)| want.is_none_or(|want| want == have))
}

fn digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('?')
}

fn shown(pattern: &Pattern) -> String {
    let digits: String = pattern.nibbles.iter().map(|nibble| nibble.map_or('*', digit)).collect();
    format!("{digits}{}", if pattern.ends { "$" } else { "" })
}

fn hex(frame: &[u8]) -> String {
    nibbles(frame).map(digit).collect()
}

fn unexpected(port: Port, frame: &[u8]) -> String {
    format!(
        "port {port} sent a frame that the script does not expect:\n  got      {}",
        hex(frame)
    )
}

/// Both frames, with a mark under each hexadecimal digit that differs.
fn difference(line: usize, port: Port, pattern: &Pattern, frame: &[u8]) -> String {
    let have: Vec<u8> = nibbles(frame).collect();
    let want = &pattern.nibbles;
    let end = if pattern.ends {
        want.len().max(have.len())
    } else {
        want.len()
    };
    let marks = (0..end).map(|place| match (want.get(place), have.get(place)) {
        (Some(None), Some(_)) => ' ',
        (Some(Some(want)), Some(have)) if want == have => ' ',
        _ => '^',
    });
    let marks: String = marks.collect();
    format!(
        "line {line}: port {port} sent another frame:\n  expected {}\n  got      {}\n           {}",
        shown(pattern),
        hex(frame),
        marks.trim_end()
    )
}
