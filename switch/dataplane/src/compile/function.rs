//! The translation of one function: its blocks, known values and calls.

use std::collections::{BTreeMap, HashMap};

use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, FuncRef, InstBuilder, MemFlags, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};

use super::arrays::Arrays;
use super::known::Known;
use crate::run::code::Code;
use crate::run::ops::{Address, Word};

/// Functions that compiled code calls: functions of the program by address, and callbacks into the interpreter.
pub(super) struct Calls {
    pub functions: BTreeMap<Address, FuncId>,
    pub step: FuncId,
    pub choose: FuncId,
    pub choose_by_word: FuncId,
    pub apply: FuncId,
    pub parse_op: FuncId,
    pub parse_next: FuncId,
    /// Number of operations of the longest action that is copied to the tables that apply it. Longer actions are
    /// called.
    pub max_copied: u32,
}

/// A function under construction.
pub(super) struct Function<'a, 'b> {
    pub builder: FunctionBuilder<'b>,
    pub module: &'a mut JITModule,
    pub code: &'a Code,
    pub arrays: &'a Arrays,
    pub calls: &'a Calls,
    /// The two arguments of every function.
    pub words: Value,
    pub context: Value,
    /// Values known before the next operation.
    pub known: Known,
    imported: HashMap<FuncId, FuncRef>,
}

/// Translates one function. `write` gets its arguments, and must end every block.
pub(super) fn translate(
    module: &mut JITModule,
    (context, builder_context): (&mut Context, &mut FunctionBuilderContext),
    code: &Code,
    arrays: &Arrays,
    calls: &Calls,
    write: impl FnOnce(&mut Function, &[Value]),
) {
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let first = builder.create_block();
    builder.append_block_params_for_function_params(first);
    builder.switch_to_block(first);
    let arguments = builder.block_params(first).to_vec();
    let mut function = Function {
        builder,
        module,
        code,
        arrays,
        calls,
        words: arguments[0],
        context: arguments[1],
        known: Known::default(),
        imported: HashMap::new(),
    };
    write(&mut function, &arguments);
    function.builder.seal_all_blocks();
    function.builder.finalize();
}

impl Function<'_, '_> {
    /// Translates the code from an address on.
    pub fn whole_stretch(&mut self, start: Address) {
        let end = self.block();
        self.stretch(start, end);
        self.builder.switch_to_block(end);
        self.builder.ins().return_(&[]);
    }

    /// Words and cells are aligned and always exist.
    pub const MEMORY: MemFlags = MemFlags::trusted();

    pub fn constant(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(types::I64, value as i64)
    }

    /// The value of a word, if it is constant.
    pub fn constant_of(&self, word: Word) -> Option<u64> {
        self.code.constants.get(&word).copied()
    }

    fn offset(word: Word) -> i32 {
        // A program has at most 2^17 words (load/layout.rs) and constants.
        word as i32 * 8
    }

    /// The value of a word.
    pub fn get(&mut self, word: Word) -> Value {
        if let Some(value) = self.constant_of(word) {
            return self.constant(value);
        }
        if let Some(value) = self.known.get(word) {
            return value;
        }
        let (words, offset) = (self.words, Self::offset(word));
        let value = self.builder.ins().load(types::I64, Self::MEMORY, words, offset);
        self.known.set(word, value);
        value
    }

    /// Stores into a word.
    pub fn set(&mut self, word: Word, value: Value) {
        let (words, offset) = (self.words, Self::offset(word));
        self.builder.ins().store(Self::MEMORY, value, words, offset);
        self.known.set(word, value);
    }

    /// value & word m
    pub fn keep(&mut self, value: Value, m: Word) -> Value {
        match self.constant_of(m) {
            Some(u64::MAX) => value,
            _ => {
                let mask = self.get(m);
                self.builder.ins().band(value, mask)
            }
        }
    }

    pub fn compare(&mut self, how: IntCC, a: Word, b: Word) -> Value {
        let (a, b) = (self.get(a), self.get(b));
        self.builder.ins().icmp(how, a, b)
    }

    /// The result of a comparison as a word.
    pub fn truth(&mut self, truth: Value) -> Value {
        self.builder.ins().uextend(types::I64, truth)
    }

    fn import(&mut self, function: FuncId) -> FuncRef {
        match self.imported.get(&function) {
            Some(&found) => found,
            None => {
                let found = self.module.declare_func_in_func(function, self.builder.func);
                self.imported.insert(function, found);
                found
            }
        }
    }

    /// Calls a function of the program.
    pub fn call(&mut self, function: FuncId) {
        let function = self.import(function);
        let arguments = [self.words, self.context];
        self.builder.ins().call(function, &arguments);
    }

    /// Calls the interpreter with a number.
    pub fn call_back(&mut self, function: FuncId, number: u64) -> Option<Value> {
        let function = self.import(function);
        let arguments = [self.context, self.constant(number)];
        let call = self.builder.ins().call(function, &arguments);
        self.builder.inst_results(call).first().copied()
    }

    /// Calls the interpreter with a number and a value.
    pub fn call_back_at(&mut self, function: FuncId, number: u64, value: Value) -> Value {
        let function = self.import(function);
        let arguments = [self.context, self.constant(number), value];
        let call = self.builder.ins().call(function, &arguments);
        self.builder.inst_results(call)[0]
    }

    /// Code that runs only if `condition` is not 0. `forgotten` names the words that it may change.
    pub fn only_if(&mut self, condition: Value, then: impl FnOnce(&mut Self), forgotten: impl FnOnce(&mut Known)) {
        let (yes, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(condition, yes, &[], on, &[]);
        self.builder.switch_to_block(yes);
        let before = self.known.clone();
        then(self);
        self.builder.ins().jump(on, &[]);
        self.known = before;
        forgotten(&mut self.known);
        self.builder.switch_to_block(on);
    }

    /// A new empty block.
    pub fn block(&mut self) -> Block {
        self.builder.create_block()
    }
}
