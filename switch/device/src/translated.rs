//! Writes and reads with the controller's values, on top of the entities, which hold the data plane's values.

use std::borrow::Cow;

use p4sched_dataplane::{Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;

use crate::entities;
use crate::fault::{Code, Fault};
use crate::forwarding::Forwarding;
use crate::translation::Translation;

fn read_all(forwarding: &Forwarding, pipeline: &Pipeline, filter: Entity) -> Vec<Entity> {
    let filter = p4rt::Entity { entity: Some(filter) };
    // The time only matters for idle times, which are not used here.
    entities::read(forwarding, pipeline, 0, &filter).unwrap_or_default()
}

/// Reserves names for the values of the program's own entries.
pub fn keep_initial(forwarding: &mut Forwarding, pipeline: &Pipeline) {
    let mut translation = std::mem::take(&mut forwarding.translation);
    if !translation.is_empty() {
        for filter in Translation::written() {
            for mut entity in read_all(forwarding, pipeline, filter) {
                translation.keep(&mut entity);
            }
        }
    }
    forwarding.translation = translation;
}

fn sweep(forwarding: &mut Forwarding, pipeline: &Pipeline) {
    forwarding.translation = in_use(forwarding, pipeline);
}

/// The translation without unused names.
pub fn in_use(forwarding: &Forwarding, pipeline: &Pipeline) -> Translation {
    let mut translation = forwarding.translation.clone();
    translation.sweep(|filter| read_all(forwarding, pipeline, filter));
    translation
}

/// An update with the data plane's values. If a type has no free value, unused names are forgotten first.
///
/// # Errors
/// Those of the translation.
pub fn update<'a>(
    forwarding: &mut Forwarding,
    pipeline: &Pipeline,
    update: &'a p4rt::Update,
) -> Result<Cow<'a, p4rt::Update>, Fault> {
    if forwarding.translation.is_empty() {
        return Ok(Cow::Borrowed(update));
    }
    if forwarding.translation.wants_sweep() {
        sweep(forwarding, pipeline);
    }
    match forwarding.translation.update(update) {
        Err(fault) if fault.code == Code::ResourceExhausted => {
            sweep(forwarding, pipeline);
            forwarding.translation.update(update)
        }
        translated => translated,
    }
    .map(Cow::Owned)
}

/// Reads the entities that a filter selects.
///
/// # Errors
/// Those of the translation and of the entity.
pub fn read(
    forwarding: &mut Forwarding,
    pipeline: &Pipeline,
    now: Nanos,
    filter: &p4rt::Entity,
) -> Result<Vec<Entity>, Fault> {
    if forwarding.translation.is_empty() {
        return entities::read(forwarding, pipeline, now, filter);
    }
    let Some(filter) = forwarding.translation.filter(filter)? else {
        return Ok(Vec::new());
    };
    let found = entities::read(forwarding, pipeline, now, &filter)?;
    let found = found.into_iter();
    Ok(found.map(|entity| forwarding.translation.entity(entity)).collect())
}
