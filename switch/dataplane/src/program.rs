//! Loads a whole program: the order in which its parts are read, and what simple_switch needs to find in it.

use std::collections::HashMap;

use serde_json::Value;

use crate::actions;
use crate::calculation::Calculations;
use crate::code::{Address, Op, Word};
use crate::control::LoadError;
use crate::expr::Scope;
use crate::flow::{self, DirectMeter};
use crate::json::{Json, Load};
use crate::layout::{Layout, Place, mask, register};
use crate::lower::Builder;
use crate::machine::Code;
use crate::parser::{self, Errors, Parser, ValueSet};
use crate::primitive::{self, Objects};
use crate::state::{CounterArray, MeterArray, MeterKind, Random, RegisterArray, Registers, State};
use crate::wire;

/// Words that all counters, meters and registers may take together: 512 MiB.
const MAX_CELLS: usize = 1 << 26;
/// Cells of meters, which are larger.
const MAX_METERS: usize = 1 << 22;
const MAX_REGISTER_BITS: u64 = 1 << 12;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
const DEFAULT_SEED: u64 = 1;

/// The immutable half of a pipeline.
#[derive(Debug)]
pub(crate) struct Program {
    pub code: Code,
    /// Tells packets of other programs apart.
    pub identity: u64,
    pub parser: Parser,
    pub ingress: Address,
    pub egress: Address,
    pub verify: Vec<Checksum>,
    pub update: Vec<Checksum>,
    /// Code that runs before the deparser.
    pub deparser_code: Option<Address>,
    /// Headers in the order the deparser emits them.
    pub emit: Vec<u32>,
    pub digests: Vec<Digest>,
    /// Fields preserved by clone, resubmit and recirculate, by the number of the field list.
    pub field_lists: HashMap<u64, Vec<u32>>,
    pub metadata: Intrinsic,
    /// The PHV of a packet that nothing has happened to.
    pub blank: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Checksum {
    pub calculation: u32,
    pub field: u32,
    /// Code that leaves a condition in a word.
    pub condition: Option<(Address, Word)>,
}

#[derive(Debug)]
pub(crate) struct Digest {
    pub name: String,
    pub id: u64,
    pub fields: Vec<Place>,
}

/// A field that simple_switch itself reads or writes: its word, and the bits it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataWord {
    pub word: Word,
    pub keep: u64,
}

#[derive(Debug)]
pub(crate) struct Intrinsic {
    pub ingress_port: MetadataWord,
    pub packet_length: MetadataWord,
    pub instance_type: MetadataWord,
    pub egress_spec: MetadataWord,
    pub egress_port: MetadataWord,
    pub parser_error: Option<MetadataWord>,
    pub checksum_error: Option<MetadataWord>,
    pub ingress_timestamp: Option<MetadataWord>,
    pub egress_timestamp: Option<MetadataWord>,
    pub mcast_grp: Option<MetadataWord>,
    pub egress_rid: Option<MetadataWord>,
    pub priority: Option<MetadataWord>,
    pub enq_timestamp: Option<MetadataWord>,
    pub enq_qdepth: Option<MetadataWord>,
    pub deq_timedelta: Option<MetadataWord>,
    pub deq_qdepth: Option<MetadataWord>,
    pub qid: Option<MetadataWord>,
}

/// Everything that loading produces.
pub(crate) struct Loaded {
    pub program: Program,
    pub state: State,
    pub sets: Vec<ValueSet>,
    pub registers: HashMap<String, u32>,
    pub counters: HashMap<String, u32>,
    pub meters: HashMap<String, u32>,
}

/// Arrays of cells, with their names.
struct Arrays {
    registers: Vec<RegisterArray>,
    counters: Vec<CounterArray>,
    meters: Vec<MeterArray>,
    register_names: HashMap<String, u32>,
    counter_names: HashMap<String, u32>,
    meter_names: HashMap<String, u32>,
    direct_meters: HashMap<String, DirectMeter>,
}

