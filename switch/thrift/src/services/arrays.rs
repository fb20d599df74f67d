//! Service `standard`: counters, meters, registers, parser value sets, and the parameters of hashes.

use p4sched_dataplane::{Count, MeterConfig};
use p4sched_device::bmv2::{CrcParameters, MeterCode, Runtime};

use crate::answer::{Failure, Outcome};
use crate::value::{ArgumentError, Fields, Value, kind};

const MICROS_PER_SECOND: f64 = 1e6;

/// Decodes a `BmCounterValue`.
pub fn count_of(value: Fields<'_>) -> Result<Count, ArgumentError> {
    Ok(Count {
        bytes: value.i64(1)?.cast_unsigned(),
        packets: value.i64(2)?.cast_unsigned(),
    })
}

/// Encodes a `BmCounterValue`.
pub fn count_value(count: Count) -> Value {
    Value::Struct(vec![
        (1, Value::I64(count.bytes.cast_signed())),
        (2, Value::I64(count.packets.cast_signed())),
    ])
}

/// Decodes a list of `BmMeterRateConfig`: the committed and the peak rate, in units per microsecond. `None` if there
/// are not two, or if a rate or burst is negative.
pub fn meter_of(rates: &[Fields<'_>]) -> Result<Option<MeterConfig>, ArgumentError> {
    let [committed, peak] = rates else { return Ok(None) };
    let rate = |rate: Fields<'_>| -> Result<Option<(u64, u64)>, ArgumentError> {
        let (units, burst) = (rate.double(1)?, rate.i32(2)?);
        let fits = units.is_finite() && units >= 0.0;
        // Rounds to whole units per second; larger rates are cut to the largest `i64`.
        let per_second = (units * MICROS_PER_SECOND).round().min(i64::MAX as f64) as u64;
        Ok(u64::try_from(burst)
            .ok()
            .filter(|_| fits)
            .map(|burst| (per_second, burst)))
    };
    let (Some((cir, cburst)), Some((pir, pburst))) = (rate(*committed)?, rate(*peak)?) else {
        return Ok(None);
    };
    Ok(Some(MeterConfig {
        cir,
        cburst,
        pir,
        pburst,
        eburst: 0,
    }))
}

/// Encodes a list of `BmMeterRateConfig`; it is empty while the meter is not configured.
pub fn meter_value(config: Option<MeterConfig>) -> Value {
    let rate = |rate: u64, burst: u64| {
        let burst = i32::try_from(burst).unwrap_or(i32::MAX);
        Value::Struct(vec![
            (1, Value::Double(rate as f64 / MICROS_PER_SECOND)),
            (2, Value::I32(burst)),
        ])
    };
    let rates = config
        .into_iter()
        .flat_map(|config| [rate(config.cir, config.cburst), rate(config.pir, config.pburst)]);
    Value::structs(rates)
}

pub fn call(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Option<Outcome> {
    let found = counters_and_meters(method, args, runtime);
    let found = found.and_then(|outcome| match outcome {
        None => registers_and_more(method, args, runtime),
        found => Ok(found),
    });
    found.unwrap_or_else(|failure| Some(Err(failure)))
}

/// The methods; argument 2 is the array.
fn counters_and_meters(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Result<Option<Outcome>, Failure> {
    let name = || args.text(2);
    let config = |number: i16| -> Result<MeterConfig, Failure> {
        let bad = || MeterCode::BadRatesList.because("two rates, the committed one first");
        Ok(meter_of(&args.structs(number)?)?.ok_or_else(bad)?)
    };
    let result = match method {
        "bm_counter_read" => Some(count_value(runtime.counter_read(name()?, args.i32(3)?)?)),
        "bm_counter_write" => {
            runtime.counter_write(name()?, args.i32(3)?, count_of(args.fields(4)?)?)?;
            None
        }
        "bm_counter_reset_all" => {
            runtime.counter_reset(name()?)?;
            None
        }
        "bm_meter_get_rates" => Some(meter_value(runtime.meter_read(name()?, args.i32(3)?)?)),
        "bm_meter_set_rates" => {
            runtime.meter_write(name()?, Some(args.i32(3)?), config(4)?)?;
            None
        }
        "bm_meter_array_set_rates" => {
            runtime.meter_write(name()?, None, config(3)?)?;
            None
        }
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}

fn registers_and_more(method: &str, args: Fields<'_>, runtime: &mut Runtime<'_>) -> Result<Option<Outcome>, Failure> {
    let name = || args.text(2);
    let result = match method {
        "bm_register_read" => Some(Value::I64(runtime.register_read(name()?, args.i32(3)?)?)),
        "bm_register_read_all" => {
            let cells = runtime.register_read_all(name()?)?;
            Some(Value::List(kind::I64, cells.into_iter().map(Value::I64).collect()))
        }
        "bm_register_write" => {
            let index = args.i32(3)?;
            runtime.register_write(name()?, index, index.saturating_add(1), args.i64(4)?)?;
            None
        }
        "bm_register_write_range" => {
            runtime.register_write(name()?, args.i32(3)?, args.i32(4)?, args.i64(5)?)?;
            None
        }
        "bm_register_reset" => {
            runtime.register_reset(name()?)?;
            None
        }
        "bm_parse_vset_get" => Some(Value::strings(runtime.value_set(name()?)?)),
        "bm_parse_vset_add" => {
            runtime.add_value(name()?, args.bytes(3)?)?;
            None
        }
        "bm_parse_vset_remove" => {
            runtime.remove_value(name()?, args.bytes(3)?)?;
            None
        }
        "bm_parse_vset_clear" => {
            runtime.clear_values(name()?)?;
            None
        }
        "bm_set_crc16_custom_parameters" => {
            let config = args.fields(3)?;
            let number = |field| config.i16(field).map(|number| u64::from(number.cast_unsigned()));
            runtime.set_crc(name()?, 16, crc_of(config, number)?)?;
            None
        }
        "bm_set_crc32_custom_parameters" => {
            let config = args.fields(3)?;
            let number = |field| config.i32(field).map(|number| u64::from(number.cast_unsigned()));
            runtime.set_crc(name()?, 32, crc_of(config, number)?)?;
            None
        }
        _ => return Ok(None),
    };
    Ok(Some(Ok(result)))
}

/// Decodes a `BmCrc16Config` or `BmCrc32Config`.
fn crc_of(
    config: Fields<'_>,
    number: impl Fn(i16) -> Result<u64, ArgumentError>,
) -> Result<CrcParameters, ArgumentError> {
    Ok(CrcParameters {
        polynomial: number(1)?,
        initial: number(2)?,
        final_xor: number(3)?,
        reflect_input: config.bool(4)?,
        reflect_output: config.bool(5)?,
    })
}
