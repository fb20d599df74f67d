//! The mutable state of a running program: registers, counters, meters, randomness, and the working packet.

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

/// The mutable part of a pipeline that flat code uses.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// PHV, action parameters, constants and intermediate results.
    pub words: Vec<u64>,
    /// Frame of the working packet.
    pub frame: Frame,
    /// Start of the unparsed part.
    pub payload: usize,
    pub now: Nanos,
    pub tables: Vec<TableState>,
    pub profiles: Vec<Profile>,
    pub registers: Registers,
    pub counters: Vec<CounterArray>,
    pub meters: Vec<MeterArray>,
    pub filters: Vec<FilterArray>,
    /// Algorithms, one for each calculation.
    pub algorithms: Vec<Algorithm>,
    pub random: Random,
    /// Buffer for the key of a table or parser state.
    pub key: Vec<u64>,
    /// Buffer for the input of a calculation.
    pub scratch: Vec<u8>,
    /// Messages of `log_msg`, oldest first.
    pub log: Vec<String>,
    pub failed_assertions: u64,
}

impl State {
    /// Puts the bytes that `write` appends in front of the working frame.
    pub fn write_in_front(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        write(&mut self.scratch);
        self.frame.replace_front(0, &self.scratch);
    }

    /// Resets registers, counters, meters, filters and randomness to their state after loading.
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

/// Arrays of cells. Compiled code has their addresses, so no array is added or replaced after loading.
#[derive(Debug, Default)]
pub(crate) struct Registers(pub Box<[RegisterArray]>);

#[derive(Debug)]
pub(crate) struct RegisterArray {
    pub name: String,
    pub width: u32,
    pub size: usize,
    pub stride: usize,
    pub cells: Box<[u64]>,
    /// Initial value of a cell.
    pub initial: Vec<u64>,
    /// True if writes of the program are ignored.
    pub protected: bool,
}

impl RegisterArray {
    /// `initial`: words of each cell.
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

    /// Resets a cell to its initial value, if it exists.
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
    /// The words of a cell; zero if the cell does not exist.
    pub fn words(&self, register: u32, cell: u64) -> &[u64] {
        let cell = usize::try_from(cell).unwrap_or(usize::MAX);
        self.0[register as usize].cell(cell).unwrap_or(&[0])
    }
}

#[derive(Debug)]
pub(crate) struct CounterArray {
    pub name: String,
    /// Packets and bytes of each cell. Compiled code has their address.
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

    /// Address of the cells; each has two words.
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
