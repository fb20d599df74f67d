//! The translation of a parser: one block for each state.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;

use super::function::Function;
use crate::run::native::{FAILED, packed_error};
use crate::run::ops::Address;
use crate::run::states::{Case, CaseKind, KeyPart, MAX_STEPS, ParseState, Parser, ParserOp};

/// Values that all states use.
struct States<'p> {
    parser: &'p Parser,
    blocks: Vec<Block>,
    frame: Value,
    length: Value,
    /// Number of bytes read.
    at: Variable,
    steps: Variable,
}

impl Function<'_, '_> {
    /// Parses a frame. Returns the number of bytes read, and the error that stopped the parser.
    pub fn parse(&mut self, parser: &Parser, frame: Value, length: Value) {
        let states = States {
            parser,
            blocks: parser.states.iter().map(|_| self.block()).collect(),
            frame,
            length,
            at: self.builder.declare_var(types::I64),
            steps: self.builder.declare_var(types::I64),
        };
        let nothing = self.constant(0);
        self.builder.def_var(states.at, nothing);
        self.builder.def_var(states.steps, nothing);
        self.go_to_state(&states, parser.start);
        for (index, state) in parser.states.iter().enumerate() {
            self.builder.switch_to_block(states.blocks[index]);
            self.known.forget_all();
            self.state(&states, index as u64, state);
        }
    }

    fn state(&mut self, states: &States, index: u64, state: &ParseState) {
        let before = self.builder.use_var(states.steps);
        let steps = self.builder.ins().iadd_imm(before, 1);
        self.builder.def_var(states.steps, steps);
        let too_many = self
            .builder
            .ins()
            .icmp_imm(IntCC::UnsignedGreaterThan, steps, MAX_STEPS as i64);
        self.fail_if(states, too_many, states.parser.errors.timeout);
        for (number, op) in state.ops.iter().enumerate() {
            self.parser_op(states, index << 32 | number as u64, op);
        }
        if state.cases.is_empty() {
            return self.go_to_state(states, state.otherwise);
        }
        if !state.key.iter().all(is_plain) || !state.cases.iter().all(|case| is_equality(case, &state.key)) {
            return self.ask_for_next(states, index);
        }
        let mut key = Vec::new();
        for part in &state.key {
            match *part {
                KeyPart::Words { first, count } => key.extend((first..first + count).map(|word| self.get(word))),
                KeyPart::Computed { code, word } => {
                    self.run_code(code);
                    key.push(self.get(word));
                }
                KeyPart::Lookahead { .. } => {}
            }
        }
        for case in &state.cases {
            let matched = self.matches(case, &key);
            let (yes, no) = (self.block(), self.block());
            self.builder.ins().brif(matched, yes, &[], no, &[]);
            self.builder.switch_to_block(yes);
            self.go_to_state(states, case.next);
            self.builder.switch_to_block(no);
        }
        self.go_to_state(states, state.otherwise);
    }

    /// True if the key has the bits of a case.
    fn matches(&mut self, case: &Case, key: &[Value]) -> Value {
        let CaseKind::Value(value) = &case.what else {
            return self.constant(0);
        };
        let mut differ = self.constant(0);
        for (index, (&key, &value)) in key.iter().zip(value).enumerate() {
            let mask = case.mask.as_ref().map_or(u64::MAX, |mask| mask[index]);
            let kept = self.builder.ins().band_imm(key, mask as i64);
            let bits = self.builder.ins().bxor_imm(kept, (value & mask) as i64);
            differ = self.builder.ins().bor(differ, bits);
        }
        self.builder.ins().icmp_imm(IntCC::Equal, differ, 0)
    }

    fn go_to_state(&mut self, states: &States, next: Option<u32>) {
        match next {
            Some(state) => {
                self.builder.ins().jump(states.blocks[state as usize], &[]);
            }
            None => {
                let at = self.builder.use_var(states.at);
                self.builder.ins().return_(&[at]);
            }
        }
    }

    /// Ends with an error if `condition` is not 0.
    fn fail_if(&mut self, states: &States, condition: Value, error: u32) {
        let error = self.constant(packed_error(error));
        self.fail_with(states, condition, error);
    }

    fn fail_with(&mut self, states: &States, condition: Value, error: Value) {
        let (fail, on) = (self.block(), self.block());
        self.builder.set_cold_block(fail);
        self.builder.ins().brif(condition, fail, &[], on, &[]);
        self.builder.switch_to_block(fail);
        let at = self.builder.use_var(states.at);
        let result = self.builder.ins().bor(at, error);
        self.builder.ins().return_(&[result]);
        self.builder.switch_to_block(on);
    }

