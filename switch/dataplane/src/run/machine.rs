//! Executes flat code.

use super::call;
use super::code::Code;
use super::entries::{Call, Params};
use super::exact::{Int, arithmetic};
use super::expr::Arithmetic;
use super::header_ops;
use super::layout::register;
use super::observer::Observer;
use super::ops::{Address, LogMessage, Op, Target, Word};
use super::state::State;
use super::table::{TableProgram, TableState};
use crate::bits::mask;

/// Most backward jumps in one run, so that endless loops end.
pub(crate) const MAX_LOOPS: u32 = 1 << 16;

/// Most messages of `log_msg` that are kept until they are read.
const MAX_LOG: usize = 1024;

/// Runs code from an address to `End` or `Exit`: as machine code, if it was compiled.
#[inline]
pub(crate) fn run<O: Observer>(code: &Code, state: &mut State, start: Address, observer: &mut O) {
    match code.native.as_ref().and_then(|native| native.entry(start)) {
        Some(entry) => call::call(entry, code, state),
        None => interpret(code, state, start, observer),
    }
}

fn interpret<O: Observer>(code: &Code, state: &mut State, start: Address, observer: &mut O) {
    let mut pc = start as usize;
    let mut loops = 0;
    while let Some(op) = code.ops.get(pc) {
        observer.before_op(code, state, pc as Address);
        pc += 1;
        let w = &state.words;
        let (jumps, to) = match *op {
            Op::End => return,
            Op::Exit => {
                state.words[register::EXIT as usize] = 1;
                return;
            }
            Op::Jump { to } => (true, to),
            Op::JumpIfZero { a, to } => (get(w, a) == 0, to),
            Op::JumpIfNotZero { a, to } => (get(w, a) != 0, to),
            Op::JumpUnlessEqual { a, b, to } => (get(w, a) != get(w, b), to),
            Op::JumpUnlessLess { a, b, to } => (get(w, a) >= get(w, b), to),
            Op::JumpUnlessLessOrEqual { a, b, to } => (get(w, a) > get(w, b), to),
            Op::Apply { table } => {
                let next = apply(code, state, table, observer);
                if state.words[register::EXIT as usize] != 0 {
                    return;
                }
                (true, next)
            }
            Op::Call { to } => {
                run(code, state, to, observer);
                if state.words[register::EXIT as usize] != 0 {
                    return;
                }
                continue;
            }
            _ => {
                step(code, state, op);
                observer.after_op(code, state, op);
                continue;
            }
        };
        observer.after_branch(code, pc as Address - 1, !jumps);
        if jumps {
            if (to as usize) < pc {
                loops += 1;
                if loops > MAX_LOOPS {
                    return;
                }
            }
            pc = to as usize;
        }
    }
}

/// Result of a table lookup.
#[derive(Clone, Copy)]
pub(crate) enum LookupResult {
    /// An action, and its position in the table. Its parameters have been stored.
    Action { action: u32, choice: u32 },
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action profile.
    Group(u32),
    /// No entry matched, and there is no default action.
    Nothing,
}

/// Looks up the packet in a table and runs the action; returns the address to continue at.
pub(crate) fn apply<O: Observer>(code: &Code, state: &mut State, index: u32, observer: &mut O) -> Address {
    let table = &code.tables[index as usize];
    let (slot, following) = look_up(code, state, index);
    observer.after_lookup(code, state, index, slot);
    let following = match following {
        LookupResult::Action { action, choice } => {
            observer.before_action(code, state, action, None);
            run(code, state, code.actions[action as usize].start, observer);
            table.actions[choice as usize].1
        }
        LookupResult::Member(_) | LookupResult::Group(_) => apply_indirect(code, state, table, following, observer),
        LookupResult::Nothing => table.otherwise,
    };
    match (table.hit_miss, slot.is_some()) {
        (Some((hit, _)), true) => hit,
        (Some((_, miss)), false) => miss,
        (None, _) => following,
    }
}

/// Looks up the packet in a table. Returns the slot of the matching entry, and the result of this entry or of the
/// default action. Updates the counter and the meter.
#[inline(always)]
pub(crate) fn look_up(code: &Code, state: &mut State, index: u32) -> (Option<u32>, LookupResult) {
    let entries = &mut state.tables[index as usize].entries;
    entries.prepare();
    let slot = entries.lookup(&state.words, &mut state.key);
    (slot, follow(code, state, index, slot))
}

/// Same as above, for a table whose key is one word, with this key.
#[inline(always)]
pub(crate) fn look_up_word(code: &Code, state: &mut State, index: u32, key: u64) -> (Option<u32>, LookupResult) {
    let entries = &mut state.tables[index as usize].entries;
    entries.prepare();
    let slot = entries.lookup_word(key);
    (slot, follow(code, state, index, slot))
}

