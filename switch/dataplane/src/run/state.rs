//! What a running program changes: registers, counters, meters, randomness, and the packet at work.

use super::filter::FilterArray;
use super::hash::Algorithm;
use super::meter::MeterArray;
use super::profile::Profile;
use super::table::TableState;
use crate::bits::words;
use crate::ids::Nanos;
use crate::values::Count;

/// The mutable half of a pipeline, as far as flat code touches it.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// PHV, action parameters, constants and intermediate results.
    pub words: Vec<u64>,
    /// The frame of the packet at work.
    pub frame: Vec<u8>,
    /// Where its unparsed part begins.
    pub payload: usize,
    pub now: Nanos,
    pub tables: Vec<TableState>,
    pub profiles: Vec<Profile>,
    pub registers: Registers,
    pub counters: Vec<CounterArray>,
    pub meters: Vec<MeterArray>,
    pub filters: Vec<FilterArray>,
    /// One for each calculation.
    pub algorithms: Vec<Algorithm>,
    pub random: Random,
    /// The key of a table or parser state.
    pub key: Vec<u64>,
    /// Input of a calculation.
    pub scratch: Vec<u8>,
    /// Messages of `log_msg`, oldest first.
    pub log: Vec<String>,
    pub failed_assertions: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Registers(pub Vec<RegisterArray>);

#[derive(Debug)]
pub(crate) struct RegisterArray {
    pub name: String,
    pub width: u32,
    pub size: usize,
    /// Words of one cell.
    pub stride: usize,
    pub cells: Vec<u64>,
    /// What a cell holds at first.
    pub initial: Vec<u64>,
    /// The program's writes are ignored.
    pub protected: bool,
}

impl RegisterArray {
    /// `initial`: the words of each cell.
    pub fn new(name: String, width: u32, size: usize, initial: Vec<u64>) -> Self {
        let stride = words(width);
        RegisterArray {
            name,
            width,
            size,
            stride,
            cells: initial.repeat(size),
            initial,
            protected: false,
        }
    }

    /// The words of a cell.
    pub fn cell(&self, cell: usize) -> Option<&[u64]> {
        let start = cell.checked_mul(self.stride)?;
        self.cells.get(start..start.checked_add(self.stride)?)
    }

    /// Gives a cell its initial value, if there is such a cell.
    pub fn reset(&mut self, cell: usize) {
        let start = cell.saturating_mul(self.stride);
        if let Some(place) = self.cells.get_mut(start..start.saturating_add(self.stride)) {
            place.copy_from_slice(&self.initial);
        }
    }

    pub fn cell_mut(&mut self, cell: usize) -> Option<&mut [u64]> {
        let start = cell.checked_mul(self.stride)?;
        self.cells.get_mut(start..start.checked_add(self.stride)?)
    }
}

impl Registers {
    /// The words of a cell; zero if there is no such cell.
    pub fn words(&self, register: u32, cell: u64) -> &[u64] {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        self.0[register as usize].cell(cell).unwrap_or(&[0])
    }
}

#[derive(Debug)]
pub(crate) struct CounterArray {
    pub name: String,
    pub packets: Vec<u64>,
    pub bytes: Vec<u64>,
}

impl CounterArray {
    pub fn new(name: String, size: usize) -> Self {
        CounterArray {
            name,
            packets: vec![0; size],
            bytes: vec![0; size],
        }
    }

    #[inline]
    pub fn count(&mut self, cell: u64, length: u64) {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        if let (Some(packets), Some(bytes)) = (self.packets.get_mut(cell), self.bytes.get_mut(cell)) {
            *packets = packets.wrapping_add(1);
            *bytes = bytes.wrapping_add(length);
        }
    }

    pub fn read(&self, cell: usize) -> Option<Count> {
        Some(Count {
            packets: *self.packets.get(cell)?,
            bytes: *self.bytes.get(cell)?,
        })
    }

    pub fn write(&mut self, cell: usize, count: Count) -> bool {
        match (self.packets.get_mut(cell), self.bytes.get_mut(cell)) {
            (Some(packets), Some(bytes)) => {
                (*packets, *bytes) = (count.packets, count.bytes);
                true
            }
            _ => false,
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, seedable, reproducible.
#[derive(Debug, Default)]
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    /// Uniform from low to high, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(span) => low + ((u128::from(self.next()) * u128::from(span)) >> 64) as u64,
            None => self.next(),
        }
    }
}
