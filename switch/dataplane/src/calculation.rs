//! Calculations: a list of fields, headers and constants, laid out as bytes, and an algorithm over them.

use std::collections::HashMap;

use crate::bits::Writer;
use crate::hash::Algorithm;
use crate::json::{Json, Load};
use crate::layout::{Layout, Place, mask, words};
use crate::machine::Code;
use crate::state::State;
use crate::wire::Plan;

/// One input of a calculation.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Field(u32),
    Valid(u32),
    Header(u32),
    Constant(Vec<u64>, u32),
    /// Several fields of one header, in whole bytes: its validity word and the fields.
    Run(u32, Plan),
}

#[derive(Clone, Debug)]
pub(crate) struct Calculation {
    inputs: Vec<Input>,
    with_payload: bool,
}

const MAX_CONSTANT_BITS: u64 = 1 << 14;

/// All calculations, their names, and their algorithms.
pub(crate) struct Calculations {
    pub list: Vec<Calculation>,
    pub algorithms: Vec<Algorithm>,
    pub names: HashMap<String, u32>,
}

impl Calculations {
    pub fn load(root: &Json, layout: &Layout) -> Load<Calculations> {
        let mut all = Calculations {
            list: Vec::new(),
            algorithms: Vec::new(),
            names: HashMap::new(),
        };
        for json in root.list("calculations")? {
            let name = json.get("name")?.str()?.to_string();
            let algorithm = Algorithm::load(&json.get("algo")?)?;
            let index = all.add(Calculation::load(&json.get("input")?, layout)?, algorithm);
            all.names.insert(name, index);
        }
        Ok(all)
    }

    pub fn add(&mut self, calculation: Calculation, algorithm: Algorithm) -> u32 {
        self.list.push(calculation);
        self.algorithms.push(algorithm);
        self.list.len() as u32 - 1
    }

    pub fn find(&self, json: &Json) -> Load<u32> {
        match self.names.get(json.str()?) {
            Some(&index) => Ok(index),
            None => json.error(format!("no calculation '{}'", json.str()?)),
        }
    }
}

impl Calculation {
    pub fn load(json: &Json, layout: &Layout) -> Load<Calculation> {
        let mut calculation = Calculation {
            inputs: Vec::new(),
            with_payload: false,
        };
        for input in json.items()? {
            calculation.inputs.push(match input.get("type")?.str()? {
                "field" => match layout.field(&input.get("value")?)? {
                    Place::Field(field) => Input::Field(field),
                    Place::Valid(header) => Input::Valid(header),
                },
                "header" => Input::Header(layout.header(&input.get("value")?)?),
                "hexstr" => {
                    let width = input.get("bitwidth")?.count(MAX_CONSTANT_BITS)? as u32;
                    let mut value = vec![0; words(width)];
                    let bytes = input.get("value")?.bytes()?;
                    for (index, byte) in bytes.iter().rev().enumerate().take(value.len() * 8) {
                        value[index / 8] |= u64::from(*byte) << (index % 8 * 8);
                    }
                    crate::wide::cut(width, &mut value);
                    Input::Constant(value, width)
                }
                "payload" => {
                    calculation.with_payload = true;
                    continue;
                }
                other => return input.error(format!("an input of type '{other}' is not supported")),
            });
        }
        calculation.join(layout);
        Ok(calculation)
    }

    /// Joins neighbouring fields of one header, if everything then falls into whole bytes.
    fn join(&mut self, layout: &Layout) {
        let header = |input: &Input| match input {
            Input::Field(field) => Some(layout.fields[*field as usize].header),
            _ => None,
        };
        let mut joined = Vec::new();
        for group in self
            .inputs
            .chunk_by(|a, b| header(a).is_some() && header(a) == header(b))
        {
            let fields = group.iter().filter_map(|input| match input {
                Input::Field(field) => Some(&layout.fields[*field as usize]),
                _ => None,
            });
            match (&group[0], header(&group[0])) {
                (_, Some(header)) => match Plan::new(fields) {
                    Some(plan) => joined.push(Input::Run(layout.headers[header as usize].valid, plan)),
                    None => return,
                },
                (Input::Constant(value, width), None) if width % 8 == 0 => {
                    joined.push(Input::Constant(value.clone(), *width));
                }
                (Input::Header(header), None) => joined.push(Input::Header(*header)),
                _ => return,
            }
        }
        self.inputs = joined;
    }

    /// Lays the inputs out in `state.scratch`. What belongs to an invalid header is left out.
    fn gather(&self, code: &Code, state: &mut State) {
        let mut scratch = std::mem::take(&mut state.scratch);
        scratch.clear();
        let mut writer = Writer::new(&mut scratch);
        let layout = &code.layout;
        let valid = |header: u32| state.words[layout.headers[header as usize].valid as usize];
        for input in &self.inputs {
            match input {
                Input::Run(valid, plan) => {
                    if state.words[*valid as usize] != 0 {
                        plan.store(&state.words, writer.bytes());
                    }
                }
                Input::Field(field) => {
                    if valid(layout.fields[*field as usize].header) != 0 {
                        write_field(layout, &state.words, *field, &mut writer);
                    }
                }
                Input::Valid(header) => writer.word(valid(*header) & 1, 1),
                Input::Header(header) => {
                    if valid(*header) != 0 {
                        for field in layout.headers[*header as usize].fields() {
                            write_field(layout, &state.words, field as u32, &mut writer);
                        }
                    }
                }
                Input::Constant(value, width) => writer.field(value, *width),
            }
        }
        writer.finish();
        if self.with_payload {
            scratch.extend_from_slice(state.frame.get(state.payload..).unwrap_or(&[]));
        }
        state.scratch = scratch;
    }
}

/// Appends a field as it goes onto the wire.
#[inline]
fn write_field(layout: &Layout, phv: &[u64], field: u32, writer: &mut Writer) {
    let field = &layout.fields[field as usize];
    match field.length {
        None if field.width <= 64 => {
            writer.word(phv[field.slot as usize] & mask(field.width), field.width);
        }
        None => writer.field(&phv[field.span()], field.width),
        Some(length) => {
            let bits = (phv[length as usize] as u32).min(field.width);
            writer.field(&phv[field.span()], bits);
        }
    }
}

/// Appends a header as it goes onto the wire.
#[inline]
pub(crate) fn write_header(code: &Code, phv: &[u64], header: u32, out: &mut Vec<u8>) {
    if let Some(plan) = &code.plans[header as usize] {
        return plan.store(phv, out);
    }
    let mut writer = Writer::new(out);
    for field in code.layout.headers[header as usize].fields() {
        write_field(&code.layout, phv, field as u32, &mut writer);
    }
    writer.finish();
}

/// Computes one of the program's calculations on the packet at work.
pub(crate) fn compute(code: &Code, index: u32, state: &mut State) -> u64 {
    code.calculations[index as usize].gather(code, state);
    state.algorithms[index as usize].compute(&state.scratch)
}