pub(crate) fn load(bytes: &[u8]) -> Result<Loaded, LoadError> {
    // BMv2 skips a byte order mark as well.
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let value: Value = serde_json::from_slice(text).map_err(|error| LoadError::Syntax(error.to_string()))?;
    let root = Json::root(&value);
    if !value.is_object() {
        return root.error("should be a JSON object, as p4c-bm2-ss writes it");
    }
    check_version(&root)?;
    let layout = Layout::load(&root)?;
    let metadata = Intrinsic::load(&root, &layout)?;
    let mut calculations = Calculations::load(&root, &layout)?;
    let mut sets = ValueSet::load_all(&root)?;
    let mut arrays = Arrays::load(&root, &layout)?;
    let param_base = layout.words;
    let base = param_base + actions::parameter_words(&root)?;
    let widths: Vec<u32> = arrays.registers.iter().map(|array| array.width).collect();
    let mut builder = Builder::new(&layout, base as u32, &widths);
    let objects = Objects {
        registers: &arrays.register_names,
        counters: &arrays.counter_names,
        meters: &arrays.meter_names,
        calculations: &calculations,
    };
    let parser_json = member(&root, "parsers", "parser")?;
    let parser = parser::Loader {
        builder: &mut builder,
        objects: &objects,
        sets: &mut sets,
    }
    .load(&parser_json, Errors::load(&root)?)?;
    let (actions, action_ids) = actions::load(&root, &mut builder, &objects, param_base as u32)?;
    let deparser = member(&root, "deparsers", "deparser")?;
    let primitives = deparser.list("primitives")?;
    let deparser_code = match primitives.is_empty() {
        true => None,
        false => Some(primitive::lower_all(&mut builder, &objects, &[], &primitives)?),
    };
    let emit = emitted(&deparser, &layout)?;
    let (verify, update) = checksums(&root, &mut builder, &objects)?;
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
    let ingress = flows.pipeline(&member(&root, "pipelines", "ingress")?)?;
    let egress = flows.pipeline(&member(&root, "pipelines", "egress")?)?;
    let (tables, states, profiles) = (flows.tables, flows.states, flows.profiles);
    let blank = blank(&layout);
    let mut words = blank.clone();
    words.resize(base, 0);
    words.extend(&builder.pool);
    let (ops, lists) = (builder.code, builder.lists);
    let state = State {
        words,
        frame: Vec::new(),
        payload: 0,
        now: 0,
        tables: states,
        profiles,
        registers: Registers(arrays.registers),
        counters: arrays.counters,
        meters: arrays.meters,
        algorithms: calculations.algorithms,
        random: Random(DEFAULT_SEED),
        key: Vec::new(),
        scratch: Vec::new(),
        log: Vec::new(),
        failed_assertions: 0,
    };
    let digests = digests(&root, &layout)?;
    let field_lists = field_lists(&root, &layout)?;
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
    let identity = fingerprint(bytes);
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
    Ok(Loaded {
        program,
        state,
        sets,
        registers: arrays.register_names,
        counters: arrays.counter_names,
        meters: arrays.meter_names,
    })
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
                let scope = Scope {
                    layout: builder.layout,
                    registers: objects.registers,
                    params: &[],
                };
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

impl Arrays {
    fn load(root: &Json, layout: &Layout) -> Load<Arrays> {
        let mut arrays = Arrays {
            registers: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            register_names: HashMap::new(),
            counter_names: HashMap::new(),
            meter_names: HashMap::new(),
            direct_meters: HashMap::new(),
        };
        let mut room = MAX_CELLS;
        for json in root.list("register_arrays")? {
            let name = json.get("name")?.str()?.to_string();
            let width = json.get("bitwidth")?.count(MAX_REGISTER_BITS)? as u32;
            let size = json.get("size")?.count(MAX_CELLS as u64)?;
            take(&mut room, size * crate::layout::words(width), &json)?;
            arrays
                .register_names
                .insert(name.clone(), arrays.registers.len() as u32);
            arrays.registers.push(RegisterArray::new(name, width, size));
        }
        for json in root.list("counter_arrays")? {
            if json.flag("is_direct")? {
                continue;
            }
            let name = json.get("name")?.str()?.to_string();
            let size = json.get("size")?.count(MAX_CELLS as u64)?;
            take(&mut room, 2 * size, &json)?;
            arrays.counter_names.insert(name.clone(), arrays.counters.len() as u32);
            arrays.counters.push(CounterArray::new(name, size));
        }
        let mut room = MAX_METERS;
        for json in root.list("meter_arrays")? {
            let name = json.get("name")?.str()?.to_string();
            let kind = match json.get("type")?.str()? {
                "packets" => MeterKind::Packets,
                "bytes" => MeterKind::Bytes,
                other => return json.error(format!("meter type '{other}' is not supported")),
            };
            if let Some(rates) = json.opt("rate_count")
                && rates.int()? != 2
            {
                return rates.error("only meters of 2 rates are supported");
            }
            if json.flag("is_direct")? {
                let (target, keep) = flow::meter_target(layout, &json.get("result_target")?)?;
                arrays.direct_meters.insert(name, DirectMeter { kind, target, keep });
                continue;
            }
            let size = json.get("size")?.count(MAX_METERS as u64)?;
            take(&mut room, size, &json)?;
            arrays.meter_names.insert(name.clone(), arrays.meters.len() as u32);
            arrays.meters.push(MeterArray::new(name, kind, size));
        }
        Ok(arrays)
    }
}

fn take(room: &mut usize, cells: usize, json: &Json) -> Load<()> {
    match room.checked_sub(cells) {
        Some(rest) => {
            *room = rest;
            Ok(())
        }
        None => json.error("counters, meters and registers take too much memory"),
    }
}
