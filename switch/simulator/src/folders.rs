//! Reads the file that describes schemes besides those of this workspace, and makes them known.
//!
//! The Python side writes it from `scheduler.toml` files. Its form is that of `File`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use p4sched_schedulers::described::{
    Described, Formula, Maker, Operator, Parameter, PortExtras, PortNumber, models_of, register,
};
use p4sched_schedulers::scheme::{P4, TailDrop};
use p4sched_schedulers::{Scheme, Target};
use p4sched_traffic_manager::{CalendarPlace, DISCIPLINES, Discipline, NodeConfig, TreeConfig};
use serde::Deserialize;
use serde_json::Value;

/// The environment variable with the path of the file.
pub const VARIABLE: &str = "P4SCHED_SCHEDULERS";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schedulers: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Program by target.
    programs: BTreeMap<String, PathBuf>,
    /// Folders for included files, by target.
    includes: BTreeMap<String, Vec<PathBuf>>,
    table: String,
    action: String,
    discipline: String,
    rank_field: Option<String>,
    #[serde(default)]
    port: Port,
    /// True if the program drops at a full queue, false if the traffic manager does.
    drops: bool,
    /// The same on a Tofino.
    drops_on_chip: bool,
    /// The model in another language, for the side that makes it.
    #[expect(dead_code, reason = "only the other side reads it")]
    model: Option<Value>,
    /// The scheme of this workspace whose model it has, in place of `model`.
    like: Option<String>,
    parameters: Vec<Listed>,
    queue_sizes: Vec<Value>,
}

/// Settings that only some disciplines read. What is missing has the default of the traffic manager.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Port {
    user_field: Option<String>,
    quantum_bytes: Option<u32>,
    /// Formulas by name.
    numbers: BTreeMap<String, Value>,
    place: Option<String>,
    tree: Vec<Node>,
    leaf_field: Option<String>,
    level_rank_fields: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    parent: u32,
    discipline: String,
    buffer_packets: u32,
    quantum_bytes: u32,
    scale: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    of_port: bool,
    min: u64,
    max: u64,
    default: u64,
    alike: Option<Value>,
    tried: (u64, u64),
}

/// Makes the schemes of a file known. `maker` makes the models of the scheme with this name, if it has some.
///
/// # Errors
/// A sentence, if the file cannot be read or is not valid.
pub fn load(file: &Path, mut maker: impl FnMut(&str) -> Option<Maker>) -> Result<(), String> {
    let failed = |problem: String| format!("{}: {problem}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let content: File = serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    for entry in content.schedulers {
        let name = entry.name.clone();
        if Scheme::named(&name).is_some() {
            return Err(failed(format!("there is another scheme {name}")));
        }
        let maker = match &entry.like {
            Some(like) => Some(models_of(of_workspace(like).map_err(failed)?)),
            None => maker(&name),
        };
        register(described(entry, maker).map_err(|problem| failed(format!("{name}: {problem}")))?);
    }
    Ok(())
}

fn of_workspace(name: &str) -> Result<Scheme, String> {
    let mut all = Scheme::ALL.iter().copied();
    all.find(|scheme| scheme.name() == name)
        .ok_or_else(|| format!("no scheme {name} of the laboratory"))
}

