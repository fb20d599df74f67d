//! A program's code for the processor: how it is called, and what it calls.
//!
//! `compile/` makes it from the operations that the interpreter runs. It reads and writes the same words, registers and counters,
//! so the two can take turns at any call.
#![allow(unsafe_code)] // Calls into code made at run time, and the pointers that it passes back.

use std::fmt;

use super::code::Code;
use super::machine::{self, Following};
use super::ops::Address;
use super::state::State;

/// Code from one address on, until its `End`. It gets the words of the state, and the [`Context`] for calls back.
pub(crate) type Entry = unsafe extern "C" fn(*mut u64, *mut Context);

/// What compiled code hands back to the functions that it calls. It never looks inside.
pub(crate) struct Context<'a> {
    code: &'a Code,
    state: &'a mut State,
}

/// Code for the processor.
pub(crate) struct Native {
    /// By address; none where nothing begins.
    entries: Vec<Option<Entry>>,
    /// Keeps the code's memory, and frees it.
    _memory: Box<dyn Send>,
}

impl Native {
    /// # Safety
    /// Each entry is a function in `memory` that lives as long as it. It was compiled from the code and for the state that
    /// [`Native::call`] gets, and touches nothing but the state's words, registers and counters.
    pub unsafe fn new(entries: Vec<Option<Entry>>, memory: Box<dyn Send>) -> Native {
        Native {
            entries,
            _memory: memory,
        }
    }

    /// The code from an address on, if it was compiled.
    #[inline]
    pub fn entry(&self, start: Address) -> Option<Entry> {
        self.entries.get(start as usize).copied().flatten()
    }
}

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").finish_non_exhaustive()
    }
}

/// Runs compiled code; `entry` comes from `code.native`.
#[inline]
pub(crate) fn call(entry: Entry, code: &Code, state: &mut State) {
    let words = state.words.as_mut_ptr();
    let mut context = Context { code, state };
    // SAFETY: The entry belongs to this code and state (`Native::new`). Both live during the call, and nobody else has them. The code
    // stays inside of what it was compiled for: as many words as the state has, and arrays that never move.
    unsafe { entry(words, &raw mut context) }
}

/// One operation, as the interpreter does it.
///
/// # Safety
/// `context` is what the calling code was given.
pub(crate) unsafe extern "C" fn step(context: *mut Context, at: u64) {
    // SAFETY: It points to the context of `call`, which waits for us and does not use it meanwhile.
    let context = unsafe { &mut *context };
    machine::single(context.code, context.state, &context.code.ops[at as usize]);
}

/// Set in the result of [`choose`] if an entry matched.
pub(crate) const HIT: u64 = 1 << 32;
/// In the low bits of the result of [`choose`]: there is no action.
pub(crate) const NO_ACTION: u32 = u32::MAX;

/// Looks the packet up in a table, and puts the parameters of the action in their place. Returns which of the table's actions.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn choose(context: *mut Context, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
    let (hit, following) = machine::look_up(context.code, context.state, table as u32);
    let choice = match following {
        Following::Action { choice, .. } => choice,
        Following::Indirect(_) | Following::Nothing => NO_ACTION,
    };
    u64::from(choice) | if hit { HIT } else { 0 }
}

/// Applies a table with all that belongs to it. Returns where to go on.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn apply(context: *mut Context, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
    u64::from(machine::apply(context.code, context.state, table as u32))
}
