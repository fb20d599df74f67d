//! The control plane's view of counters, registers, meters, value sets, multicast groups and clone sessions.

use std::collections::HashMap;
use std::ops::Range;

use crate::bits::{from_bytes, mask, to_bytes};
use crate::errors::TableError;
use crate::ids::{CounterId, CrcId, DigestId, MeterId, Port, RegisterId, ValueSetId};
use crate::run::hash::{Algorithm, CrcParameters, Polynomial};
use crate::run::meter::Meter;
use crate::run::pipeline::Pipeline;
use crate::values::{CloneSession, Count, CustomCrc, MeterConfig};

fn no_cell(array: &str, cell: usize, size: usize) -> TableError {
    TableError::NoCell {
        array: array.to_string(),
        cell,
        size,
    }
}

fn named(names: &HashMap<String, u32>, name: &str) -> Option<u32> {
    names.get(name).copied()
}

impl MeterConfig {
    /// Checks that the peak rate is not below the committed rate.
    pub(crate) fn check(self, name: &str) -> Result<MeterConfig, TableError> {
        if self.pir < self.cir {
            let problem = format!("the peak rate {} is below the committed rate {}", self.pir, self.cir);
            return Err(TableError::BadValue(name.to_string(), problem));
        }
        Ok(self)
    }
}

/// Counters.
impl Pipeline {
    /// Finds an indirect counter array by its P4 name.
    pub fn counter(&self, name: &str) -> Option<CounterId> {
        named(&self.core.names.counters, name).map(CounterId)
    }

    /// Number of cells in a counter array.
    pub fn counter_size(&self, counter: CounterId) -> usize {
        self.core.state.counters[counter.index()].len()
    }

    pub fn counter_read(&self, counter: CounterId, cell: usize) -> Result<Count, TableError> {
        let array = &self.core.state.counters[counter.index()];
        array.read(cell).ok_or_else(|| no_cell(&array.name, cell, array.len()))
    }

    pub fn counter_write(&mut self, counter: CounterId, cell: usize, count: Count) -> Result<(), TableError> {
        let array = &mut self.core.state.counters[counter.index()];
        if array.write(cell, count) {
            Ok(())
        } else {
            Err(no_cell(&array.name, cell, array.len()))
        }
    }
}

/// Registers.
impl Pipeline {
    /// Finds a register array by its P4 name.
    pub fn register(&self, name: &str) -> Option<RegisterId> {
        named(&self.core.names.registers, name).map(RegisterId)
    }

    /// Number of cells in a register array.
    pub fn register_size(&self, register: RegisterId) -> usize {
        self.core.state.registers.0[register.index()].size
    }

    /// Width of a register's cells in bits.
    pub fn register_width(&self, register: RegisterId) -> u32 {
        self.core.state.registers.0[register.index()].width
    }

    /// Reads a register cell: big-endian, as many bytes as the width needs.
    pub fn register_read(&self, register: RegisterId, cell: usize) -> Result<Vec<u8>, TableError> {
        let array = &self.core.state.registers.0[register.index()];
        match array.cell(cell) {
            Some(words) => Ok(to_bytes(words, array.width)),
            None => Err(no_cell(&array.name, cell, array.size)),
        }
    }

    /// Writes a register cell from big-endian bytes.
    pub fn register_write(&mut self, register: RegisterId, cell: usize, value: &[u8]) -> Result<(), TableError> {
        let array = &mut self.core.state.registers.0[register.index()];
        let (width, size) = (array.width, array.size);
        let Some(words) = from_bytes(value, width) else {
            return Err(TableError::BadValue(
                array.name.clone(),
                format!("the value does not fit into {width} bits"),
            ));
        };
        match array.cell_mut(cell) {
            Some(place) => {
                place.copy_from_slice(&words);
                Ok(())
            }
            None => Err(no_cell(&array.name, cell, size)),
        }
    }

    /// Makes writes of the P4 program to this register have no effect: only the caller writes its cells.
    pub fn register_protect(&mut self, register: RegisterId) {
        self.core.state.registers.0[register.index()].protected = true;
    }

    /// Stores a value in some cells of a register of at most 64 bits. Cells that do not exist are ignored.
    #[inline]
    pub fn register_store(&mut self, register: RegisterId, cells: Range<usize>, value: u64) {
        let array = &mut self.core.state.registers.0[register.index()];
        // Each cell is one word.
        let last = cells.end.min(array.cells.len());
        if array.stride == 1
            && let Some(places) = array.cells.get_mut(cells.start..last)
        {
            places.fill(value & mask(array.width));
        }
    }
}

/// Meters.
impl Pipeline {
    /// Finds an indirect meter array by its P4 name.
    pub fn meter(&self, name: &str) -> Option<MeterId> {
        named(&self.core.names.meters, name).map(MeterId)
    }

    /// Number of cells in a meter array.
    pub fn meter_size(&self, meter: MeterId) -> usize {
        self.core.state.meters[meter.index()].cells.len()
    }

    fn meter_cell(&self, meter: MeterId, cell: usize) -> Result<Option<&Meter>, TableError> {
        let array = &self.core.state.meters[meter.index()];
        let found = array.cells.get(cell).map(Option::as_deref);
        found.ok_or_else(|| no_cell(&array.name, cell, array.cells.len()))
    }

    /// Reads a meter cell; `None` if it is not configured (all packets are green).
    pub fn meter_read(&self, meter: MeterId, cell: usize) -> Result<Option<MeterConfig>, TableError> {
        Ok(self.meter_cell(meter, cell)?.and_then(Meter::config))
    }

