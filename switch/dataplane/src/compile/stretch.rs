//! Jumps, tables and calls. A *stretch* is code that begins at one address.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::{Switch, Variable};

use super::function::Function;
use super::known::Known;
use crate::run::code::Code;
use crate::run::layout::register;
use crate::run::machine::MAX_LOOPS;
use crate::run::native::{HIT, NO_ACTION};
use crate::run::ops::{Address, Op};

/// Starts of the blocks of a stretch.
#[derive(Debug, Default)]
struct Shape {
    /// Addresses at which a block begins.
    leaders: BTreeSet<Address>,
    /// Addresses that a later operation jumps back to.
    loops: BTreeSet<Address>,
}

/// A stretch under translation.
struct Stretch {
    shape: Shape,
    blocks: BTreeMap<Address, Block>,
    /// Values known at the start of each block.
    known: BTreeMap<Address, Known>,
    /// Number of backward jumps taken, if the stretch has any.
    turns: Option<Variable>,
    end: Block,
    /// Values known at the end.
    at_end: Option<Known>,
}

impl Shape {
    fn of(code: &Code, start: Address) -> Shape {
        let mut shape = Shape::default();
        let mut pending = vec![start];
        shape.leaders.insert(start);
        while let Some(leader) = pending.pop() {
            let mut at = leader;
            loop {
                let next = successors(code, at);
                let through =
                    matches!(next.as_slice(), [only] if *only == at + 1) && !ends_block(&code.ops[at as usize]);
                if through {
                    at += 1;
                    continue;
                }
                for to in next {
                    if to <= at {
                        shape.loops.insert(to);
                    }
                    if shape.leaders.insert(to) {
                        pending.push(to);
                    }
                }
                break;
            }
        }
        shape
    }
}

/// True if a block ends with this operation.
fn ends_block(op: &Op) -> bool {
    op.target().is_some() || matches!(op, Op::Apply { .. } | Op::End | Op::Exit)
}

