//! Counters, meters and registers in the JSON.

use std::collections::HashMap;

use super::builder::{OutOfRange, RegisterShape};
use super::calculation::Calculations;
use super::json::{Json, Load};
use super::primitive::Objects;
use crate::bits::{from_bytes, mask, words};
use crate::run::filter::{FilterArray, Red, Use};
use crate::run::layout::{FieldOrValidity, Layout};
use crate::run::meter::{MeterArray, MeterKind};
use crate::run::ops::Word;
use crate::run::state::{CounterArray, RegisterArray};
use crate::run::table::DirectMeter;

/// Most words for all counters, meters and registers together: 512 MiB.
const MAX_CELLS: usize = 1 << 26;
/// Most cells of meters, which are larger.
const MAX_METERS: usize = 1 << 22;
const MAX_REGISTER_BITS: u64 = 1 << 12;

/// Arrays of cells, with their names.
pub(crate) struct Arrays {
    pub registers: Vec<RegisterArray>,
    /// True for each register with a cell for each entry of a table.
    pub direct_registers: Vec<bool>,
    pub counters: Vec<CounterArray>,
    pub meters: Vec<MeterArray>,
    pub filters: Vec<FilterArray>,
    pub register_names: HashMap<String, u32>,
    pub counter_names: HashMap<String, u32>,
    pub meter_names: HashMap<String, u32>,
    pub filter_names: HashMap<String, u32>,
    pub direct_meters: HashMap<String, DirectMeter>,
}

impl Arrays {
    pub fn load(root: &Json, layout: &Layout) -> Load<Arrays> {
        let mut arrays = Arrays {
            registers: Vec::new(),
            direct_registers: Vec::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            filters: Vec::new(),
            register_names: HashMap::new(),
            counter_names: HashMap::new(),
            meter_names: HashMap::new(),
            filter_names: HashMap::new(),
            direct_meters: HashMap::new(),
        };
        let mut room = MAX_CELLS;
        for json in root.list("register_arrays")? {
            let name = json.get("name")?.str()?.to_string();
            let width = json.get("bitwidth")?.count(MAX_REGISTER_BITS)? as u32;
            let size = json.get("size")?.count(MAX_CELLS as u64)?;
            take(&mut room, size * words(width), &json)?;
            arrays
                .register_names
                .insert(name.clone(), arrays.registers.len() as u32);
            let initial = match json.opt("initial_value") {
                None => vec![0; words(width)],
                Some(value) => match from_bytes(&value.bytes()?, width) {
                    Some(initial) => initial,
                    None => return value.error(format!("does not fit into {width} bits")),
                },
            };
            arrays.direct_registers.push(json.flag("is_direct")?);
            arrays.registers.push(RegisterArray::new(name, width, size, initial));
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
            let by_bytes = match json.get("type")?.str()? {
                "packets" => false,
                "bytes" => true,
                other => return json.error(format!("meter type '{other}' is not supported")),
            };
            let colours = match json.opt("colours") {
                Some(numbers) => colours(&numbers)?,
                None => [0, 1, 2],
            };
            let kind = MeterKind { by_bytes, colours };
            if let Some(rates) = json.opt("rate_count")
                && rates.int()? != 2
            {
                return rates.error("only meters of 2 rates are supported");
            }
            if json.flag("is_direct")? {
                let (target, keep) = meter_target(layout, &json.get("result_target")?)?;
                arrays.direct_meters.insert(name, DirectMeter { kind, target, keep });
                continue;
            }
            let size = json.get("size")?.count(MAX_METERS as u64)?;
            take(&mut room, size, &json)?;
            arrays.meter_names.insert(name.clone(), arrays.meters.len() as u32);
            arrays.meters.push(MeterArray::new(name, kind, size));
        }
        arrays.load_filters(root, &mut room)?;
        Ok(arrays)
    }

    /// Loads the filters of a Tofino; other targets have none.
    fn load_filters(&mut self, root: &Json, room: &mut usize) -> Load<()> {
        for json in root.list("filter_arrays")? {
            let name = json.get("name")?.str()?.to_string();
            let size = json.get("size")?.count(MAX_METERS as u64)?;
            take(room, size, &json)?;
            self.filter_names.insert(name, self.filters.len() as u32);
            let of = filter_use(&json)?;
            self.filters.push(FilterArray::new(of, size, json.flag("is_direct")?));
        }
        Ok(())
    }

    /// Shapes of the registers. `tofino`: they follow the rules of the chip.
    pub fn shapes(&self, tofino: bool) -> Vec<RegisterShape> {
        let shape = |(array, &direct): (&RegisterArray, &bool)| RegisterShape {
            width: array.width,
            beyond: match (tofino, direct) {
                (false, _) => OutOfRange::Nothing,
                (true, false) => OutOfRange::Wraps(array.size.max(1).next_power_of_two() as u64 - 1),
                (true, true) => OutOfRange::Zero,
            },
        };
        self.registers.iter().zip(&self.direct_registers).map(shape).collect()
    }

    /// The named objects that code may use.
    pub fn objects<'a>(&'a self, calculations: &'a Calculations, tofino: bool) -> Objects<'a> {
        Objects {
            registers: &self.register_names,
            counters: &self.counter_names,
            meters: &self.meter_names,
            filters: &self.filter_names,
            calculations,
            tofino,
        }
    }
}

/// Reads the use of a filter: times in ns, the probability in percent.
fn filter_use(json: &Json) -> Load<Use> {
    let number = |name: &str| -> Load<u64> { Ok(json.get(name)?.count(u64::from(u32::MAX))? as u64) };
    let real = |name: &str| -> Load<f64> { Ok(number(name)? as f64) };
    let kind = json.get("type")?;
    match kind.str()? {
        "low_pass" => Ok(Use::LowPass {
            gain: real("gain")?,
            decay: real("decay")?,
            scale_down: json.get("scale_down")?.count(31)? as u32,
        }),
        "red" => Ok(Use::Red(Red {
            time: real("time")?,
            min: real("min")?,
            max: real("max")?,
            probability: json.get("probability")?.count(100)? as f64 / 100.0,
            drop: number("drop")?,
            no_drop: number("no_drop")?,
        })),
        other => kind.error(format!("filter type '{other}' is not supported")),
    }
}

/// Reads the numbers of green, yellow and red.
fn colours(json: &Json) -> Load<[u64; 3]> {
    let mut numbers = [0; 3];
    for (i, number) in numbers.iter_mut().enumerate() {
        *number = json.at(i)?.count(u64::from(u8::MAX))? as u64;
    }
    Ok(numbers)
}

/// Word and mask of the result field of a direct meter.
fn meter_target(layout: &Layout, json: &Json) -> Load<(Word, u64)> {
    match layout.field(json)? {
        FieldOrValidity::Field(field) => {
            let field = &layout.fields[field as usize];
            if words(field.width) > 1 {
                return json.error("the result of a meter should be a field of at most 64 bits");
            }
            Ok((field.slot, mask(field.width)))
        }
        FieldOrValidity::Valid(_) => json.error("the result of a meter cannot be a header's validity"),
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
