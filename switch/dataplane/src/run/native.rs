//! A program's code for the processor: how it is called, and what it calls.
//!
//! `compile/` makes it from the operations that the interpreter runs. It reads and writes the same words, registers and counters,
//! so the two can take turns at any call.
#![allow(unsafe_code)] // Calls into code made at run time, and the pointers that it passes back.

use std::fmt;

use super::code::Code;
use super::machine::{self, Following};
use super::observer::Nobody;
use super::ops::Address;
use super::parser::Parser;
use super::state::State;
use super::v1model::Checksum;
use super::value_set::ValueSet;

/// Code from one address on, until its `End`. It gets the words of the state, and the [`Context`] for calls back.
pub(crate) type Entry = unsafe extern "C" fn(*mut u64, *mut Context);

/// A parser, a deparser, a checksum or all that are verified: also gets bytes and a number, and returns a number.
///
/// A parser gets the frame and its length, and returns what [`packed_error`] says. A deparser gets the end of what the parser has
/// read, and how many bytes there are in front of it. It returns how many it has written there and 1, or 0 if they are too few. A
/// checksum gets neither.
pub(crate) type Asked = unsafe extern "C" fn(*mut u64, *mut Context, *mut u8, u64) -> u64;

/// What compiled code hands back to the functions that it calls. It never looks inside.
pub(crate) struct Context<'a> {
    code: &'a Code,
    state: &'a mut State,
    parser: Option<(&'a Parser, &'a [ValueSet])>,
}

/// What of a program is compiled.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    /// Where code begins that is run.
    pub entries: Vec<Address>,
    /// In the order of their numbers.
    pub parsers: Vec<&'a Parser>,
    /// For each parser the headers that are emitted when its packet goes on.
    pub emitted: Vec<&'a [u32]>,
    /// What is verified directly after the parser.
    pub verified: Option<&'a [Checksum]>,
    /// What is updated directly before the deparser.
    pub updated: Option<&'a [Checksum]>,
}

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
    /// [`Native::call`] gets, and touches nothing but the state's words, registers and counters.
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

/// Runs compiled code; `entry` comes from `code.native`.
#[inline]
pub(crate) fn call(entry: Entry, code: &Code, state: &mut State) {
    let words = state.words.as_mut_ptr();
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: The entry belongs to this code and state (`Native::new`). Both live during the call, and nobody else has them. The code
    // stays inside of what it was compiled for: as many words as the state has, and arrays that never move.
    unsafe { entry(words, &raw mut context) }
}

/// Bits of a parser's result that hold the bytes it has read, or the state that follows; above them is the error.
pub(crate) const FAILED: u32 = 31;

/// An error in the result of a parser.
pub(crate) fn packed_error(error: u32) -> u64 {
    (u64::from(error) + 1) << FAILED
}

/// Parses the frame of the state; leaves the start of the rest in `payload`. Returns the error that stopped it.
pub(crate) fn parse(entry: Asked, code: &Code, state: &mut State, parser: (&Parser, &[ValueSet])) -> Option<u32> {
    let words = state.words.as_mut_ptr();
    let (frame, length) = (state.frame.as_mut_ptr(), state.frame.len() as u64);
    let mut context = Context {
        code,
        state,
        parser: Some(parser),
    };
    // SAFETY: As in `call`. The parser reads only below the length, and nothing that it calls changes the frame.
    let result = unsafe { entry(words, &raw mut context, frame, length) };
    context.state.payload = (result & ((1 << FAILED) - 1)) as usize;
    (result >> FAILED).checked_sub(1).map(|error| error as u32)
}

/// Writes the valid headers in front of what the parser left alone. False if nothing was written.
pub(crate) fn deparse(code: &Code, state: &mut State, number: usize) -> bool {
    let native = code.native.as_ref();
    let Some(Some(entry)) = native.and_then(|native| native.entries.deparsers.get(number)) else {
        return false;
    };
    let words = state.words.as_mut_ptr();
    let parsed = state.payload.min(state.frame.len());
    let end = state.frame.headroom() + parsed;
    state.frame.begin_at(0);
    // SAFETY: `end` is in the buffer, which the frame begins at.
    let place = unsafe { state.frame.as_mut_ptr().add(end) };
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: As in `call`. The deparser writes in front of the place only, and no more bytes than the buffer has there.
    let written = unsafe { entry(words, &raw mut context, place, end as u64) };
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
    let entry = (*native.entries.checksums.get(calculation as usize)?)?;
    Some(ask(entry, code, state))
}

/// Whether a checksum that the program verifies is wrong, if that was compiled.
#[inline]
pub(crate) fn verify(code: &Code, state: &mut State) -> Option<bool> {
    let entry = code.native.as_ref()?.entries.verify?;
    Some(ask(entry, code, state) != 0)
}

/// Calls a function that needs no frame.
#[inline]
fn ask(entry: Asked, code: &Code, state: &mut State) -> u64 {
    let words = state.words.as_mut_ptr();
    let mut context = Context {
        code,
        state,
        parser: None,
    };
    // SAFETY: As in `call`. It reads and writes words only.
    unsafe { entry(words, &raw mut context, std::ptr::null_mut(), 0) }
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
    let (slot, following) = machine::look_up(context.code, context.state, table as u32);
    packed_choice(slot, following)
}

/// As [`choose`], in a table whose key is one word: with the key.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn choose_by_word(context: *mut Context, table: u64, key: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
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
pub(crate) unsafe extern "C" fn apply(context: *mut Context, table: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
    u64::from(machine::apply(context.code, context.state, table as u32, &mut Nobody))
}

/// One operation of the parser, as the interpreter does it: state (upper half) and operation, and where the parser is. Returns where
/// it is then, or the error.
///
/// # Safety
/// As [`step`].
pub(crate) unsafe extern "C" fn parse_op(context: *mut Context, place: u64, at: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
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
pub(crate) unsafe extern "C" fn parse_next(context: *mut Context, current: u64, at: u64) -> u64 {
    // SAFETY: As in `step`.
    let context = unsafe { &mut *context };
    let Some((parser, sets)) = context.parser else { return 0 };
    let current = &parser.states[current as usize];
    match parser.next(context.code, sets, context.state, current, at as usize, &mut Nobody) {
        Ok(next) => next.map_or(0, |state| u64::from(state) + 1),
        Err(error) => packed_error(error) | at,
    }
}
