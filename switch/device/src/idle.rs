//! Idle entries: those that no packet has hit for longer than their timeout (specification, section "Table Idle Timeout
//! Notification").

use p4sched_dataplane::{Nanos, Pipeline};
use p4sched_proto::p4::v1 as p4rt;

use crate::forwarding::Forwarding;

/// Time in ns between two scans while some entry has a timeout.
pub const SCAN_EVERY: Nanos = 50_000_000;

/// The result of a scan.
pub struct Scan {
    /// Idle entries; one list for each table.
    pub idle: Vec<Vec<p4rt::TableEntry>>,
    /// Time of the next scan; `None` while no entry has a timeout.
    pub again_at: Option<Nanos>,
}

/// Finds the idle entries. An idle entry is reported again after another timeout.
pub fn scan(forwarding: &mut Forwarding, pipeline: &Pipeline, now: Nanos) -> Scan {
    let mut scan = Scan {
        idle: Vec::new(),
        again_at: None,
    };
    for table in forwarding.index.tables.values().filter(|table| table.notifies_idle) {
        let Some(store) = forwarding.tables.get_mut(&table.id) else {
            continue;
        };
        let mut idle = Vec::new();
        for stored in store.iter_mut() {
            let timeout = u64::try_from(stored.entry.idle_timeout_ns).unwrap_or(0);
            if timeout == 0 {
                continue;
            }
            scan.again_at = Some(now + SCAN_EVERY);
            let hit = pipeline.last_hit(table.table, stored.handle).unwrap_or(now);
            if now.saturating_sub(hit.max(stored.idle_notice)) < timeout {
                continue;
            }
            stored.idle_notice = now;
            idle.push(p4rt::TableEntry {
                action: None,
                ..stored.entry.clone()
            });
        }
        if !idle.is_empty() {
            scan.idle.push(idle);
        }
    }
    scan
}
