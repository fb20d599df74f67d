//! What a running program changes: registers, counters, meters, randomness, and the packet at work.

use super::filter::FilterArray;
use super::hash::Algorithm;
use super::meter::MeterArray;
use super::profile::Profile;
use super::random::Random;
use super::table::TableState;
use crate::bits::words;
use crate::frame::Frame;
use crate::ids::Nanos;
use crate::values::Count;

/// The mutable half of a pipeline, as far as flat code touches it.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// PHV, action parameters, constants and intermediate results.
    pub words: Vec<u64>,
    /// The frame of the packet at work.
    pub frame: Frame,
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

impl State {
    /// Puts what `write` appends in front of the frame at work.
    pub fn write_in_front(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        write(&mut self.scratch);
        self.frame.replace_front(0, &self.scratch);
    }

    /// Registers, counters, meters, filters and randomness as they were when the program was loaded.
    pub fn restart(&mut self) {
        for array in &mut self.registers.0 {
            (0..array.size).for_each(|cell| array.reset(cell));
        }
        self.counters.iter_mut().for_each(|array| array.cells.fill([0; 2]));
        self.meters.iter_mut().for_each(MeterArray::restart);
        self.filters.iter_mut().for_each(FilterArray::restart);
        self.random = Random::default();
    }
}

/// Compiled code knows where they are: no array is added or replaced once the program is loaded.
#[derive(Debug, Default)]
pub(crate) struct Registers(pub Box<[RegisterArray]>);

#[derive(Debug)]
pub(crate) struct RegisterArray {
    pub name: String,
    pub width: u32,
    pub size: usize,
    /// Words of one cell.
    pub stride: usize,
    pub cells: Box<[u64]>,
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
            cells: initial.repeat(size).into(),
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
    /// Packets and bytes of each cell. Compiled code knows where they are.
    cells: Box<[[u64; 2]]>,
}

impl CounterArray {
    pub fn new(name: String, size: usize) -> Self {
        CounterArray {
            name,
            cells: vec![[0; 2]; size].into(),
        }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Where the cells are, two words each.
    pub fn start(&mut self) -> *mut u64 {
        self.cells.as_mut_ptr().cast()
    }

    #[inline]
    pub fn count(&mut self, cell: u64, length: u64) {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        if let Some([packets, bytes]) = self.cells.get_mut(cell) {
            *packets = packets.wrapping_add(1);
            *bytes = bytes.wrapping_add(length);
        }
    }

    pub fn read(&self, cell: usize) -> Option<Count> {
        let &[packets, bytes] = self.cells.get(cell)?;
        Some(Count { packets, bytes })
    }

    pub fn write(&mut self, cell: usize, count: Count) -> bool {
        let place = self.cells.get_mut(cell);
        let found = place.is_some();
        if let Some(place) = place {
            *place = [count.packets, count.bytes];
        }
        found
    }
}