/// A text that lives as long as the process, as the texts of the other schemes do.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn described(entry: Entry, maker: Option<Maker>) -> Result<Described, String> {
    let target = |name: &String| name.parse::<Target>();
    let programs = entry
        .programs
        .iter()
        .map(|(name, file)| Ok((target(name)?, file.clone())));
    let programs: Vec<(Target, PathBuf)> = programs.collect::<Result<_, String>>()?;
    let includes = entry
        .includes
        .iter()
        .map(|(name, folders)| Ok((target(name)?, folders.clone())));
    let includes: Vec<(Target, Vec<PathBuf>)> = includes.collect::<Result<_, String>>()?;
    let file = programs
        .iter()
        .find(|(target, _)| *target == Target::V1model)
        .map(|(_, file)| file);
    let stem = file
        .and_then(|file| file.file_stem())
        .and_then(|name| name.to_str())
        .unwrap_or("fifo");
    let parameters = entry.parameters.into_iter().map(|listed| {
        Ok(Parameter {
            alike: listed.alike.as_ref().map(formula).transpose()?,
            name: listed.name,
            of_port: listed.of_port,
            min: listed.min,
            max: listed.max,
            default: listed.default,
            tried: (listed.tried.0.min(listed.tried.1), listed.tried.1),
        })
    });
    let parameters: Vec<Parameter> = parameters.collect::<Result<_, String>>()?;
    let names: Vec<&'static str> = parameters
        .iter()
        .map(|parameter| kept(parameter.name.clone()))
        .collect();
    let p4 = P4 {
        program: kept(stem.to_owned()),
        table: kept(entry.table),
        action: kept(entry.action),
        parameters: Box::leak(names.into_boxed_slice()),
        discipline: discipline(&entry.discipline)?,
        rank_field: entry.rank_field.map(kept),
        tail_drop: tail_drop(entry.drops),
        ranks: true,
        verdicts: false,
    };
    let targets: Vec<Target> = programs.iter().map(|&(target, _)| target).collect();
    Ok(Described {
        name: kept(entry.name),
        p4,
        chip_tail_drop: tail_drop(entry.drops_on_chip),
        programs,
        targets: Box::leak(targets.into_boxed_slice()),
        includes,
        port: extras(entry.port)?,
        parameters,
        queue_sizes: entry.queue_sizes.iter().map(formula).collect::<Result<_, String>>()?,
        maker,
    })
}

fn tail_drop(by_program: bool) -> TailDrop {
    match by_program {
        true => TailDrop::Program,
        false => TailDrop::Queue,
    }
}

fn discipline(name: &str) -> Result<Discipline, String> {
    let mut all = DISCIPLINES.iter().copied();
    let found = all.find(|&each| p4sched_traffic_manager::name(each) == name);
    found.ok_or_else(|| format!("no discipline {name}"))
}

fn extras(port: Port) -> Result<PortExtras, String> {
    let place = match port.place.as_deref() {
        None => None,
        Some("priority") => Some(CalendarPlace::Priority),
        Some("ahead") => Some(CalendarPlace::Ahead),
        Some("rank") => Some(CalendarPlace::Rank),
        Some(other) => return Err(format!("no place {other} in a calendar")),
    };
    let number = |(name, value): (&String, &Value)| {
        let number = PortNumber::named(name).ok_or_else(|| format!("a port has no number {name}"))?;
        Ok((number, formula(value)?))
    };
    let node = |node: Node| {
        Ok(NodeConfig {
            buffer_packets: node.buffer_packets,
            quantum_bytes: node.quantum_bytes,
            scale: node.scale,
            ..NodeConfig::new(node.parent, discipline(&node.discipline)?)
        })
    };
    Ok(PortExtras {
        numbers: port.numbers.iter().map(number).collect::<Result<_, String>>()?,
        place,
        tree: TreeConfig {
            nodes: port.tree.into_iter().map(node).collect::<Result<_, String>>()?,
        },
        quantum_bytes: port.quantum_bytes,
        user_field: port.user_field,
        leaf_field: port.leaf_field,
        level_rank_fields: port.level_rank_fields,
    })
}

fn formula(value: &Value) -> Result<Formula, String> {
    let wrong = || format!("{value} is no formula");
    match value {
        Value::Number(number) => number.as_i64().map(Formula::Number).ok_or_else(wrong),
        Value::String(name) => Ok(Formula::Name(name.clone())),
        Value::Array(parts) => {
            let [operator, left, right] = parts.as_slice() else {
                return Err(wrong());
            };
            let operator = match operator.as_str() {
                Some("+") => Operator::Add,
                Some("-") => Operator::Subtract,
                Some("*") => Operator::Multiply,
                Some("//") => Operator::Divide,
                Some("min") => Operator::Least,
                Some("max") => Operator::Most,
                _ => return Err(wrong()),
            };
            Ok(Formula::Operation(
                operator,
                Box::new(formula(left)?),
                Box::new(formula(right)?),
            ))
        }
        _ => Err(wrong()),
    }
}