#[inline(always)]
fn follow(code: &Code, state: &mut State, index: u32, slot: Option<u32>) -> LookupResult {
    let table = &code.tables[index as usize];
    let TableState {
        entries,
        default,
        missed,
        default_meter,
    } = &mut state.tables[index as usize];
    if let Some(direct) = &table.direct {
        state.words[direct.cell as usize] = slot.map_or(u64::MAX, u64::from);
    }
    let call = match slot.and_then(|slot| entries.entry_mut(slot)) {
        Some(entry) => {
            entry.last_hit = state.now;
            let length = state.words[register::ARRIVED as usize];
            if table.with_counters {
                entry.count.packets = entry.count.packets.wrapping_add(1);
                entry.count.bytes = entry.count.bytes.wrapping_add(length);
            }
            if let Some(meter) = table.meter {
                let now = state.now;
                let colour = meter.kind.execute(&mut entry.meter, length, now);
                state.words[meter.target as usize] = colour & meter.keep;
            }
            Some(&entry.call)
        }
        None => {
            let length = state.words[register::ARRIVED as usize];
            if table.with_counters {
                missed.packets = missed.packets.wrapping_add(1);
                missed.bytes = missed.bytes.wrapping_add(length);
            }
            // Without rates, the field keeps its value, as in BMv2.
            if let (Some(meter), true) = (table.meter, default_meter.is_some()) {
                let colour = meter.kind.execute(default_meter, length, state.now);
                state.words[meter.target as usize] = colour & meter.keep;
            }
            default.as_ref()
        }
    };
    match call {
        Some(&Call::Action {
            action,
            choice,
            ref params,
        }) => {
            put_params(&mut state.words[code.param_base..], params);
            LookupResult::Action { action, choice }
        }
        Some(&Call::Member(member)) => LookupResult::Member(member),
        Some(&Call::Group(group)) => LookupResult::Group(group),
        None => LookupResult::Nothing,
    }
}

/// Stores the parameters of an action. They are usually few, so it uses no loop and calls no copy function.
#[inline]
fn put_params(places: &mut [u64], params: &Params) {
    match params {
        Params::Few(0, _) => {}
        Params::Few(1, [first, _]) => places[0] = *first,
        Params::Few(_, both) => places[..both.len()].copy_from_slice(both),
        Params::Many(words) => places[..words.len()].copy_from_slice(words),
    }
}

/// Runs the action of a member or a group; an empty group has no action.
fn apply_indirect<O: Observer>(
    code: &Code,
    state: &mut State,
    table: &TableProgram,
    chosen: LookupResult,
    observer: &mut O,
) -> Address {
    let Some(profile) = table.profile.map(|profile| profile as usize) else {
        return table.otherwise;
    };
    let (member, group) = match chosen {
        LookupResult::Group(group) => {
            let Some(selector) = state.profiles[profile].selector else {
                return table.otherwise;
            };
            let chosen = if state.profiles[profile].at_random.contains(&group) {
                state.random.next()
            } else {
                compute(code, selector, state)
            };
            let members = state.profiles[profile]
                .groups
                .get(&group)
                .map_or(&[][..], |members| members);
            match chosen.checked_rem(members.len() as u64) {
                Some(chosen) => (members[chosen as usize], Some(group)),
                None => return table.otherwise,
            }
        }
        LookupResult::Member(member) => (member, None),
        LookupResult::Action { .. } | LookupResult::Nothing => return table.otherwise,
    };
    let Some(Call::Action { action, params, .. }) = state.profiles[profile].members.get(&member) else {
        return table.otherwise;
    };
    state.words[code.param_base..code.param_base + params.len()].copy_from_slice(params);
    let action = *action;
    observer.before_action(code, state, action, Some((member, group)));
    run(code, state, code.actions[action as usize].start, observer);
    table
        .actions
        .iter()
        .find(|(other, _)| *other == action)
        .map_or(table.otherwise, |(_, next)| *next)
}

/// Executes one operation that neither jumps nor ends.
#[inline(never)]
pub(crate) fn single(code: &Code, state: &mut State, op: &Op) {
    step(code, state, op);
}

