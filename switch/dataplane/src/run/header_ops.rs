//! Operations on whole headers, unions and stacks.

use super::code::Code;
use super::expr::{HeaderExpr, UnionExpr};
use super::layout::{Layout, register};
use super::ops::{HeaderOp, Op};
use super::state::State;
use super::wire::header_bytes;

/// Executes an operation on whole headers or stacks.
pub(crate) fn execute(code: &Code, state: &mut State, op: &Op) {
    match op {
        Op::Header { what, header } => header_op(code, state, *what, *header),
        Op::HeaderAt { what, list, i } => {
            if let Some(header) = code.element(*list, state.words[*i as usize]) {
                header_op(code, state, *what, header);
            }
        }
        Op::CopyHeader { to, from } => copy_header(code, state, *to, *from),
        Op::CopyHeaderAt(pair) => {
            let (to, from): &(HeaderExpr, HeaderExpr) = pair;
            let env = code.env(state);
            if let (Some(to), Some(from)) = (env.header(to), env.header(from)) {
                copy_header(code, state, to, from);
            }
        }
        Op::CopyUnion(pair) => {
            let (to, from): &(UnionExpr, UnionExpr) = pair;
            let env = code.env(state);
            if let (Some(to), Some(from)) = (env.union(to), env.union(from)) {
                copy_union(code, state, to, from);
            }
        }
        Op::CopyStack { to, from } => {
            let (to, from) = (&code.layout.stacks[*to as usize], &code.layout.stacks[*from as usize]);
            state.words[to.next as usize] = state.words[from.next as usize];
            for (&to, &from) in to.headers.iter().zip(&from.headers) {
                copy_header(code, state, to, from);
            }
        }
        Op::CopyUnionStack { to, from } => {
            let (to, from) = (
                &code.layout.union_stacks[*to as usize],
                &code.layout.union_stacks[*from as usize],
            );
            state.words[to.next as usize] = state.words[from.next as usize];
            for (&to, &from) in to.unions.iter().zip(&from.unions) {
                copy_union(code, state, to, from);
            }
        }
        Op::Push { stack, n } | Op::Pop { stack, n } => {
            let stack = &code.layout.stacks[*stack as usize];
            let rows: Vec<&[u32]> = stack.headers.iter().map(std::slice::from_ref).collect();
            let forward = matches!(op, Op::Push { .. });
            shift(code, state, stack.next, &rows, state.words[*n as usize], forward);
        }
        Op::PushUnion { stack, n } | Op::PopUnion { stack, n } => {
            let stack = &code.layout.union_stacks[*stack as usize];
            let row = |&union: &u32| &code.layout.unions[union as usize].headers[..];
            let rows: Vec<&[u32]> = stack.unions.iter().map(row).collect();
            let forward = matches!(op, Op::PushUnion { .. });
            shift(code, state, stack.next, &rows, state.words[*n as usize], forward);
        }
        _ => {}
    }
}

fn header_op(code: &Code, state: &mut State, what: HeaderOp, header: u32) {
    let layout = &code.layout;
    let valid = layout.headers[header as usize].valid as usize;
    match what {
        HeaderOp::Add if state.words[valid] == 0 => {
            state.words[layout.headers[header as usize].block()].fill(0);
            mark_valid(layout, state, header);
            let bytes = header_bytes(layout, &state.words, header);
            let length = &mut state.words[register::LENGTH as usize];
            *length = length.wrapping_add(bytes as u64);
        }
        HeaderOp::Remove if state.words[valid] != 0 => {
            let bytes = header_bytes(layout, &state.words, header);
            let length = &mut state.words[register::LENGTH as usize];
            *length = length.saturating_sub(bytes as u64);
            state.words[valid] = 0;
        }
        HeaderOp::MarkValid => mark_valid(layout, state, header),
        HeaderOp::Add | HeaderOp::Remove => {}
    }
}

/// Makes a member of a union valid, and all other members invalid.
pub(crate) fn mark_valid(layout: &Layout, state: &mut State, header: u32) {
    let header = &layout.headers[header as usize];
    state.words[header.valid as usize] = 1;
    for &rival in &header.rivals {
        state.words[rival as usize] = 0;
    }
}

fn copy_header(code: &Code, state: &mut State, to: u32, from: u32) {
    let layout = &code.layout;
    let (target, source) = (&layout.headers[to as usize], &layout.headers[from as usize]);
    if state.words[source.valid as usize] == 0 {
        state.words[target.valid as usize] = 0;
    } else if target.len == source.len && to != from {
        state.words.copy_within(source.block(), target.valid as usize);
        mark_valid(layout, state, to);
    }
}

fn copy_union(code: &Code, state: &mut State, to: u32, from: u32) {
    let (to, from) = (
        &code.layout.unions[to as usize].headers,
        &code.layout.unions[from as usize].headers,
    );
    // The valid member comes last, so the other members do not make it invalid again.
    let pairs = to.iter().zip(from).map(|(&to, &from)| (to, from));
    let valid = |&(_, from): &(u32, u32)| state.words[code.layout.headers[from as usize].valid as usize] != 0;
    let (valid, invalid): (Vec<_>, Vec<_>) = pairs.partition(valid);
    for (to, from) in invalid.into_iter().chain(valid) {
        copy_header(code, state, to, from);
    }
}

/// `push_front` (forward) and `pop_front` of P4_16: elements move by n, new elements are invalid.
fn shift(code: &Code, state: &mut State, next: u32, rows: &[&[u32]], n: u64, forward: bool) {
    let size = rows.len();
    let n = usize::try_from(n).unwrap_or(size).min(size);
    let used = state.words[next as usize] as usize;
    state.words[next as usize] = if forward {
        (used + n).min(size)
    } else {
        used.saturating_sub(n)
    } as u64;
    for step in 0..size {
        // Starts at the end to which elements move, so none is overwritten before it has moved.
        let to = if forward { size - 1 - step } else { step };
        let from = if forward {
            to.checked_sub(n)
        } else {
            (to + n < size).then_some(to + n)
        };
        for (column, &header) in rows[to].iter().enumerate() {
            let target = &code.layout.headers[header as usize];
            match from {
                Some(from) => {
                    let source = code.layout.headers[rows[from][column] as usize].block();
                    if source.len() == target.len as usize {
                        state.words.copy_within(source, target.valid as usize);
                    }
                }
                None => state.words[target.valid as usize] = 0,
            }
        }
    }
}
