//! Calls into the compiled code of a program.
#![allow(unsafe_code)] // Calls into code made at run time.

use super::code::Code;
use super::native::{Entry, FAILED, FrameFunction};
use super::state::State;
use super::states::Parser;
use super::value_set::ValueSet;

/// A pointer that compiled code passes on to its callbacks. It never looks inside.
pub(crate) struct Context<'a> {
    pub code: &'a Code,
    pub state: &'a mut State,
    pub parser: Option<(&'a Parser, &'a [ValueSet])>,
}

/// Runs compiled code; `entry` comes from `code.native`.
#[inline]
pub(crate) fn call(entry: Entry, code: &Code, state: &mut State) {
    let words = state.words.as_mut_ptr();
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: The entry belongs to this code and state (`Native::new`). Both live during the call, and nobody else uses
    // them. The code stays within its memory: the words of the state, and arrays that never move.
    unsafe { entry(words, (&raw mut context).cast()) }
}

/// Parses the frame of the state, and puts the start of the rest into `payload`. Returns the error that stopped the
/// parser.
pub(crate) fn parse(
    entry: FrameFunction,
    code: &Code,
    state: &mut State,
    parser: (&Parser, &[ValueSet]),
) -> Option<u32> {
    let words = state.words.as_mut_ptr();
    let (frame, length) = (state.frame.as_mut_ptr(), state.frame.len() as u64);
    let mut context = Context {
        code,
        state,
        parser: Some(parser),
    };
    // SAFETY: As in `call`. The parser reads only below the length, and its callbacks do not change the frame.
    let result = unsafe { entry(words, (&raw mut context).cast(), frame, length) };
    context.state.payload = (result & ((1 << FAILED) - 1)) as usize;
    (result >> FAILED).checked_sub(1).map(|error| error as u32)
}

/// Writes the valid headers in front of the bytes that the parser did not extract. Returns false if it wrote nothing.
pub(crate) fn deparse(code: &Code, state: &mut State, number: usize) -> bool {
    let native = code.native.as_ref();
    let Some(entry) = native.and_then(|native| native.deparser(number)) else {
        return false;
    };
    let words = state.words.as_mut_ptr();
    let parsed = state.payload.min(state.frame.len());
    let end = state.frame.headroom() + parsed;
    state.frame.begin_at(0);
    // SAFETY: `end` is in the buffer, and the frame begins at the start of the buffer.
    let place = unsafe { state.frame.as_mut_ptr().add(end) };
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: As in `call`. The deparser writes only in front of the place, and no more bytes than the buffer has
    // there.
    let written = unsafe { entry(words, (&raw mut context).cast(), place, end as u64) };
    let start = if written == 0 {
        end - parsed
    } else {
        end + 1 - written as usize
    };
    context.state.frame.begin_at(start);
    written != 0
}

/// A checksum over fields, if it was compiled.
pub(crate) fn checksum(code: &Code, state: &mut State, calculation: u32) -> Option<u64> {
    let native = code.native.as_ref()?;
    let entry = native.checksum(calculation as usize)?;
    Some(ask(entry, code, state))
}

/// True if a checksum that the program verifies is wrong, if its check was compiled.
#[inline]
pub(crate) fn verify(code: &Code, state: &mut State) -> Option<bool> {
    let entry = code.native.as_ref()?.verify()?;
    Some(ask(entry, code, state) != 0)
}

/// Calls a function that does not use the frame.
#[inline]
fn ask(entry: FrameFunction, code: &Code, state: &mut State) -> u64 {
    let words = state.words.as_mut_ptr();
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: As in `call`. It reads and writes only words.
    unsafe { entry(words, (&raw mut context).cast(), std::ptr::null_mut(), 0) }
}
