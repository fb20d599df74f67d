//! Indirect and direct meters.

use p4sched_dataplane::{MeterConfig, Pipeline};
use p4sched_proto::p4::config::v1::meter_spec;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{cells, modify_only, selected};
use super::direct::{key_part, owner, owners};
use crate::index::unknown;
use crate::{Fault, Forwarding};

/// A meter's configuration from a request.
///
/// # Errors
/// `INVALID_ARGUMENT` for negative rates, and for rates and bursts that the meter's type does not have;
/// `UNIMPLEMENTED` for an excess burst, which RFC 2698 meters do not have.
pub(crate) fn from_request(
    name: &str,
    kind: meter_spec::Type,
    config: &p4rt::MeterConfig,
) -> Result<MeterConfig, Fault> {
    let one_rate = config.pir == config.cir && config.pburst == config.cburst;
    match kind {
        meter_spec::Type::TwoRateThreeColor if config.eburst != 0 => {
            return Err(Fault::invalid(format!("{name}: a two-rate meter has no eburst")));
        }
        meter_spec::Type::SingleRateThreeColor | meter_spec::Type::SingleRateTwoColor if !one_rate => {
            return Err(Fault::invalid(format!(
                "{name}: a single-rate meter has pir = cir and pburst = cburst"
            )));
        }
        meter_spec::Type::SingleRateTwoColor if config.eburst != 0 => {
            return Err(Fault::invalid(format!("{name}: a two-colour meter has no eburst")));
        }
        meter_spec::Type::SingleRateThreeColor if config.eburst != 0 => {
            return Err(Fault::unimplemented(format!(
                "{name}: meters are those of RFC 2698, without eburst"
            )));
        }
        _ => {}
    }
    let unsigned = |value: i64, field: &str| {
        u64::try_from(value).map_err(|_| Fault::invalid(format!("{name}: {field} is negative: {value}")))
    };
    Ok(MeterConfig {
        cir: unsigned(config.cir, "cir")?,
        cburst: unsigned(config.cburst, "cburst")?,
        pir: unsigned(config.pir, "pir")?,
        pburst: unsigned(config.pburst, "pburst")?,
    })
}

/// A meter's configuration for a response.
pub(crate) fn to_response(config: MeterConfig) -> p4rt::MeterConfig {
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    p4rt::MeterConfig {
        cir: signed(config.cir),
        cburst: signed(config.cburst),
        pir: signed(config.pir),
        pburst: signed(config.pburst),
        eburst: 0,
    }
}

fn no_colour_counts(counts: Option<&p4rt::MeterCounterData>) -> Result<(), Fault> {
    match counts {
        Some(_) => Err(Fault::unimplemented("the meters of this switch do not count colours")),
        None => Ok(()),
    }
}

/// Configures one cell of an indirect meter, or all of them; no configuration makes everything green.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::MeterEntry,
) -> Result<(), Fault> {
    modify_only("the cells of a meter", kind)?;
    no_colour_counts(entry.counter_data.as_ref())?;
    let meters = &forwarding.index.meters;
    let meter = meters
        .get(&entry.meter_id)
        .ok_or_else(|| unknown("meter", entry.meter_id))?;
    let cells = cells(&meter.array.name, meter.array.size, entry.index.as_ref())?;
    let config = entry
        .config
        .as_ref()
        .map(|config| from_request(&meter.array.name, meter.kind, config))
        .transpose()?;
    for cell in cells {
        pipeline.meter_write(meter.array.array, cell, config)?;
    }
    Ok(())
}

/// Reads one cell, all cells of a meter, or all meters.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::MeterEntry,
) -> Result<Vec<Entity>, Fault> {
    no_colour_counts(filter.counter_data.as_ref())?;
    let mut found = Vec::new();
    for (id, meter) in selected(&forwarding.index.meters, "meter", filter.meter_id)? {
        let index = filter.index.as_ref().filter(|_| filter.meter_id != 0);
        for cell in cells(&meter.array.name, meter.array.size, index)? {
            let config = pipeline.meter_read(meter.array.array, cell)?;
            found.push(Entity::MeterEntry(p4rt::MeterEntry {
                meter_id: id,
                index: Some(p4rt::Index { index: cell as i64 }),
                config: config.map(to_response),
                counter_data: None,
            }));
        }
    }
    Ok(found)
}

/// Configures the direct meter of an entry.
pub(crate) fn write_direct(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::DirectMeterEntry,
) -> Result<(), Fault> {
    modify_only("direct meters", kind)?;
    no_colour_counts(entry.counter_data.as_ref())?;
    let of = entry
        .table_entry
        .as_ref()
        .ok_or_else(|| Fault::invalid("a direct meter without a table entry"))?;
    let table = forwarding.index.table(of.table_id)?;
    let meter = table.direct_meter;
    let meter = meter.ok_or_else(|| Fault::invalid(format!("{}: the table has no direct meter", table.name)))?;
    let handle = owner(forwarding, table, of)?.handle;
    let config = entry
        .config
        .as_ref()
        .map(|config| from_request(&table.name, meter, config))
        .transpose()?;
    pipeline.set_direct_meter(table.table, handle, config)?;
    Ok(())
}

/// Reads the direct meter of one entry, of a table's entries, or of all entries.
pub(crate) fn read_direct(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::DirectMeterEntry,
) -> Result<Vec<Entity>, Fault> {
    no_colour_counts(filter.counter_data.as_ref())?;
    let has = |table: &crate::index::Table| table.direct_meter.is_some();
    let owners = owners(forwarding, filter.table_entry.as_ref(), "direct meter", has)?;
    let entries = owners.into_iter().map(|(table, stored)| {
        let config = pipeline.direct_meter(table.table, stored.handle)?.map(to_response);
        let table_entry = Some(key_part(stored));
        Ok(Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry,
            config,
            counter_data: None,
        }))
    });
    entries.collect()
}
