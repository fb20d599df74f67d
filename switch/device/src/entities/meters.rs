//! Indirect and direct meters.

use p4sched_dataplane::{Count, MeterConfig, Pipeline};
use p4sched_proto::p4::config::v1::meter_spec;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::{cells, modify_only, selected};
use super::counters;
use super::direct::{owner, owners};
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::unknown;

/// A meter's configuration from a request.
///
/// # Errors
/// `INVALID_ARGUMENT` for negative rates, and for rates or bursts that the meter's type does not have.
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
        eburst: unsigned(config.eburst, "eburst")?,
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
        eburst: signed(config.eburst),
    }
}

/// The counts of the colours, for a response.
pub(crate) fn colours(counts: [Count; 3]) -> p4rt::MeterCounterData {
    let [green, yellow, red] = counts.map(|count| Some(counters::to_response(count)));
    p4rt::MeterCounterData { green, yellow, red }
}

/// Whether a write resets the counts of the colours to 0, the only value that a write may set.
///
/// # Errors
/// `INVALID_ARGUMENT` for counts other than 0.
pub(crate) fn clears(name: &str, counts: Option<&p4rt::MeterCounterData>) -> Result<bool, Fault> {
    let Some(counts) = counts else { return Ok(false) };
    let given = [counts.green, counts.yellow, counts.red];
    if given
        .iter()
        .flatten()
        .any(|count| *count != p4rt::CounterData::default())
    {
        return Err(Fault::invalid(format!(
            "{name}: counts of colours can only be set to 0"
        )));
    }
    Ok(true)
}

/// Configures one cell of an indirect meter, or all of them; without a configuration, every packet is green.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    pipeline: &mut Pipeline,
    kind: Type,
    entry: &p4rt::MeterEntry,
) -> Result<(), Fault> {
    modify_only("the cells of a meter", kind)?;
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
    let clears = clears(&meter.array.name, entry.counter_data.as_ref())?;
    for cell in cells {
        pipeline.meter_write(meter.array.array, cell, config)?;
        if clears {
            pipeline.set_meter_counts(meter.array.array, cell, [Count::default(); 3])?;
        }
    }
    Ok(())
}

