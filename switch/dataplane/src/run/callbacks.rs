//! The functions that a program's compiled code calls: work that it leaves to the interpreter.
#![allow(unsafe_code)] // The pointers that compiled code passes back.

use std::ffi::c_void;

use super::call::Context;
use super::machine::{self, Following};
use super::native::{HIT, NO_ACTION, packed_error};
use super::observer::Nobody;

/// One operation, as the interpreter does it.
///
/// # Safety
/// `context` is what the calling code was given.
pub(crate) unsafe extern "C" fn step(context: *mut c_void, at: u64) {
    // SAFETY: It points to the context of `call`, which waits for us and does not use it meanwhile.
    let context = unsafe { &mut *context.cast::<Context>() };
    machine::single(context.code, context.state, &context.code.ops[at as usize]);
}

/// Looks the packet up in a table, and puts the parameters of the action in their place. Returns which of the table's actions.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn choose(context: *mut c_void, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let (slot, following) = machine::look_up(context.code, context.state, table as u32);
    packed_choice(slot, following)
}

/// As [`choose`], in a table whose key is one word: with the key.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn choose_by_word(context: *mut c_void, table: u64, key: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    let (slot, following) = machine::look_up_word(context.code, context.state, table as u32, key);
    packed_choice(slot, following)
}

#[inline]
fn packed_choice(slot: Option<u32>, following: Following) -> u64 {
    let choice = match following {
        Following::Action { choice, .. } => choice,
        Following::Member(_) | Following::Group(_) | Following::Nothing => NO_ACTION,
    };
    u64::from(choice) | if slot.is_some() { HIT } else { 0 }
}

/// Applies a table with all that belongs to it. Returns where to go on.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn apply(context: *mut c_void, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context.cast::<Context>() };
    u64::from(machine::apply(context.code, context.state, table as u32, &mut Nobody))
}

/// One operation of the parser, as the interpreter does it: state (upper half) and operation, and where the parser is. Returns where
/// it is then, or the error.
///
/// # Safety
/// As [`step`].
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

/// The number of the state after this one plus 1, 0 if there is none, or the error.
///
/// # Safety
/// As [`step`].
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
