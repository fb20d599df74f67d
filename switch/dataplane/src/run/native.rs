//! A program's code for the processor.
//!
//! `compile/` makes it from the operations that the interpreter runs. It reads and writes the same words, registers and counters,
//! so the two can take turns at any call.

use std::ffi::c_void;
use std::fmt;

use super::ops::Address;

/// Code from one address on, until its `End`. It gets the words of the state, and what it hands to the functions
/// that it calls back.
pub(crate) type Entry = unsafe extern "C" fn(*mut u64, *mut c_void);

/// A parser, a deparser, a checksum or all that are verified: also gets bytes and a number, and returns a number.
///
/// A parser gets the frame and its length, and returns what [`packed_error`] says. A deparser gets the end of what the parser has
/// read, and how many bytes there are in front of it. It returns how many it has written there and 1, or 0 if they are too few. A
/// checksum gets neither.
pub(crate) type Asked = unsafe extern "C" fn(*mut u64, *mut c_void, *mut u8, u64) -> u64;

/// Bits of a parser's result that hold the bytes it has read, or the state that follows; above them is the error.
pub(crate) const FAILED: u32 = 31;

/// An error in the result of a parser.
pub(crate) fn packed_error(error: u32) -> u64 {
    (u64::from(error) + 1) << FAILED
}

/// Set in the result of a lookup if an entry matched.
pub(crate) const HIT: u64 = 1 << 32;
/// In the low bits of the result of a lookup: there is no action.
pub(crate) const NO_ACTION: u32 = u32::MAX;

/// All functions of a program.
#[derive(Default)]
pub(crate) struct Entries {
    /// By address; none where nothing begins.
    pub code: Vec<Option<Entry>>,
    /// By the parsers' number.
    pub parsers: Vec<Asked>,
    /// By the number of the parser that read the headers.
    pub deparsers: Vec<Option<Asked>>,
    /// Whether the deparsers update the checksums.
    pub updates: bool,
    /// Returns whether a checksum is wrong.
    pub verify: Option<Asked>,
    /// By the number of the calculation.
    pub checksums: Vec<Option<Asked>>,
}

/// Code for the processor.
pub(crate) struct Native {
    entries: Entries,
    /// Keeps the code's memory, and frees it.
    _memory: Box<dyn Send>,
}

impl Native {
    /// # Safety
    /// Each entry is a function in `memory` that lives as long as it. It was compiled from the code and for the state that
    /// `call.rs` passes, and touches nothing but the state's words, registers and counters.
    #[allow(unsafe_code)]
    pub unsafe fn new(entries: Entries, memory: Box<dyn Send>) -> Native {
        Native {
            entries,
            _memory: memory,
        }
    }

    /// The code from an address on, if it was compiled.
    #[inline]
    pub fn entry(&self, start: Address) -> Option<Entry> {
        self.entries.code.get(start as usize).copied().flatten()
    }

    /// The deparser for headers that the parser of this number has read, if it was compiled.
    #[inline]
    pub fn deparser(&self, number: usize) -> Option<Asked> {
        self.entries.deparsers.get(number).copied().flatten()
    }

    /// A calculation, if it was compiled.
    #[inline]
    pub fn checksum(&self, number: usize) -> Option<Asked> {
        self.entries.checksums.get(number).copied().flatten()
    }

    /// All checksums that are verified, if that was compiled.
    #[inline]
    pub fn verify(&self) -> Option<Asked> {
        self.entries.verify
    }

    #[inline]
    pub fn parser(&self, number: usize) -> Option<Asked> {
        self.entries.parsers.get(number).copied()
    }

    /// Whether the deparsers update the checksums.
    #[inline]
    pub fn updates(&self) -> bool {
        self.entries.updates
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}
