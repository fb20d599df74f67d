//! Writes the control flow of a pipeline as one piece of code.
//!
//! Conditions become jumps. p4c makes every statement a table without a key, with a constant default action. The code
//! of this action replaces the table. Every other table is one operation, which also says where the code continues.

use super::builder::Builder;
use super::graph::{NextNodes, Node};
use crate::run::code::Mark;
use crate::run::entries::Call;
use crate::run::ops::{Address, Op};
use crate::run::table::{Action, TableProgram};

/// Longer actions are called, not copied.
const MAX_COPIED: u32 = 64;

pub(crate) struct Linear<'a, 'l> {
    builder: &'a mut Builder<'l>,
    nodes: &'a [Node],
    following: &'a [NextNodes],
    tables: &'a mut [TableProgram],
    actions: &'a [Action],
    addresses: Vec<Option<Address>>,
    /// Jumps to nodes that may have no address yet.
    jumps: Vec<(usize, Option<u32>)>,
}

impl<'a, 'l> Linear<'a, 'l> {
    pub fn new(
        builder: &'a mut Builder<'l>,
        nodes: &'a [Node],
        following: &'a [NextNodes],
        tables: &'a mut [TableProgram],
        actions: &'a [Action],
    ) -> Self {
        let addresses = vec![None; nodes.len()];
        Linear {
            builder,
            nodes,
            following,
            tables,
            actions,
            addresses,
            jumps: Vec::new(),
        }
    }

    /// Emits all nodes that can be reached from a node, and returns its address.
    pub fn emit(mut self, first: Option<u32>) -> Address {
        let end = self.builder.address();
        self.builder.push(Op::End);
        let mut pending: Vec<u32> = first.into_iter().collect();
        let mut applied = Vec::new();
        while let Some(node) = pending.pop() {
            if self.addresses[node as usize].is_none() {
                self.chain(node, &mut pending, &mut applied);
            }
        }
        let address = |node: Option<u32>| node.and_then(|node| self.addresses[node as usize]).unwrap_or(end);
        for (at, target) in &self.jumps {
            self.builder.code[*at].set_target(address(*target));
        }
        for table in applied {
            let following = &self.following[table as usize];
            let table = &mut self.tables[table as usize];
            for (action, next) in table.actions.iter_mut().zip(&following.actions) {
                action.1 = address(*next);
            }
            table.hit_miss = following.hit_miss.map(|(hit, miss)| (address(hit), address(miss)));
            table.otherwise = address(following.otherwise);
        }
        address(first)
    }

    /// Emits a node and the nodes after it, up to the first one with more than one successor.
    fn chain(&mut self, first: u32, pending: &mut Vec<u32>, applied: &mut Vec<u32>) {
        let mut next = Some(first);
        while let Some(node) = next {
            if self.addresses[node as usize].is_some() {
                return self.jump(Op::Jump { to: 0 }, Some(node));
            }
            self.addresses[node as usize] = Some(self.builder.address());
            next = match &self.nodes[node as usize] {
                Node::Condition {
                    name,
                    source,
                    truth,
                    yes,
                    no,
                } => {
                    let a = self.builder.truth(truth);
                    let op = self.builder.fuse_jump(a);
                    self.builder.end_statement();
                    let at = self.builder.address();
                    self.jump(op, *no);
                    self.builder
                        .mark(at, Mark::Condition(Some(name.clone()), source.clone()));
                    pending.extend(no);
                    *yes
                }
                Node::Action { action, next } => {
                    self.inline(*action, &[], None);
                    *next
                }
                Node::Table(table) => match self.statement(*table) {
                    Some((action, params, next)) => {
                        self.inline(action, &params, Some(*table));
                        next
                    }
                    None => {
                        self.builder.push(Op::Apply { table: *table });
                        applied.push(*table);
                        pending.extend(self.following[*table as usize].all());
                        return;
                    }
                },
            };
        }
        self.builder.push(Op::End);
    }

    fn jump(&mut self, op: Op, to: Option<u32>) {
        self.jumps.push((self.builder.code.len(), to));
        self.builder.push(op);
    }

    /// If a table always runs the same action: this action, its parameters, and the next node.
    fn statement(&self, table: u32) -> Option<(u32, Vec<u64>, Option<u32>)> {
        let (program, following) = (&self.tables[table as usize], &self.following[table as usize]);
        let fixed = program.key.is_empty() && program.const_default_entry && program.profile.is_none();
        let Some(Call::Action { action, choice, params }) = &program.initial_default else {
            return None;
        };
        let next = match following.hit_miss {
            Some((_, miss)) => miss,
            None => following.actions[*choice as usize],
        };
        fixed.then(|| (*action, params.to_vec(), next))
    }

    /// Writes the code of an action instead of its table, or a call of the action.
    fn inline(&mut self, index: u32, params: &[u64], table: Option<u32>) {
        let action = &self.actions[index as usize];
        for (index, &value) in params.iter().enumerate() {
            let (a, m) = (self.builder.constant(value), self.builder.constant(u64::MAX));
            self.builder.push(Op::Move {
                d: self.builder.param_base + index as u32,
                a,
                m,
            });
        }
        let moved = self.builder.address();
        // An action without code has no address, so it gets no mark.
        if action.end > action.start {
            let table = table.map(Mark::Table);
            let marks = table.into_iter().chain([Mark::Action(index)]);
            self.builder.marks.extend(marks.map(|mark| (moved, mark)));
        }
        if action.end - action.start > MAX_COPIED {
            return self.builder.push(Op::Call { to: action.start });
        }
        let within = |(at, _): &&(Address, Mark)| (action.start..action.end).contains(at);
        let copied = self.builder.marks.iter().filter(within);
        let copied: Vec<_> = copied
            .map(|(at, mark)| (at - action.start + moved, mark.clone()))
            .collect();
        self.builder.marks.extend(copied);
        for at in action.start..action.end {
            let mut op = self.builder.code[at as usize].clone();
            if let Some(target) = op.target() {
                op.set_target(target - action.start + moved);
            }
            self.builder.push(op);
        }
    }
}
