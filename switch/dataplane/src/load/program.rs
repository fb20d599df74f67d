//! Loads a whole program: its parts in their order, and the fields that simple_switch needs.

use std::collections::HashMap;

use serde_json::Value;

use super::arrays::Arrays;
use super::builder::Builder;
use super::calculation::Calculations;
use super::expr::Scope;
use super::json::{Json, Load};
use super::primitive::{self, Objects};
use super::{actions, flow, parser};
use crate::bits::mask;
use crate::errors::LoadError;
use crate::run::code::Code;
use crate::run::layout::{Layout, Place, register};
use crate::run::ops::Op;
use crate::run::parser::{Errors, ValueSet};
use crate::run::pipeline::{Names, Pipeline};
use crate::run::program::{Checksum, Digest, Intrinsic, MetadataWord, Program};
use crate::run::state::{Random, Registers, State};
use crate::run::wire;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const DEFAULT_SEED: u64 = 1;

impl Pipeline {
    /// Loads a program from BMv2 JSON, as p4c's `p4c-bm2-ss` and this project's compiler write it.
    ///
    /// Everything is checked here; no packet can fail on a loaded program.
    pub fn from_json(json: &[u8]) -> Result<Pipeline, LoadError> {
        // BMv2 skips a byte order mark as well.
        let text = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
        let value: Value = serde_json::from_slice(text).map_err(|error| LoadError::Syntax(error.to_string()))?;
        let root = Json::root(&value);
        if !value.is_object() {
            return root.error("should be a JSON object, as p4c-bm2-ss writes it");
        }
        check_version(&root)?;
        load(&root, fingerprint(json))
    }
}

fn load(root: &Json, identity: u64) -> Load<Pipeline> {
    let layout = Layout::load(root)?;
    let metadata = Intrinsic::load(root, &layout)?;
    let mut calculations = Calculations::load(root, &layout)?;
    let mut sets = ValueSet::load_all(root)?;
    let mut arrays = Arrays::load(root, &layout)?;
    let param_base = layout.words;
    let base = param_base + actions::parameter_words(root)?;
    let widths: Vec<u32> = arrays.registers.iter().map(|array| array.width).collect();
    let mut builder = Builder::new(&layout, base as u32, &widths);
    let objects = Objects {
        registers: &arrays.register_names,
        counters: &arrays.counter_names,
        meters: &arrays.meter_names,
        calculations: &calculations,
    };
    let parser_json = member(root, "parsers", "parser")?;
    let parser = parser::Loader {
        builder: &mut builder,
        objects: &objects,
        sets: &mut sets,
    }
    .load(&parser_json, Errors::load(root)?)?;
    let (actions, action_ids) = actions::load(root, &mut builder, &objects, param_base as u32)?;
    let deparser = member(root, "deparsers", "deparser")?;
    let primitives = deparser.list("primitives")?;
    let deparser_code = match primitives.is_empty() {
        true => None,
        false => Some(primitive::lower_all(&mut builder, &objects, &[], &primitives)?),
    };
    let emit = emitted(&deparser, &layout)?;
    let (verify, update) = checksums(root, &mut builder, &objects)?;
    let mut flows = flow::Loader {
        builder: &mut builder,
        registers: &arrays.register_names,
        calculations: &mut calculations,
        actions: &actions,
        action_ids: &action_ids,
        meters: std::mem::take(&mut arrays.direct_meters),
        nodes: Vec::new(),
        following: Vec::new(),
        tables: Vec::new(),
        states: Vec::new(),
        profiles: Vec::new(),
    };
    let ingress = flows.pipeline(&member(root, "pipelines", "ingress")?)?;
    let egress = flows.pipeline(&member(root, "pipelines", "egress")?)?;
    let (tables, states, profiles) = (flows.tables, flows.states, flows.profiles);
    let blank = blank(&layout);
    let mut words = blank.clone();
    words.resize(base, 0);
    words.extend(&builder.pool);
    let (ops, lists) = (builder.code, builder.lists);
    let state = State {
        words,
        tables: states,
        profiles,
        registers: Registers(arrays.registers),
        counters: arrays.counters,
        meters: arrays.meters,
        algorithms: calculations.algorithms,
        random: Random(DEFAULT_SEED),
        ..State::default()
    };
    let digests = digests(root, &layout)?;
    let field_lists = field_lists(root, &layout)?;
    let plans = wire::plans(&layout);
    let calculations = calculations.list;
    let code = Code {
        layout,
        plans,
        ops,
        lists,
        calculations,
        tables,
        actions,
        param_base,
    };
    let program = Program {
        code,
        identity,
        parser,
        ingress,
        egress,
        verify,
        update,
        deparser_code,
        emit,
        digests,
        field_lists,
        metadata,
        blank,
    };
    let names = Names {
        registers: arrays.register_names,
        counters: arrays.counter_names,
        meters: arrays.meter_names,
    };
    Ok(Pipeline::new(program, state, sets, names))
}

fn check_version(root: &Json) -> Load<()> {
    let Some(version) = root.opt("__meta__").and_then(|meta| meta.opt("version")) else {
        return Ok(());
    };
    match version.at(0)?.int()? {
        2 => Ok(()),
        major => version.error(format!("format version {major} is not supported; version 2 is")),
    }
}

