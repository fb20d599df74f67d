//! Callbacks of compiled code into the interpreter.
#![allow(unsafe_code)] // The pointers that compiled code passes back.

use std::ffi::c_void;

use super::call::Context;
use super::machine::{self, LookupResult};
use super::native::{HIT, NO_ACTION, packed_error};
use super::observer::Nobody;

/// Interprets one operation.
///
/// # Safety
/// `context` is the one that the calling code got.
pub(crate) unsafe extern "C" fn step(context: *mut c_void, at: u64) {
    // SAFETY: It points to the context of `call`, which waits for this function and does not use it meanwhile.
    let context = unsafe { &mut *context.cast::<Context>() };
    machine::single(context.code, context.state, &context.code.ops[at as usize]);
}

/// Looks up the packet in a table, and stores the parameters of the action. Returns the index of the action in the
/// table.
///
/// # Safety
/// Same as [`step`].
pub(crate) unsafe extern "C" fn choose(context: *mut c_void, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let (slot, following) = machine::look_up(context.code, context.state, table as u32);
    packed_choice(slot, following)
}

/// Same as [`choose`], for a table whose key is one word, with this key.
///
/// # Safety
/// Same as [`step`].
pub(crate) unsafe extern "C" fn choose_by_word(context: *mut c_void, table: u64, key: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let (slot, following) = machine::look_up_word(context.code, context.state, table as u32, key);
    packed_choice(slot, following)
}

#[inline]
fn packed_choice(slot: Option<u32>, following: LookupResult) -> u64 {
    let choice = match following {
        LookupResult::Action { choice, .. } => choice,
        LookupResult::Member(_) | LookupResult::Group(_) | LookupResult::Nothing => NO_ACTION,
    };
    u64::from(choice) | if slot.is_some() { HIT } else { 0 }
}

/// Applies a table, with its counters and meters. Returns the address to continue at.
///
/// # Safety
/// Same as [`step`].
pub(crate) unsafe extern "C" fn apply(context: *mut c_void, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    u64::from(machine::apply(context.code, context.state, table as u32, &mut Nobody))
}

/// Interprets one operation of the parser. `place`: state (upper half) and operation. Returns the new position of the
/// parser, or the error.
///
/// # Safety
/// Same as [`step`].
pub(crate) unsafe extern "C" fn parse_op(context: *mut c_void, place: u64, at: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let Some((parser, _)) = context.parser else { return at };
    let op = &parser.states[(place >> 32) as usize].ops[place as u32 as usize];
    let mut place = at as usize;
    match parser.execute(context.code, context.state, op, &mut place, &mut Nobody) {
        Ok(()) => place as u64,
        Err(error) => packed_error(error) | at,
    }
}

/// Chooses the next state of the parser. Returns its number plus 1, 0 if there is none, or the error.
///
/// # Safety
/// Same as [`step`].
pub(crate) unsafe extern "C" fn parse_next(context: *mut c_void, current: u64, at: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let Some((parser, sets)) = context.parser else { return 0 };
    let current = &parser.states[current as usize];
    match parser.next(context.code, sets, context.state, current, at as usize, &mut Nobody) {
        Ok(next) => next.map_or(0, |state| u64::from(state) + 1),
        Err(error) => packed_error(error) | at,
    }
}
