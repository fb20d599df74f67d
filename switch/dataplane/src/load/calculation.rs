//! Calculations in the JSON: their inputs and their algorithms.

use std::collections::HashMap;

use super::json::{Json, Load};
use crate::bits::{cut, from_bytes, words};
use crate::run::calculation::{Calculation, Input};
use crate::run::hash::{Algorithm, CrcParameters, Polynomial};
use crate::run::layout::{FieldOrValidity, Layout};
use crate::run::wire::Plan;

const MAX_CONSTANT_BITS: u64 = 1 << 14;

/// All calculations, their names, and their algorithms.
pub(crate) struct Calculations {
    pub list: Vec<Calculation>,
    pub algorithms: Vec<Algorithm>,
    pub names: HashMap<String, u32>,
    /// Widths of calculations that the control plane may change.
    custom: HashMap<String, u32>,
}

impl Calculations {
    pub fn load(root: &Json, layout: &Layout) -> Load<Calculations> {
        let mut all = Calculations {
            list: Vec::new(),
            algorithms: Vec::new(),
            names: HashMap::new(),
            custom: HashMap::new(),
        };
        for json in root.list("calculations")? {
            let name = json.get("name")?.str()?.to_string();
            let algorithm = algorithm(&json)?;
            match json.get("algo")?.str()? {
                "crc16_custom" => drop(all.custom.insert(name.clone(), 16)),
                "crc32_custom" => drop(all.custom.insert(name.clone(), 32)),
                _ => {}
            }
            let index = all.add(calculation(&json.get("input")?, layout)?, algorithm);
            all.names.insert(name, index);
        }
        Ok(all)
    }

    /// Position and width of the calculations that the control plane may change.
    pub fn custom_crcs(&self) -> HashMap<String, (u32, u32)> {
        let custom = self.custom.iter();
        custom
            .map(|(name, &width)| (name.clone(), (self.names[name], width)))
            .collect()
    }

    /// Adds the calculation of a selector, which has no name.
    pub fn add_selector(&mut self, json: &Json, layout: &Layout) -> Load<u32> {
        let algorithm = algorithm(json)?;
        Ok(self.add(calculation(&json.get("input")?, layout)?, algorithm))
    }

    fn add(&mut self, calculation: Calculation, algorithm: Algorithm) -> u32 {
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

fn calculation(json: &Json, layout: &Layout) -> Load<Calculation> {
    let (inputs, with_payload) = inputs(json, layout)?;
    let mut calculation = Calculation { inputs, with_payload };
    join(&mut calculation, layout);
    Ok(calculation)
}

/// Reads a list of fields, headers and constants, and whether the payload follows.
pub(super) fn inputs(json: &Json, layout: &Layout) -> Load<(Vec<Input>, bool)> {
    let (mut inputs, mut with_payload) = (Vec::new(), false);
    for input in json.items()? {
        inputs.push(match input.get("type")?.str()? {
            "field" => match layout.field(&input.get("value")?)? {
                FieldOrValidity::Field(field) => Input::Field(field),
                FieldOrValidity::Valid(header) => Input::Valid(header),
            },
            "header" => Input::Header(layout.header(&input.get("value")?)?),
            "hexstr" => {
                let width = input.get("bitwidth")?.count(MAX_CONSTANT_BITS)? as u32;
                let mut value = vec![0; words(width)];
                let bytes = input.get("value")?.bytes()?;
                for (index, byte) in bytes.iter().rev().enumerate().take(value.len() * 8) {
                    value[index / 8] |= u64::from(*byte) << (index % 8 * 8);
                }
                cut(width, &mut value);
                Input::Constant(value, width)
            }
            "payload" => {
                with_payload = true;
                continue;
            }
            other => return input.error(format!("an input of type '{other}' is not supported")),
        });
    }
    Ok((inputs, with_payload))
}

/// Joins neighbouring fields of one header, if the result has only whole bytes.
fn join(calculation: &mut Calculation, layout: &Layout) {
    let header = |input: &Input| match input {
        Input::Field(field) => Some(layout.fields[*field as usize].header),
        _ => None,
    };
    let mut joined = Vec::new();
    for group in calculation
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
    calculation.inputs = joined;
}

fn algorithm(calculation: &Json) -> Load<Algorithm> {
    let json = calculation.get("algo")?;
    Ok(match json.str()? {
        "crc_poly" => Algorithm::Polynomial(Box::new(Polynomial::new(crc(&calculation.get("parameters")?)?))),
        "xor8" => Algorithm::Xor8,
        "crc8_custom" | "crc8" => Algorithm::Crc8,
        // The custom variants start with these parameters; BMv2's runtime interface may change them.
        "crc16" | "crc16_custom" => Algorithm::Crc16,
        "crcCCITT" => Algorithm::CrcCcitt,
        "crc32" | "crc32_custom" => Algorithm::Crc32,
        "crc64_custom" => Algorithm::Crc64,
        "csum16" | "cksum16" => Algorithm::Checksum16,
        "xor16" => Algorithm::Xor16,
        "xor32" => Algorithm::Xor32,
        "identity" => Algorithm::Identity,
        "xxh64" => Algorithm::Xxh64,
        "round_robin" => Algorithm::RoundRobin(0),
        "round_robin_consistent" => Algorithm::RoundRobinConsistent(HashMap::new()),
        other => return json.error(format!("hash algorithm '{other}' is not supported")),
    })
}

/// Reads the parameters of a CRC: numbers as hexadecimal strings, as everywhere in the format, or as integers.
fn crc(json: &Json) -> Load<CrcParameters> {
    let width = json.get("width")?;
    let bits = width.count(64)? as u32;
    if bits == 0 {
        return width.error("should be an integer from 1 to 64");
    }
    let number = |name: &str| {
        let number = json.get(name)?;
        let value = match number.value().as_u64() {
            Some(value) => value.to_be_bytes().to_vec(),
            None => number.bytes()?,
        };
        match from_bytes(&value, bits).as_deref() {
            Some([value]) => Ok(*value),
            _ => number.error(format!("does not fit into {bits} bits")),
        }
    };
    Ok(CrcParameters {
        width: bits,
        coefficient: number("coefficient")?,
        reversed: json.flag("reversed")?,
        mirrored: false,
        init: number("init")?,
        xor: number("xor")?,
        output_width: match json.opt("output_width") {
            Some(width) => width.count(64)? as u32,
            None => bits,
        },
        msb: json.flag("msb")?,
        extended: json.flag("extended")?,
    })
}