/// Reads one cell, all cells of a meter, or all meters.
pub(crate) fn read(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::MeterEntry,
) -> Result<Vec<Entity>, Fault> {
    let mut found = Vec::new();
    for (id, meter) in selected(&forwarding.index.meters, "meter", filter.meter_id)? {
        let index = filter.index.as_ref().filter(|_| filter.meter_id != 0);
        for cell in cells(&meter.array.name, meter.array.size, index)? {
            let config = pipeline.meter_read(meter.array.array, cell)?;
            let counts = filter.counter_data.as_ref();
            let counts = counts
                .map(|_| pipeline.meter_counts(meter.array.array, cell))
                .transpose()?;
            found.push(Entity::MeterEntry(p4rt::MeterEntry {
                meter_id: id,
                index: Some(p4rt::Index { index: cell as i64 }),
                config: config.map(to_response),
                counter_data: counts.map(colours),
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
    let of = entry
        .table_entry
        .as_ref()
        .ok_or_else(|| Fault::invalid("a direct meter without a table entry"))?;
    let table = forwarding.index.table(of.table_id)?;
    let meter = table.direct_meter;
    let meter = meter.ok_or_else(|| Fault::invalid(format!("{}: the table has no direct meter", table.name)))?;
    let row = owner(forwarding, pipeline, table, of)?;
    let clears = clears(&table.name, entry.counter_data.as_ref())?;
    let config = entry
        .config
        .as_ref()
        .map(|config| from_request(&table.name, meter, config))
        .transpose()?;
    pipeline.set_direct_meter(table.table, row, config)?;
    if clears {
        pipeline.set_direct_meter_counts(table.table, row, [Count::default(); 3])?;
    }
    Ok(())
}

/// Reads the direct meter of one entry, of a table's entries, or of all entries.
pub(crate) fn read_direct(
    forwarding: &Forwarding,
    pipeline: &Pipeline,
    filter: &p4rt::DirectMeterEntry,
) -> Result<Vec<Entity>, Fault> {
    let has = |table: &crate::index::Table| table.direct_meter.is_some();
    let owners = owners(forwarding, pipeline, filter.table_entry.as_ref(), "direct meter", has)?;
    let entries = owners.into_iter().map(|owner| {
        let config = pipeline.direct_meter(owner.table.table, owner.row)?.map(to_response);
        let counts = filter.counter_data.as_ref();
        let counts = counts
            .map(|_| pipeline.direct_meter_counts(owner.table.table, owner.row))
            .transpose()?;
        Ok(Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(owner.entry),
            config,
            counter_data: counts.map(colours),
        }))
    });
    entries.collect()
}

/// The counts of colours that an update may reset or remove, with their owners.
pub(crate) fn counted(forwarding: &Forwarding, pipeline: &Pipeline, update: &Entity) -> Vec<(Entity, [Count; 3])> {
    let read = match update {
        Entity::MeterEntry(entry) => read(
            forwarding,
            pipeline,
            &p4rt::MeterEntry {
                counter_data: Some(p4rt::MeterCounterData::default()),
                ..*entry
            },
        ),
        Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(entry),
            ..
        })
        | Entity::TableEntry(entry) => {
            let all = p4rt::DirectMeterEntry {
                table_entry: Some(entry.clone()),
                counter_data: Some(p4rt::MeterCounterData::default()),
                ..p4rt::DirectMeterEntry::default()
            };
            read_direct(forwarding, pipeline, &all)
        }
        _ => Ok(Vec::new()),
    };
    // What cannot be read is not a meter.
    let found = read.unwrap_or_default().into_iter();
    let counts = |data: Option<p4rt::MeterCounterData>| {
        let data = data.unwrap_or_default();
        let count = |count: Option<p4rt::CounterData>| {
            counters::from_request("", &count.unwrap_or_default()).unwrap_or_default()
        };
        [data.green, data.yellow, data.red].map(count)
    };
    found
        .filter_map(|entity| match &entity {
            Entity::MeterEntry(entry) => Some((counts(entry.counter_data), entity)),
            Entity::DirectMeterEntry(entry) => Some((counts(entry.counter_data), entity)),
            _ => None,
        })
        .map(|(counts, entity)| (entity, counts))
        .collect()
}

/// All counts of colours that are not 0.
pub(crate) fn all_counted(forwarding: &Forwarding, pipeline: &Pipeline) -> Vec<(Entity, [Count; 3])> {
    let direct = |is_default_action| {
        Entity::TableEntry(p4rt::TableEntry {
            is_default_action,
            ..p4rt::TableEntry::default()
        })
    };
    let all = [
        Entity::MeterEntry(p4rt::MeterEntry::default()),
        direct(false),
        direct(true),
    ];
    let found = all.iter().flat_map(|of| counted(forwarding, pipeline, of));
    found.filter(|(_, counts)| *counts != [Count::default(); 3]).collect()
}

/// Restores counts of colours that [`counted`] returned.
///
/// If there is no such meter.
pub(crate) fn count_again(
    forwarding: &Forwarding,
    pipeline: &mut Pipeline,
    of: &Entity,
    counts: [Count; 3],
) -> Result<(), Fault> {
    match of {
        Entity::MeterEntry(entry) => {
            let meter = forwarding.index.meters.get(&entry.meter_id);
            let meter = meter.ok_or_else(|| unknown("meter", entry.meter_id))?;
            for cell in cells(&meter.array.name, meter.array.size, entry.index.as_ref())? {
                pipeline.set_meter_counts(meter.array.array, cell, counts)?;
            }
        }
        Entity::DirectMeterEntry(p4rt::DirectMeterEntry {
            table_entry: Some(entry),
            ..
        }) => {
            let table = forwarding.index.table(entry.table_id)?;
            let row = owner(forwarding, pipeline, table, entry)?;
            pipeline.set_direct_meter_counts(table.table, row, counts)?;
        }
        _ => {}
    }
    Ok(())
}