#[inline(always)]
fn step(code: &Code, state: &mut State, op: &Op) {
    let w = state.words.as_mut_slice();
    match *op {
        Op::Move { d, a, m } => w[d as usize] = get(w, a) & get(w, m),
        Op::Add { d, a, b, m } => w[d as usize] = get(w, a).wrapping_add(get(w, b)) & get(w, m),
        Op::Sub { d, a, b, m } => w[d as usize] = get(w, a).wrapping_sub(get(w, b)) & get(w, m),
        Op::Mul { d, a, b, m } => w[d as usize] = get(w, a).wrapping_mul(get(w, b)) & get(w, m),
        Op::And { d, a, b, m } => w[d as usize] = get(w, a) & get(w, b) & get(w, m),
        Op::Or { d, a, b, m } => w[d as usize] = (get(w, a) | get(w, b)) & get(w, m),
        Op::Xor { d, a, b, m } => w[d as usize] = (get(w, a) ^ get(w, b)) & get(w, m),
        Op::Not { d, a, m } => w[d as usize] = !get(w, a) & get(w, m),
        Op::Shl { d, a, b, m } => {
            let amount = get(w, b);
            w[d as usize] = if amount < 64 {
                (get(w, a) << amount) & get(w, m)
            } else {
                0
            };
        }
        Op::Shr { d, a, b, m } => {
            let amount = get(w, b);
            w[d as usize] = if amount < 64 {
                (get(w, a) >> amount) & get(w, m)
            } else {
                0
            };
        }
        Op::Sar { d, a, b, m } => {
            w[d as usize] = ((get(w, a) as i64) >> get(w, b).min(63)) as u64 & get(w, m);
        }
        Op::Div { d, a, b, m } => w[d as usize] = get(w, a).checked_div(get(w, b)).unwrap_or(0) & get(w, m),
        Op::Rem { d, a, b, m } => w[d as usize] = get(w, a).checked_rem(get(w, b)).unwrap_or(0) & get(w, m),
        Op::SignExtend { d, a, shift } => w[d as usize] = (((get(w, a) << shift) as i64) >> shift) as u64,
        Op::Clamp { d, a, low, high } => w[d as usize] = get(w, a).max(get(w, low)).min(get(w, high)),
        Op::ClampSigned { d, a, low, high } => {
            w[d as usize] = (get(w, a) as i64).max(get(w, low) as i64).min(get(w, high) as i64) as u64;
        }
        Op::Equal { d, a, b } => w[d as usize] = u64::from(get(w, a) == get(w, b)),
        Op::Less { d, a, b } => w[d as usize] = u64::from(get(w, a) < get(w, b)),
        Op::LessOrEqual { d, a, b } => w[d as usize] = u64::from(get(w, a) <= get(w, b)),
        Op::LessSigned { d, a, b } => w[d as usize] = u64::from((get(w, a) as i64) < get(w, b) as i64),
        Op::LessOrEqualSigned { d, a, b } => w[d as usize] = u64::from(get(w, a) as i64 <= get(w, b) as i64),
        Op::IsZero { d, a } => w[d as usize] = u64::from(get(w, a) == 0),
        Op::Select { d, c, a, b } => w[d as usize] = if get(w, c) != 0 { get(w, a) } else { get(w, b) },
        Op::Copy { d, a, n } => w.copy_within(a as usize..(a + n) as usize, d as usize),
        Op::EqualWords { d, a, b, n } => {
            let (a, b, n) = (a as usize, b as usize, n as usize);
            w[d as usize] = u64::from(w[a..a + n] == w[b..b + n]);
        }
        Op::RegisterRead {
            d,
            register,
            cell,
            m,
            missing,
        } => {
            let array = &state.registers.0[register as usize];
            w[d as usize] = match array.cells.get(get(w, cell) as usize) {
                Some(&value) => value & get(w, m),
                None => get(w, missing),
            };
        }
        Op::RegisterWrite { register, cell, a } => {
            let array = &mut state.registers.0[register as usize];
            if !array.protected
                && let Some(place) = array.cells.get_mut(get(w, cell) as usize)
            {
                *place = get(w, a) & mask(array.width);
            }
        }
        Op::Count { counter, cell } => {
            let length = w[register::ARRIVED as usize];
            state.counters[counter as usize].count(get(w, cell), length);
        }
        _ => rare(code, state, op),
    }
}

#[inline(always)]
fn get(words: &[u64], index: Word) -> u64 {
    words[index as usize]
}

