//! Loads a whole program: the parts that every architecture has. The other parts are in `v1model.rs` and `tna.rs`.

use std::collections::HashMap;

use serde_json::Value;

use super::arrays::Arrays;
use super::builder::Builder;
use super::calculation::Calculations;
use super::json::{Json, Load};
use super::{actions, flow, tna, v1model};
use crate::errors::LoadError;
use crate::run::architecture::Architecture;
use crate::run::code::Code;
use crate::run::core::Names;
use crate::run::intrinsic::Chip;
use crate::run::layout::{Layout, register};
use crate::run::pipeline::{AnyArchitecture, Pipeline};
use crate::run::program::{Digest, Program};
use crate::run::random::Random;
use crate::run::state::{Registers, State};
use crate::run::tna::Tna;
use crate::run::v1model::V1model;
use crate::run::value_set::ValueSet;
use crate::run::wire;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Pipeline {
    /// Loads a program from BMv2 JSON, as written by `p4c-bm2-ss` of p4c or by this project's compiler.
    ///
    /// All checks are made here: no packet can make a loaded program fail.
    pub fn from_json(json: &[u8]) -> Result<Pipeline, LoadError> {
        // BMv2 also skips a byte order mark.
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
    let chip = chip(root)?;
    let layout = Layout::load(root)?;
    let mut calculations = Calculations::load(root, &layout)?;
    let mut sets = ValueSet::load_all(root)?;
    let arrays = Arrays::load(root, &layout)?;
    let param_base = layout.words;
    let base = param_base + actions::parameter_words(root)?;
    let shapes = arrays.shapes(chip.is_some());
    let mut builder = Builder::new(&layout, base as u32, &shapes);
    let objects = arrays.objects(&calculations, chip.is_some());
    let (actions, action_ids) = actions::load(root, &mut builder, &objects, param_base as u32)?;
    let mut flows = flow::Loader {
        builder: &mut builder,
        registers: &arrays.register_names,
        filters: &arrays.filter_names,
        calculations: &mut calculations,
        actions: &actions,
        action_ids: &action_ids,
        meters: &arrays.direct_meters,
        nodes: Vec::new(),
        following: Vec::new(),
        tables: Vec::new(),
        states: Vec::new(),
        profiles: Vec::new(),
    };
    let controls = match chip {
        None => Controls::V1model(v1model::Controls::load(root, &mut flows)?),
        Some(chip) => Controls::Tna(tna::Controls::load(root, chip, &mut flows)?),
    };
    let (tables, states, profiles) = (flows.tables, flows.states, flows.profiles);
    let objects = arrays.objects(&calculations, chip.is_some());
    let mut blank = blank(&layout);
    let architecture = match controls {
        Controls::V1model(controls) => {
            AnyArchitecture::V1model(V1model::load(root, controls, &mut builder, &objects, &mut sets)?)
        }
        Controls::Tna(controls) => AnyArchitecture::Tna(Tna::load(root, controls, &mut builder, &objects, &mut sets)?),
    };
    architecture.mark_unwritten(&mut blank);
    let mut words = blank.clone();
    words.resize(base, 0);
    words.extend(&builder.pool);
    let constants = builder.constants();
    let mut marks: HashMap<_, Vec<_>> = HashMap::new();
    for (at, mark) in builder.marks {
        marks.entry(at).or_default().push(mark);
    }
    let (ops, lists) = (builder.code, builder.lists);
    let crcs = calculations.custom_crcs();
    let state = State {
        words,
        tables: states,
        profiles,
        registers: Registers(arrays.registers.into()),
        counters: arrays.counters,
        meters: arrays.meters,
        filters: arrays.filters,
        algorithms: calculations.algorithms,
        random: Random::default(),
        ..State::default()
    };
    let digests = digests(root, &layout)?;
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
        param_end: base,
        constants,
        marks,
        native: None,
    };
    let program = Program {
        code,
        identity,
        digests,
        blank,
    };
    let names = Names {
        crcs,
        registers: arrays.register_names,
        counters: arrays.counter_names,
        meters: arrays.meter_names,
    };
    Ok(Pipeline::new(architecture, program, state, sets, names))
}

/// The controls of a program. The other parts are loaded after them.
enum Controls {
    V1model(v1model::Controls),
    Tna(tna::Controls),
}

/// The chip that the program is for; `None` for v1model.
fn chip(root: &Json) -> Load<Option<Chip>> {
    let Some(arch) = root.opt("__meta__").and_then(|meta| meta.opt("arch")) else {
        return Ok(None);
    };
    match arch.str()? {
        "v1model" => Ok(None),
        "tna" => Ok(Some(Chip::Tofino1)),
        "t2na" => Ok(Some(Chip::Tofino2)),
        other => arch.error(format!("no architecture '{other}'; there are v1model, tna and t2na")),
    }
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
