//! The loaded program.

use crate::{
    ActionCall, ActionId, CloneSession, Count, CounterId, DigestId, EntryHandle, EntryView, FieldRef, KeyField,
    LoadError, MatchKey, MeterConfig, MeterId, Nanos, Outcomes, Packet, Port, ProfileId, Queueing, Recirculated,
    RegisterId, TableError, TableId, ValueSetId,
};

/// A loaded program with its tables, counters, meters and registers.
#[derive(Debug)]
pub struct Pipeline;

#[allow(unused_variables)]
impl Pipeline {
    /// Loads a program from BMv2 JSON, as p4c's `p4c-bm2-ss` and this project's compiler write it.
    ///
    /// Everything is checked here; no packet can fail on a loaded program.
    pub fn from_json(json: &[u8]) -> Result<Pipeline, LoadError> {
        todo!()
    }

    /// Seeds `random()` and the action selectors' random choice. The default seed is fixed.
    pub fn set_seed(&mut self, seed: u64) {
        todo!()
    }

    /// Parser, checksum verification and ingress for a frame that arrived on `port`.
    ///
    /// Resubmission happens inside, at most 16 times for one packet. What becomes of the packet is added to `out`.
    pub fn ingress(&mut self, now: Nanos, port: Port, frame: &[u8], out: &mut Outcomes) {
        todo!()
    }

    /// As [`ingress`](Self::ingress), for a recirculated packet (`instance_type` 4).
    pub fn reingress(&mut self, now: Nanos, packet: Recirculated, out: &mut Outcomes) {
        todo!()
    }

    /// Egress, checksum update and deparser for a packet that left its queue.
    pub fn egress(&mut self, now: Nanos, packet: Packet, queueing: Queueing, out: &mut Outcomes) {
        todo!()
    }

    /// Takes back a packet that will not be sent, so that its buffers are used again.
    pub fn recycle(&mut self, packet: Packet) {
        todo!()
    }

    /// Takes back the buffer of a transmitted frame.
    pub fn recycle_frame(&mut self, frame: Vec<u8>) {
        todo!()
    }

    /// A field by the name P4 programmers use: `ipv4.src_addr`, `hdr.ipv4.src_addr`, `meta.user`,
    /// `standard_metadata.egress_spec`. `meta.` means the program's user metadata.
    pub fn field(&self, name: &str) -> Option<FieldRef> {
        todo!()
    }

    /// The value of a field in a packet; the low 128 bits of wider ones, 0 for another program's packet.
    pub fn read(&self, packet: &Packet, field: FieldRef) -> u128 {
        todo!()
    }

    /// A table by its P4 name.
    pub fn table(&self, name: &str) -> Option<TableId> {
        todo!()
    }

    /// The key fields of a table.
    pub fn table_key(&self, table: TableId) -> &[KeyField] {
        todo!()
    }

    /// How many entries a table holds at most.
    pub fn table_size(&self, table: TableId) -> usize {
        todo!()
    }

    /// An action by its P4 name, among those a table may use.
    pub fn table_action(&self, table: TableId, name: &str) -> Option<ActionId> {
        todo!()
    }

    /// The P4 name of an action.
    pub fn action_name(&self, action: ActionId) -> &str {
        todo!()
    }

    /// The parameters of an action: name and width in bits.
    pub fn action_params(&self, action: ActionId) -> &[(String, u32)] {
        todo!()
    }

    /// Adds an entry. `priority`: as in P4Runtime the largest match wins (ignored by exact and LPM tables).
    pub fn table_insert(
        &mut self,
        table: TableId,
        key: &[MatchKey],
        priority: i32,
        action: &ActionCall,
    ) -> Result<EntryHandle, TableError> {
        todo!()
    }

    /// The entry with exactly this key (and priority), if there is one.
    pub fn table_find(&self, table: TableId, key: &[MatchKey], priority: i32) -> Option<EntryHandle> {
        todo!()
    }

    /// Replaces what an entry does; its counter and meter stay.
    pub fn table_modify(&mut self, table: TableId, entry: EntryHandle, action: &ActionCall) -> Result<(), TableError> {
        todo!()
    }

    /// Removes an entry.
    pub fn table_delete(&mut self, table: TableId, entry: EntryHandle) -> Result<(), TableError> {
        todo!()
    }

    /// Replaces the default action, all its parameters at once; `None` restores the program's own.
    pub fn table_set_default(&mut self, table: TableId, action: Option<&ActionCall>) -> Result<(), TableError> {
        todo!()
    }

    /// The current default action; `None` where the program and the controller set none.
    pub fn table_default(&self, table: TableId) -> Option<ActionCall> {
        todo!()
    }

    /// All entries, in the order of their insertion as far as slots were not used again.
    pub fn table_entries(&self, table: TableId) -> Vec<EntryView> {
        todo!()
    }

    /// One entry.
    pub fn table_entry(&self, table: TableId, entry: EntryHandle) -> Result<EntryView, TableError> {
        todo!()
    }

    /// When the entry last matched, or was added.
    pub fn last_hit(&self, table: TableId, entry: EntryHandle) -> Result<Nanos, TableError> {
        todo!()
    }

    /// Whether the table has direct counters.
    pub fn has_direct_counter(&self, table: TableId) -> bool {
        todo!()
    }

    /// Reads an entry's direct counter.
    pub fn direct_counter(&self, table: TableId, entry: EntryHandle) -> Result<Count, TableError> {
        todo!()
    }

    /// Sets an entry's direct counter.
    pub fn set_direct_counter(&mut self, table: TableId, entry: EntryHandle, count: Count) -> Result<(), TableError> {
        todo!()
    }

    /// Whether the table has direct meters.
    pub fn has_direct_meter(&self, table: TableId) -> bool {
        todo!()
    }

