//! The machine code of a program.
//!
//! `compile/` makes it from the operations that the interpreter runs. It uses the same words, registers and counters,
//! so machine code and interpreter can replace each other at any call.

use std::ffi::c_void;
use std::fmt;

use super::ops::Address;

/// Code from one address to its `End`. Arguments: the words of the state, and the context for its callbacks.
pub(crate) type Entry = unsafe extern "C" fn(*mut u64, *mut c_void);

/// A parser, a deparser, a checksum or the check of all checksums. It has two more arguments, bytes and a number, and
/// returns a number.
///
/// A parser gets the frame and its length; for its errors see [`packed_error`]. A deparser gets the end of the parsed
/// bytes and the number of bytes in front of it. It returns the number of bytes written plus 1, or 0 if there is not
/// enough room. A checksum uses neither.
pub(crate) type FrameFunction = unsafe extern "C" fn(*mut u64, *mut c_void, *mut u8, u64) -> u64;

/// Bits of a parser's result for the number of bytes read, or for the next state; the error is above them.
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
    /// Indexed by address; `None` where no code begins.
    pub code: Vec<Option<Entry>>,
    /// Indexed by number of the parser.
    pub parsers: Vec<FrameFunction>,
    /// Indexed by the number of the parser that read the headers.
    pub deparsers: Vec<Option<FrameFunction>>,
    /// True if the deparsers update the checksums.
    pub updates: bool,
    /// Returns whether a checksum is wrong.
    pub verify: Option<FrameFunction>,
    /// Indexed by number of the calculation.
    pub checksums: Vec<Option<FrameFunction>>,
}

pub(crate) struct Native {
    entries: Entries,
    /// Owns the memory of the code, and frees it.
    _memory: Box<dyn Send>,
}

impl Native {
    /// # Safety
    /// Each entry is a function in `memory` and lives as long as `memory`. It was compiled from the code and for the
    /// state that `call.rs` passes. It touches only the words, registers and counters of this state.
    #[allow(unsafe_code)]
    pub unsafe fn new(entries: Entries, memory: Box<dyn Send>) -> Native {
        Native {
            entries,
            _memory: memory,
        }
    }

    /// Code from an address on, if it was compiled.
    #[inline]
    pub fn entry(&self, start: Address) -> Option<Entry> {
        self.entries.code.get(start as usize).copied().flatten()
    }

    /// Deparser for headers that parser `number` has read, if it was compiled.
    #[inline]
    pub fn deparser(&self, number: usize) -> Option<FrameFunction> {
        self.entries.deparsers.get(number).copied().flatten()
    }

    /// Function of a calculation, if it was compiled.
    #[inline]
    pub fn checksum(&self, number: usize) -> Option<FrameFunction> {
        self.entries.checksums.get(number).copied().flatten()
    }

    /// Check of all verified checksums, if it was compiled.
    #[inline]
    pub fn verify(&self) -> Option<FrameFunction> {
        self.entries.verify
    }

    #[inline]
    pub fn parser(&self, number: usize) -> Option<FrameFunction> {
        self.entries.parsers.get(number).copied()
    }

    /// True if the deparsers update the checksums.
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