    fn parser_op(&mut self, states: &States, place: u64, op: &ParserOp) {
        let code = self.code;
        match *op {
            ParserOp::Extract(header) if code.plans[header as usize].is_some() => {
                let Some(plan) = &code.plans[header as usize] else {
                    return;
                };
                let at = self.builder.use_var(states.at);
                let end = self.builder.ins().iadd_imm(at, plan.bytes as i64);
                let short = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, end, states.length);
                self.fail_if(states, short, states.parser.errors.packet_too_short);
                let place = self.builder.ins().iadd(states.frame, at);
                self.load_plan(plan, place);
                self.mark_valid(header);
                self.builder.def_var(states.at, end);
            }
            ParserOp::Run(code) => self.run_code(code),
            ParserOp::Verify { code, holds, error } => {
                self.run_code(code);
                let (holds, error) = (self.get(holds), self.get(error));
                let fails = self.builder.ins().icmp_imm(IntCC::Equal, holds, 0);
                let error = self.builder.ins().band_imm(error, i64::from(u32::MAX));
                let error = self.builder.ins().iadd_imm(error, 1);
                let error = self.builder.ins().ishl_imm(error, i64::from(FAILED));
                self.fail_with(states, fails, error);
            }
            ParserOp::Advance { code, bits } => {
                self.run_code(code);
                let bits = self.get(bits);
                let odd = self.builder.ins().band_imm(bits, 7);
                self.fail_if(states, odd, states.parser.errors.invalid_argument);
                let bytes = self.builder.ins().ushr_imm(bits, 3);
                let at = self.builder.use_var(states.at);
                let rest = self.builder.ins().isub(states.length, at);
                let short = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, bytes, rest);
                self.fail_if(states, short, states.parser.errors.packet_too_short);
                let on = self.builder.ins().iadd(at, bytes);
                self.builder.def_var(states.at, on);
            }
            _ => {
                let at = self.builder.use_var(states.at);
                let result = self.call_back_at(self.calls.parse_op, place, at);
                self.known.forget_all();
                self.return_failure(result);
                self.builder.def_var(states.at, result);
            }
        }
    }

    /// Ends with an error if the result of a callback is one.
    fn return_failure(&mut self, result: Value) {
        let failed = self.builder.ins().ushr_imm(result, i64::from(FAILED));
        let (fail, on) = (self.block(), self.block());
        self.builder.set_cold_block(fail);
        self.builder.ins().brif(failed, fail, &[], on, &[]);
        self.builder.switch_to_block(fail);
        self.builder.ins().return_(&[result]);
        self.builder.switch_to_block(on);
    }

    /// Lets the interpreter choose the next state.
    fn ask_for_next(&mut self, states: &States, index: u64) {
        let at = self.builder.use_var(states.at);
        let next = self.call_back_at(self.calls.parse_next, index, at);
        self.return_failure(next);
        let mut switch = cranelift_frontend::Switch::new();
        for (state, &block) in states.blocks.iter().enumerate() {
            switch.set_entry(state as u128 + 1, block);
        }
        let accept = self.block();
        switch.emit(&mut self.builder, next, accept);
        self.builder.switch_to_block(accept);
        self.go_to_state(states, None);
    }

    /// Runs code, and continues after it.
    pub fn run_code(&mut self, start: Address) {
        if self.is_simple(start) {
            let done = self.block();
            self.stretch(start, done);
            self.builder.switch_to_block(done);
        } else {
            self.call(self.calls.functions[&start]);
            // After an `exit` in this code, the parser continues here.
            self.known.forget_all();
        }
    }
}

/// True if a part of the key is in words, or can be put there.
fn is_plain(part: &KeyPart) -> bool {
    !matches!(part, KeyPart::Lookahead { .. })
}

/// True if a case compares all words of the key with a value.
fn is_equality(case: &Case, key: &[KeyPart]) -> bool {
    let words = key.iter().map(|part| match part {
        KeyPart::Words { count, .. } => *count as usize,
        KeyPart::Computed { .. } | KeyPart::Lookahead { .. } => 1,
    });
    let words: usize = words.sum();
    let mask = case.mask.as_ref().map_or(words, Vec::len);
    matches!(&case.what, CaseKind::Value(value) if value.len() == words) && mask == words
}