    /// Configures a meter cell, with full buckets; `None` makes all packets green again. The counts of colours stay.
    pub fn meter_write(&mut self, meter: MeterId, cell: usize, config: Option<MeterConfig>) -> Result<(), TableError> {
        let array = &mut self.core.state.meters[meter.index()];
        let config = config.map(|config| config.check(&array.name)).transpose()?;
        let size = array.cells.len();
        match array.cells.get_mut(cell) {
            // A cell that is not configured takes no memory.
            Some(None) if config.is_none() => Ok(()),
            Some(place) => {
                place.get_or_insert_default().configure(config);
                Ok(())
            }
            None => Err(no_cell(&array.name, cell, size)),
        }
    }

    /// Green, yellow and red packets of a meter cell.
    pub fn meter_counts(&self, meter: MeterId, cell: usize) -> Result<[Count; 3], TableError> {
        Ok(self
            .meter_cell(meter, cell)?
            .map_or_else(Default::default, |meter| meter.counts))
    }

    /// Sets the counts of green, yellow and red packets of a meter cell.
    pub fn set_meter_counts(&mut self, meter: MeterId, cell: usize, counts: [Count; 3]) -> Result<(), TableError> {
        self.meter_cell(meter, cell)?;
        let place = &mut self.core.state.meters[meter.index()].cells[cell];
        if place.is_some() || counts != [Count::default(); 3] {
            place.get_or_insert_default().counts = counts;
        }
        Ok(())
    }
}

/// Hashes.
impl Pipeline {
    /// Finds a hash that the control plane may change (`crc16_custom`, `crc32_custom`), and its width in bits.
    pub fn custom_crc(&self, name: &str) -> Option<(CrcId, u32)> {
        let &(index, width) = self.core.names.crcs.get(name)?;
        Some((CrcId(index), width))
    }

    /// Changes the parameters of a hash; bits beyond its width are ignored.
    pub fn set_custom_crc(&mut self, crc: CrcId, parameters: CustomCrc) {
        let width = self.core.names.crcs.values().find(|(index, _)| *index == crc.0);
        let Some(&(_, width)) = width else { return };
        let polynomial = Polynomial::new(CrcParameters {
            width,
            coefficient: parameters.polynomial & mask(width),
            reversed: parameters.reflect_input,
            mirrored: parameters.reflect_input != parameters.reflect_output,
            init: parameters.initial & mask(width),
            xor: parameters.final_xor & mask(width),
            output_width: width,
            ..CrcParameters::default()
        });
        self.core.state.algorithms[crc.index()] = Algorithm::Polynomial(Box::new(polynomial));
    }
}

/// Replication, value sets, digests.
impl Pipeline {
    /// Creates or replaces a multicast group. Each replica has a port and an `egress_rid`.
    pub fn mcast_group_set(&mut self, group: u16, replicas: Vec<(Port, u16)>) {
        self.core.groups.insert(group, replicas);
    }

    /// Removes a multicast group. Returns false if it does not exist.
    pub fn mcast_group_delete(&mut self, group: u16) -> bool {
        self.core.groups.remove(&group).is_some()
    }

    /// Creates or replaces a clone session (0..=32767).
    pub fn clone_session_set(&mut self, session: u16, config: CloneSession) {
        self.core.sessions.insert(session, config);
    }

    /// Removes a clone session. Returns false if it does not exist.
    pub fn clone_session_delete(&mut self, session: u16) -> bool {
        self.core.sessions.remove(&session).is_some()
    }

    pub fn clone_session(&self, session: u16) -> Option<&CloneSession> {
        self.core.sessions.get(&session)
    }

    /// All parser value sets, in the order of the JSON.
    pub fn value_set_ids(&self) -> impl Iterator<Item = ValueSetId> + use<> {
        (0..self.core.sets.len() as u32).map(ValueSetId)
    }

    /// The P4 name of a parser value set.
    pub fn value_set_name(&self, set: ValueSetId) -> &str {
        &self.core.sets[set.index()].name
    }

    /// Finds a parser value set by its P4 name.
    pub fn value_set(&self, name: &str) -> Option<ValueSetId> {
        self.core
            .sets
            .iter()
            .position(|set| set.name == name)
            .map(|index| ValueSetId(index as u32))
    }

    /// Width in bits of the values of a parser value set.
    pub fn value_set_width(&self, set: ValueSetId) -> u32 {
        self.core.sets[set.index()].width
    }

    /// Replaces the members of a parser value set (big-endian).
    pub fn value_set_write(&mut self, set: ValueSetId, members: &[Vec<u8>]) -> Result<(), TableError> {
        let all = vec![0xff; self.value_set_width(set).div_ceil(8) as usize];
        let members: Vec<_> = members.iter().map(|value| (value.clone(), all.clone())).collect();
        self.value_set_write_masked(set, &members)
    }

    /// Replaces the members of a parser value set. Each has a value and a mask (big-endian). Bits outside the mask
    /// match any value.
    pub fn value_set_write_masked(
        &mut self,
        set: ValueSetId,
        members: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<(), TableError> {
        let set = &mut self.core.sets[set.index()];
        if members.iter().any(|(value, _)| from_bytes(value, set.width).is_none()) {
            let problem = format!("a member does not fit into {} bits", set.width);
            return Err(TableError::BadValue(set.name.clone(), problem));
        }
        set.write(members);
        Ok(())
    }

    /// The P4 name of a digest.
    pub fn digest_name(&self, digest: DigestId) -> &str {
        &self.core.program.digests[digest.index()].name
    }
}