/// Addresses that may follow an operation.
fn successors(code: &Code, at: Address) -> Vec<Address> {
    match &code.ops[at as usize] {
        Op::End | Op::Exit => Vec::new(),
        Op::Jump { to } => vec![*to],
        Op::Apply { table } => {
            let table = &code.tables[*table as usize];
            let hit_miss = table.hit_miss.into_iter().flat_map(|(hit, miss)| [hit, miss]);
            let actions = table.actions.iter().map(|(_, next)| *next);
            let mut all: Vec<Address> = hit_miss.chain(actions).chain([table.otherwise]).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        op => op.target().into_iter().chain([at + 1]).collect(),
    }
}

impl Function<'_, '_> {
    /// True if code neither exits nor calls other code. Such code can be copied anywhere.
    pub fn is_simple(&self, start: Address) -> bool {
        let leaves = |op: &Op| matches!(op, Op::Exit | Op::Apply { .. } | Op::Call { .. });
        let shape = Shape::of(self.code, start);
        shape.leaders.iter().all(|&leader| {
            let block = &self.code.ops[leader as usize..];
            let end = block.iter().position(ends_block).unwrap_or(block.len() - 1);
            !block[..=end].iter().any(leaves)
        })
    }

    /// Translates the stretch at an address. Its `End` jumps to the block `end`. Afterwards, the values known at `end`
    /// are known.
    pub fn stretch(&mut self, start: Address, end: Block) {
        let shape = Shape::of(self.code, start);
        let blocks = shape.leaders.iter().map(|&at| (at, self.block())).collect();
        let turns = (!shape.loops.is_empty()).then(|| self.builder.declare_var(types::I32));
        if let Some(turns) = turns {
            let none = self.builder.ins().iconst(types::I32, 0);
            self.builder.def_var(turns, none);
        }
        let mut stretch = Stretch {
            shape,
            blocks,
            known: BTreeMap::new(),
            turns,
            end,
            at_end: None,
        };
        self.go(&mut stretch, start);
        // In order of addresses: all paths to a block come before it, except those that jump back.
        let leaders: Vec<Address> = stretch.shape.leaders.iter().copied().collect();
        for leader in leaders {
            self.builder.switch_to_block(stretch.blocks[&leader]);
            let known = stretch.known.remove(&leader);
            self.known = match stretch.shape.loops.contains(&leader) {
                true => Known::default(),
                false => known.unwrap_or_default(),
            };
            self.translate_block(&mut stretch, leader);
        }
        self.known = stretch.at_end.unwrap_or_default();
    }

    fn translate_block(&mut self, stretch: &mut Stretch, leader: Address) {
        let code = self.code;
        let mut at = leader;
        loop {
            if at != leader && stretch.shape.leaders.contains(&at) {
                return self.go(stretch, at);
            }
            match code.ops[at as usize] {
                Op::End => return self.finish(stretch),
                Op::Exit => {
                    let one = self.constant(1);
                    self.set(register::EXIT, one);
                    self.builder.ins().return_(&[]);
                    return;
                }
                Op::Jump { to } => return self.jump(stretch, at, to),
                Op::JumpIfZero { a, to } => {
                    let a = self.get(a);
                    return self.branch(stretch, at, a, at + 1, to);
                }
                Op::JumpIfNotZero { a, to } => {
                    let a = self.get(a);
                    return self.branch(stretch, at, a, to, at + 1);
                }
                Op::JumpUnlessEqual { a, b, to } => {
                    let holds = self.compare(IntCC::Equal, a, b);
                    return self.branch(stretch, at, holds, at + 1, to);
                }
                Op::JumpUnlessLess { a, b, to } => {
                    let holds = self.compare(IntCC::UnsignedLessThan, a, b);
                    return self.branch(stretch, at, holds, at + 1, to);
                }
                Op::JumpUnlessLessOrEqual { a, b, to } => {
                    let holds = self.compare(IntCC::UnsignedLessThanOrEqual, a, b);
                    return self.branch(stretch, at, holds, at + 1, to);
                }
                Op::Apply { table } => return self.apply(stretch, at, table),
                Op::Call { to } => self.call_stretch(to),
                _ => self.operation(at),
            }
            at += 1;
        }
    }

    /// Joins the known values of a block before a jump to it, and returns the block.
    fn arrive(&mut self, stretch: &mut Stretch, to: Address) -> Block {
        match stretch.known.get_mut(&to) {
            Some(known) => known.join(&self.known),
            None => {
                stretch.known.insert(to, self.known.clone());
            }
        }
        stretch.blocks[&to]
    }

    fn go(&mut self, stretch: &mut Stretch, to: Address) {
        let block = self.arrive(stretch, to);
        self.builder.ins().jump(block, &[]);
    }

    fn finish(&mut self, stretch: &mut Stretch) {
        match &mut stretch.at_end {
            Some(known) => known.join(&self.known),
            None => stretch.at_end = Some(self.known.clone()),
        }
        self.builder.ins().jump(stretch.end, &[]);
    }

    /// A jump. It is counted if it leads back.
    fn jump(&mut self, stretch: &mut Stretch, at: Address, to: Address) {
        if to > at {
            return self.go(stretch, to);
        }
        let Some(turns) = stretch.turns else {
            return self.go(stretch, to);
        };
        let before = self.builder.use_var(turns);
        let after = self.builder.ins().iadd_imm(before, 1);
        self.builder.def_var(turns, after);
        let too_many = self
            .builder
            .ins()
            .icmp_imm(IntCC::UnsignedGreaterThan, after, i64::from(MAX_LOOPS));
        let (over, on) = (self.block(), self.block());
        self.builder.ins().brif(too_many, over, &[], on, &[]);
        self.builder.switch_to_block(over);
        self.finish(stretch);
        self.builder.switch_to_block(on);
        self.go(stretch, to);
    }

    fn branch(&mut self, stretch: &mut Stretch, at: Address, condition: Value, yes: Address, no: Address) {
        if yes > at && no > at {
            let (yes, no) = (self.arrive(stretch, yes), self.arrive(stretch, no));
            self.builder.ins().brif(condition, yes, &[], no, &[]);
            return;
        }
        let blocks = [self.block(), self.block()];
        self.builder.ins().brif(condition, blocks[0], &[], blocks[1], &[]);
        for (block, to) in blocks.into_iter().zip([yes, no]) {
            self.builder.switch_to_block(block);
            self.jump(stretch, at, to);
        }
    }

    /// After code that may have executed `exit`, ends this code too if it has. No field is known then.
    fn leave_on_exit(&mut self) {
        self.known.forget_all();
        let exit = self.get(register::EXIT);
        let (out, on) = (self.block(), self.block());
        self.builder.ins().brif(exit, out, &[], on, &[]);
        self.builder.switch_to_block(out);
        self.builder.ins().return_(&[]);
        self.builder.switch_to_block(on);
    }

    /// Runs the code of an action, and continues after it.
    fn call_stretch(&mut self, to: Address) {
        self.call(self.calls.functions[&to]);
        self.leave_on_exit();
    }

    fn apply(&mut self, stretch: &mut Stretch, at: Address, index: u32) {
        let code = self.code;
        let table = &code.tables[index as usize];
        if table.profile.is_some() {
            return self.apply_indirect(stretch, at, index);
        }
        let chosen = self.choose(index);
        self.known.forget_range(code.param_base as u32..code.param_end as u32);
        if let Some(direct) = &table.direct {
            self.known.forget(direct.cell);
        }
        if let Some(meter) = &table.meter {
            self.known.forget(meter.target);
        }
        let hit = self.builder.ins().band_imm(chosen, HIT as i64);
        let choice = self.builder.ins().ireduce(types::I32, chosen);
        let mut switch = Switch::new();
        let blocks: Vec<Block> = table.actions.iter().map(|_| self.block()).collect();
        for (index, &block) in blocks.iter().enumerate() {
            switch.set_entry(index as u128, block);
        }
        let nothing = self.block();
        debug_assert!(table.actions.len() < NO_ACTION as usize);
        switch.emit(&mut self.builder, choice, nothing);
        let known = self.known.clone();
        for (&block, &(action, next)) in blocks.iter().zip(&table.actions) {
            self.builder.switch_to_block(block);
            self.known = known.clone();
            let action = &code.actions[action as usize];
            if action.end - action.start <= self.calls.max_copied {
                let done = self.block();
                self.stretch(action.start, done);
                self.builder.switch_to_block(done);
            } else {
                self.call_stretch(action.start);
            }
            self.follow(stretch, at, hit, table.hit_miss, next);
        }
        self.builder.switch_to_block(nothing);
        self.known = known;
        self.follow(stretch, at, hit, table.hit_miss, table.otherwise);
    }

    /// Looks up a packet in a table. Returns a value in the form of [`HIT`] and [`NO_ACTION`].
    fn choose(&mut self, table: u32) -> Value {
        match self.arrays.keys[table as usize] {
            Some((word, mask)) => {
                let key = self.get(word);
                let key = self.builder.ins().band_imm(key, mask as i64);
                self.call_back_at(self.calls.choose_by_word, u64::from(table), key)
            }
            None => self
                .call_back(self.calls.choose, u64::from(table))
                .expect("it returns a number"),
        }
    }

    /// Continues at the address that follows the action in the table.
    fn follow(
        &mut self,
        stretch: &mut Stretch,
        at: Address,
        hit: Value,
        hit_miss: Option<(Address, Address)>,
        next: Address,
    ) {
        match hit_miss {
            None => self.jump(stretch, at, next),
            Some((yes, no)) if yes == no => self.jump(stretch, at, yes),
            Some((yes, no)) => self.branch(stretch, at, hit, yes, no),
        }
    }

    /// Applies a table whose actions are in a profile.
    fn apply_indirect(&mut self, stretch: &mut Stretch, at: Address, index: u32) {
        let next = self
            .call_back(self.calls.apply, u64::from(index))
            .expect("it returns a number");
        self.leave_on_exit();
        let mut switch = Switch::new();
        let ways: Vec<(Address, Block)> = successors(self.code, at)
            .into_iter()
            .map(|to| (to, self.block()))
            .collect();
        for &(to, block) in &ways {
            switch.set_entry(u128::from(to), block);
        }
        let nowhere = self.block();
        switch.emit(&mut self.builder, next, nowhere);
        for (to, block) in ways {
            self.builder.switch_to_block(block);
            self.jump(stretch, at, to);
        }
        self.builder.switch_to_block(nowhere);
        self.finish(stretch);
    }
}
