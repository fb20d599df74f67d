//! BMv2's own runtime interface: objects have names, entries have handles.
//!
//! It writes to the same stores as P4Runtime, so each side sees what the other one wrote:
//!
//! | BMv2 | P4Runtime |
//! |---|---|
//! | handle of an entry | none; the handle is the entry's place in the order of insertion, whichever side inserted it |
//! | member or group `h` of an action profile | member or group `h + 1` |
//! | priority `p`, the smallest wins | priority `2^31 - 1 - p`, the largest wins (BMv2 converts in the same way) |
//! | multicast nodes | the replicas of a group, one node for each instance |

mod cells;
mod crc;
mod mirroring;
mod profiles;
mod queues;
mod refusal;
mod replication;
mod swap;
mod tables;
mod value_sets;

use p4sched_dataplane::{Nanos, Pipeline};

pub use crate::nodes::{Node, Nodes};
pub use crc::CrcParameters;
pub use mirroring::Mirror;
pub use profiles::Member;
pub use queues::Queues;
pub use refusal::{
    CounterCode, CrcCode, MeterCode, MirroringCode, PortCode, Refusal, RegisterCode, ReplicationCode, SwapCode,
    TableCode, ValueSetCode,
};
pub use tables::{EntryRow, IdleTimeout, KeyParam, RowAction};

use crate::forwarding::Forwarding;
use crate::idle;
use crate::index::{Index, Profile, Table};
use crate::store::{StoredEntry, TableStore};

/// The loaded program as BMv2's runtime interface sees it.
pub struct Runtime<'a> {
    pub(crate) forwarding: &'a mut Forwarding,
    pub(crate) pipeline: &'a mut Pipeline,
    pub(crate) now: Nanos,
}

impl crate::device::Device {
    /// The program that requests apply to: the one that waits for a swap, else the active one. `None` without a
    /// program.
    pub fn runtime(&mut self, now: Nanos) -> Option<Runtime<'_>> {
        self.schedule_idle_scan(now + idle::SCAN_EVERY);
        let (forwarding, pipeline) = self.target().ok()?;
        pipeline.set_time(now);
        Some(Runtime {
            forwarding,
            pipeline,
            now,
        })
    }
}

fn table<'i>(index: &'i Index, name: &str) -> Result<&'i Table, Refusal> {
    let found = index.tables.values().find(|table| table.name == name);
    found.ok_or_else(|| TableCode::InvalidTableName.because(format!("no table '{name}'")))
}

fn profile<'i>(index: &'i Index, name: &str) -> Result<&'i Profile, Refusal> {
    let found = index.profiles.values().find(|profile| profile.name == name);
    found.ok_or_else(|| TableCode::InvalidActionProfileName.because(format!("no action profile '{name}'")))
}

impl Runtime<'_> {
    fn stored(&self, table: &Table, handle: u32) -> Result<&StoredEntry, Refusal> {
        let store = self.forwarding.tables.get(&table.id);
        store
            .and_then(|store| store.by_sequence(u64::from(handle)))
            .ok_or_else(|| TableCode::InvalidHandle.because(format!("{}: no entry {handle}", table.name)))
    }

    fn store(&self, table: &Table) -> Option<&TableStore> {
        self.forwarding.tables.get(&table.id)
    }
}