/// Rare operations, kept out of the hot loop.
#[inline(never)]
fn rare(code: &Code, state: &mut State, op: &Op) {
    let word = |index: Word| state.words[index as usize];
    match op {
        Op::Load { d, list, i, offset } => {
            let value = match code.element(*list, word(*i)) {
                Some(header) => word(code.layout.headers[header as usize].valid + offset),
                None => 0,
            };
            state.words[*d as usize] = value;
        }
        Op::Store { list, i, offset, a, m } => {
            if let Some(header) = code.element(*list, word(*i)) {
                let value = word(*a) & word(*m);
                state.words[(code.layout.headers[header as usize].valid + offset) as usize] = value;
            }
        }
        Op::Evaluate { d, expr } => state.words[*d as usize] = code.env(state).data(expr).low64(),
        Op::EvaluateBool { d, expr } => state.words[*d as usize] = u64::from(code.env(state).bool(expr)),
        Op::Assign(assignment) => {
            let value = code.env(state).data(&assignment.value);
            assign(code, state, &assignment.to, &value);
        }
        Op::Meter { meter, cell, d, m } => {
            let (cell, keep, length) = (word(*cell), word(*m), word(register::ARRIVED));
            if let Some(colour) = state.meters[*meter as usize].execute(cell, length, state.now) {
                state.words[*d as usize] = colour & keep;
            }
        }
        Op::Filter { filter, cell, a, d, m } => {
            let (cell, sample, keep) = (word(*cell), word(*a), word(*m));
            let State {
                filters, random, now, ..
            } = state;
            let result = filters[*filter as usize].execute(cell, sample, *now, random);
            state.words[*d as usize] = result & keep;
        }
        Op::Hash {
            calculation,
            base,
            size,
            d,
            m,
        } => {
            let hash = compute(code, *calculation, state);
            let word = |index: Word| state.words[index as usize];
            // BMv2 treats a size of 0 as 1.
            let value = (hash % word(*size).max(1)).wrapping_add(word(*base)) & word(*m);
            state.words[*d as usize] = value;
        }
        Op::Random { low, high, d, m } => {
            let (low, high, keep) = (word(*low), word(*high), word(*m));
            // BMv2 leaves the destination unchanged if the interval is empty.
            if low <= high {
                state.words[*d as usize] = state.random.between(low, high) & keep;
            }
        }
        Op::Truncate { a } => {
            let keep = word(*a).min(word(register::TRUNCATE));
            state.words[register::TRUNCATE as usize] = keep;
        }
        Op::Assert { a } => state.failed_assertions += u64::from(word(*a) == 0),
        Op::Log(message) => log(code, state, message),
        _ => header_ops::execute(code, state, op),
    }
}

fn assign(code: &Code, state: &mut State, to: &Target, value: &Int) {
    match to {
        Target::Field(field) => store_field(code, state, *field, value),
        Target::FieldOf(header, offset) => {
            if let Some(header) = code.env(state).header(header) {
                store_field(
                    code,
                    state,
                    code.layout.headers[header as usize].first_field + offset,
                    value,
                );
            }
        }
        Target::Register(register, index) => {
            let index = code.env(state).data(index).low64();
            let array = &mut state.registers.0[*register as usize];
            let width = array.width;
            if !array.protected
                && let Some(cell) = array.cell_mut(usize::try_from(index).unwrap_or(usize::MAX))
            {
                value.store(width, cell);
            }
        }
        Target::Varbit(to, from) => {
            let (to, from) = (&code.layout.fields[*to as usize], &code.layout.fields[*from as usize]);
            if let (Some(to_length), Some(from_length)) = (to.length, from.length) {
                let bits = state.words[from_length as usize].min(u64::from(to.width));
                state.words[to_length as usize] = bits;
                let n = to.words().min(from.words());
                state.words[to.span()].fill(0);
                state
                    .words
                    .copy_within(from.slot as usize..from.slot as usize + n, to.slot as usize);
            }
        }
    }
}

fn store_field(code: &Code, state: &mut State, field: u32, value: &Int) {
    let field = &code.layout.fields[field as usize];
    let out = &mut state.words[field.span()];
    if field.saturating {
        let op = match field.signed {
            true => Arithmetic::SaturateSigned,
            false => Arithmetic::SaturateUnsigned,
        };
        arithmetic(op, value, &Int::Small(i128::from(field.width))).store(field.width, out);
    } else {
        value.store(field.width, out);
    }
}

/// Computes a calculation of the program on the packet. Never inlined: it would take registers from the interpreter's
/// loop.
#[inline(never)]
pub(crate) fn compute(code: &Code, index: u32, state: &mut State) -> u64 {
    if let Some(checksum) = call::checksum(code, state, index) {
        return checksum;
    }
    code.calculations[index as usize].gather(&code.layout, state);
    state.algorithms[index as usize].compute(&state.scratch)
}

/// Replaces each `{}` of the format in order, as BMv2's `log_msg` does.
fn log(code: &Code, state: &mut State, message: &LogMessage) {
    if state.log.len() >= MAX_LOG {
        return;
    }
    let mut text = String::new();
    let mut values = message.values.iter();
    let mut rest = message.format.as_str();
    while let Some((before, after)) = rest.split_once("{}") {
        text.push_str(before);
        match values.next() {
            Some(value) => text.push_str(&code.env(state).data(value).to_string()),
            None => text.push_str("{}"),
        }
        rest = after;
    }
    text.push_str(rest);
    state.log.push(text);
}
