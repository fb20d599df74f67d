//! The configuration of digests.

use p4sched_dataplane::Nanos;
use p4sched_proto::p4::v1 as p4rt;
use p4sched_proto::p4::v1::entity::Entity;
use p4sched_proto::p4::v1::update::Type;

use super::array::selected;
use crate::fault::Fault;
use crate::forwarding::Forwarding;
use crate::index::unknown;

/// Enables, changes or disables the sending of a digest.
pub(crate) fn write(
    forwarding: &mut Forwarding,
    now: Nanos,
    kind: Type,
    entry: &p4rt::DigestEntry,
) -> Result<(), Fault> {
    let id = entry.digest_id;
    let digest = forwarding.index.digests.get(&id).ok_or_else(|| unknown("digest", id))?;
    let name = &digest.name;
    match (kind, forwarding.digests.config(id).is_some()) {
        (Type::Insert, true) => return Err(Fault::exists(format!("{name}: is enabled"))),
        (Type::Modify | Type::Delete, false) => return Err(Fault::not_found(format!("{name}: is not enabled"))),
        (Type::Delete, true) => {
            forwarding.digests.disable(id);
            return Ok(());
        }
        _ => {}
    }
    let config = entry.config.unwrap_or_default();
    if config.max_timeout_ns < 0 || config.max_list_size < 0 || config.ack_timeout_ns < 0 {
        return Err(Fault::invalid(format!(
            "{name}: timeouts and list size are not negative"
        )));
    }
    forwarding.digests.enable(id, config, now);
    Ok(())
}

/// Reads the configuration of one digest, or of all that are enabled.
pub(crate) fn read(forwarding: &Forwarding, filter: &p4rt::DigestEntry) -> Result<Vec<Entity>, Fault> {
    let digests = selected(&forwarding.index.digests, "digest", filter.digest_id)?;
    let found = digests.filter_map(|(digest_id, _)| {
        let config = forwarding.digests.config(digest_id)?;
        Some(Entity::DigestEntry(p4rt::DigestEntry {
            digest_id,
            config: Some(config),
        }))
    });
    Ok(found.collect())
}