/// The element of a root list with this name.
fn member<'a>(root: &Json<'a>, key: &str, name: &str) -> Load<Json<'a>> {
    let list = root.get(key)?;
    for json in list.items()? {
        if json.get("name")?.value().as_str() == Some(name) {
            return Ok(json);
        }
    }
    list.error(format!("no '{name}', which simple_switch needs"))
}

fn fingerprint(bytes: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn blank(layout: &Layout) -> Vec<u64> {
    let mut blank = vec![0; layout.words];
    blank[register::TRUNCATE as usize] = u64::MAX;
    for header in layout.headers.iter().filter(|header| header.metadata) {
        blank[header.valid as usize] = 1;
    }
    blank
}

fn emitted(json: &Json, layout: &Layout) -> Load<Vec<u32>> {
    let mut headers = Vec::new();
    for name in json.list("order")? {
        let header = layout.header(&name)?;
        let fixed_bits = layout.headers[header as usize].fixed_bits;
        if !fixed_bits.is_multiple_of(8) {
            return name.error(format!("{fixed_bits} bits are not a whole number of bytes"));
        }
        headers.push(header);
    }
    Ok(headers)
}

type Checksums = (Vec<Checksum>, Vec<Checksum>);

fn checksums(root: &Json, builder: &mut Builder, objects: &Objects) -> Load<Checksums> {
    let (mut verify, mut update) = (Vec::new(), Vec::new());
    for json in root.list("checksums")? {
        if json.get("type")?.str()? != "generic" {
            return json
                .get("type")?
                .error("only checksums of type 'generic' are supported");
        }
        let target = json.get("target")?;
        let field = match builder.layout.field(&target)? {
            Place::Field(field) if builder.layout.fields[field as usize].length.is_none() => field,
            _ => return target.error("should be a field of fixed width"),
        };
        let calculation = objects.calculations.find(&json.get("calculation")?)?;
        let condition = match json.opt("if_cond") {
            Some(condition) => {
                let scope = Scope::new(builder.layout, objects.registers, &[]);
                let truth = scope.bool(&condition)?;
                let code = builder.address();
                let holds = builder.truth(&truth);
                builder.end_statement();
                builder.push(Op::End);
                Some((code, holds))
            }
            None => None,
        };
        if json.flag_or("verify", true)? {
            verify.push(Checksum {
                calculation,
                field,
                condition,
            });
        }
        if json.flag_or("update", true)? {
            update.push(Checksum {
                calculation,
                field,
                condition,
            });
        }
    }
    Ok((verify, update))
}

fn digests(root: &Json, layout: &Layout) -> Load<Vec<Digest>> {
    let mut digests = Vec::new();
    for json in root.list("learn_lists")? {
        let mut fields = Vec::new();
        for element in json.list("elements")? {
            if element.get("type")?.str()? != "field" {
                return element.error("only fields are supported in a digest");
            }
            fields.push(layout.field(&element.get("value")?)?);
        }
        let id = json.get("id")?.count(0xffff)? as u64;
        digests.push(Digest {
            name: json.get("name")?.str()?.to_string(),
            id,
            fields,
        });
    }
    Ok(digests)
}

fn field_lists(root: &Json, layout: &Layout) -> Load<HashMap<u64, Vec<u32>>> {
    let mut lists = HashMap::new();
    for json in root.list("field_lists")? {
        let mut fields = Vec::new();
        for element in json.list("elements")? {
            // Constants matter to hashes only, and validity cannot be preserved.
            if element.get("type")?.str()? == "field"
                && let Place::Field(field) = layout.field(&element.get("value")?)?
            {
                fields.push(field);
            }
        }
        lists.insert(json.get("id")?.count(u64::from(u32::MAX))? as u64, fields);
    }
    Ok(lists)
}

impl Intrinsic {
    fn load(root: &Json, layout: &Layout) -> Load<Intrinsic> {
        let find = |name: &str| {
            let field = &layout.fields[layout.find(name)? as usize];
            (field.width <= 64).then(|| MetadataWord {
                word: field.slot,
                keep: mask(field.width),
            })
        };
        let need = |name: &str| match find(name) {
            Some(field) => Ok(field),
            None => root.error(format!(
                "no field '{name}' of at most 64 bits, which simple_switch needs"
            )),
        };
        Ok(Intrinsic {
            ingress_port: need("standard_metadata.ingress_port")?,
            packet_length: need("standard_metadata.packet_length")?,
            instance_type: need("standard_metadata.instance_type")?,
            egress_spec: need("standard_metadata.egress_spec")?,
            egress_port: need("standard_metadata.egress_port")?,
            parser_error: find("standard_metadata.parser_error"),
            checksum_error: find("standard_metadata.checksum_error"),
            ingress_timestamp: find("intrinsic_metadata.ingress_global_timestamp"),
            egress_timestamp: find("intrinsic_metadata.egress_global_timestamp"),
            mcast_grp: find("intrinsic_metadata.mcast_grp"),
            egress_rid: find("intrinsic_metadata.egress_rid"),
            priority: find("intrinsic_metadata.priority"),
            enq_timestamp: find("queueing_metadata.enq_timestamp"),
            enq_qdepth: find("queueing_metadata.enq_qdepth"),
            deq_timedelta: find("queueing_metadata.deq_timedelta"),
            deq_qdepth: find("queueing_metadata.deq_qdepth"),
            qid: find("queueing_metadata.qid"),
        })
    }
}