    /// Reads an entry's direct meter; `None` while unconfigured (everything is green).
    pub fn direct_meter(&self, table: TableId, entry: EntryHandle) -> Result<Option<MeterConfig>, TableError> {
        todo!()
    }

    /// Configures an entry's direct meter; `None` makes everything green again.
    pub fn set_direct_meter(
        &mut self,
        table: TableId,
        entry: EntryHandle,
        config: Option<MeterConfig>,
    ) -> Result<(), TableError> {
        todo!()
    }

    /// An action profile or selector by its P4 name.
    pub fn action_profile(&self, name: &str) -> Option<ProfileId> {
        todo!()
    }

    /// The action profile a table is implemented by.
    pub fn table_profile(&self, table: TableId) -> Option<ProfileId> {
        todo!()
    }

    /// An action by its P4 name, among those the profile's tables may use.
    pub fn profile_action(&self, profile: ProfileId, name: &str) -> Option<ActionId> {
        todo!()
    }

    /// Adds a member with an identifier of the caller's choice.
    pub fn member_insert(
        &mut self,
        profile: ProfileId,
        member: u32,
        action: ActionId,
        params: &[Vec<u8>],
    ) -> Result<(), TableError> {
        todo!()
    }

    /// Replaces a member's action.
    pub fn member_modify(
        &mut self,
        profile: ProfileId,
        member: u32,
        action: ActionId,
        params: &[Vec<u8>],
    ) -> Result<(), TableError> {
        todo!()
    }

    /// Removes a member that no entry and no group uses.
    pub fn member_delete(&mut self, profile: ProfileId, member: u32) -> Result<(), TableError> {
        todo!()
    }

    /// Adds a group of members; a member given n times gets n shares.
    pub fn group_insert(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), TableError> {
        todo!()
    }

    /// Replaces a group's members.
    pub fn group_modify(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<(), TableError> {
        todo!()
    }

    /// Removes a group that no entry uses.
    pub fn group_delete(&mut self, profile: ProfileId, group: u32) -> Result<(), TableError> {
        todo!()
    }

    /// An indirect counter array by its P4 name.
    pub fn counter(&self, name: &str) -> Option<CounterId> {
        todo!()
    }

    /// How many cells a counter array has.
    pub fn counter_size(&self, counter: CounterId) -> usize {
        todo!()
    }

    /// Reads a counter cell.
    pub fn counter_read(&self, counter: CounterId, cell: usize) -> Result<Count, TableError> {
        todo!()
    }

    /// Sets a counter cell.
    pub fn counter_write(&mut self, counter: CounterId, cell: usize, count: Count) -> Result<(), TableError> {
        todo!()
    }

    /// A register array by its P4 name.
    pub fn register(&self, name: &str) -> Option<RegisterId> {
        todo!()
    }

    /// How many cells a register array has.
    pub fn register_size(&self, register: RegisterId) -> usize {
        todo!()
    }

    /// Width of a register's cells in bits.
    pub fn register_width(&self, register: RegisterId) -> u32 {
        todo!()
    }

    /// Reads a register cell: big-endian, as many bytes as the width needs.
    pub fn register_read(&self, register: RegisterId, cell: usize) -> Result<Vec<u8>, TableError> {
        todo!()
    }

    /// Writes a register cell from big-endian bytes.
    pub fn register_write(&mut self, register: RegisterId, cell: usize, value: &[u8]) -> Result<(), TableError> {
        todo!()
    }

    /// From now on writes by the P4 program to this register are ignored: its cells belong to the caller.
    pub fn register_protect(&mut self, register: RegisterId) {
        todo!()
    }

    /// Stores a cell of a register of at most 64 bits; without effect on a cell that does not exist.
    pub fn register_store(&mut self, register: RegisterId, cell: usize, value: u64) {
        todo!()
    }

    /// An indirect meter array by its P4 name.
    pub fn meter(&self, name: &str) -> Option<MeterId> {
        todo!()
    }

    /// How many cells a meter array has.
    pub fn meter_size(&self, meter: MeterId) -> usize {
        todo!()
    }

    /// Reads a meter cell; `None` while unconfigured (everything is green).
    pub fn meter_read(&self, meter: MeterId, cell: usize) -> Result<Option<MeterConfig>, TableError> {
        todo!()
    }

    /// Configures a meter cell, with full buckets; `None` makes everything green again.
    pub fn meter_write(&mut self, meter: MeterId, cell: usize, config: Option<MeterConfig>) -> Result<(), TableError> {
        todo!()
    }

    /// Creates or replaces a multicast group: port and `egress_rid` of each copy.
    pub fn mcast_group_set(&mut self, group: u16, replicas: Vec<(Port, u16)>) {
        todo!()
    }

    /// Removes a multicast group; whether there was one.
    pub fn mcast_group_delete(&mut self, group: u16) -> bool {
        todo!()
    }

    /// Creates or replaces a clone session (0..=32767).
    pub fn clone_session_set(&mut self, session: u16, config: CloneSession) {
        todo!()
    }

    /// Removes a clone session; whether there was one.
    pub fn clone_session_delete(&mut self, session: u16) -> bool {
        todo!()
    }

    /// A parser value set by its P4 name.
    pub fn value_set(&self, name: &str) -> Option<ValueSetId> {
        todo!()
    }

    /// Width in bits of the values of a parser value set.
    pub fn value_set_width(&self, set: ValueSetId) -> u32 {
        todo!()
    }

    /// Replaces the members of a parser value set (big-endian).
    pub fn value_set_write(&mut self, set: ValueSetId, members: &[Vec<u8>]) -> Result<(), TableError> {
        todo!()
    }

    /// The P4 name of a digest.
    pub fn digest_name(&self, digest: DigestId) -> &str {
        todo!()
    }
}
