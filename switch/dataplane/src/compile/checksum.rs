//! The Internet checksum over fields of headers, and the checksums that a v1model program verifies and updates.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;

use super::function::Function;
use crate::run::ops::{Address, Word};
use crate::run::wire::{Plan, Segment};

/// Parts of a sum. Each plan counts if the validity word of its header is not 0, and has only chunks of an even number
/// of bytes.
pub(super) type Inputs<'a> = Vec<(Word, &'a Plan)>;

/// A field that holds a checksum.
pub(super) struct ChecksumField<'a> {
    pub inputs: Inputs<'a>,
    /// Code that computes a condition into a word.
    pub condition: Option<(Address, Word)>,
    /// The field's word, and a mask of its bits.
    pub slot: Word,
    pub keep: u64,
    /// Validity word of its header.
    pub valid: Word,
}

impl Function<'_, '_> {
    /// Writes a function that returns a checksum.
    pub fn checksum(&mut self, inputs: &Inputs) {
        let checksum = self.sum(inputs);
        self.builder.ins().return_(&[checksum]);
    }

    /// Writes a function that returns whether a field of a valid header differs from its checksum.
    pub fn verify(&mut self, fields: &[ChecksumField]) {
        let wrong = self.builder.declare_var(types::I64);
        let nothing = self.constant(0);
        self.builder.def_var(wrong, nothing);
        for field in fields {
            let valid = self.get(field.valid);
            self.only_if(
                valid,
                |f| {
                    let holds = f.condition(field);
                    f.only_if(holds, |f| f.compare_checksum(field, wrong), |_| {});
                },
                // The code of the condition changes other words.
                |known| known.forget_all(),
            );
        }
        let wrong = self.builder.use_var(wrong);
        self.builder.ins().return_(&[wrong]);
    }

    fn compare_checksum(&mut self, field: &ChecksumField, wrong: Variable) {
        let computed = self.sum(&field.inputs);
        let found = self.get(field.slot);
        let differs = self.builder.ins().icmp(IntCC::NotEqual, computed, found);
        let differs = self.truth(differs);
        let before = self.builder.use_var(wrong);
        let after = self.builder.ins().bor(before, differs);
        self.builder.def_var(wrong, after);
    }

    /// Writes a function that stores the checksums in their fields.
    pub fn update(&mut self, fields: &[ChecksumField]) {
        for field in fields {
            let holds = self.condition(field);
            self.only_if(
                holds,
                |f| {
                    let computed = f.sum(&field.inputs);
                    let value = f.builder.ins().band_imm(computed, field.keep as i64);
                    f.set(field.slot, value);
                },
                |known| known.forget(field.slot),
            );
        }
    }

    fn condition(&mut self, field: &ChecksumField) -> Value {
        match field.condition {
            Some((code, word)) => {
                self.run_code(code);
                self.get(word)
            }
            None => self.constant(1),
        }
    }

    fn sum(&mut self, inputs: &Inputs) -> Value {
        let sum = self.builder.declare_var(types::I64);
        let nothing = self.constant(0);
        self.builder.def_var(sum, nothing);
        for &(valid, plan) in inputs {
            let valid = self.get(valid);
            self.only_if(valid, |f| f.add_plan(sum, plan), |_| {});
        }
        let mut folded = self.builder.use_var(sum);
        // After four times, a sum of 64 bits has 16 bits left.
        for _ in 0..4 {
            let low = self.builder.ins().band_imm(folded, 0xffff);
            let high = self.builder.ins().ushr_imm(folded, 16);
            folded = self.builder.ins().iadd(low, high);
        }
        let complement = self.builder.ins().bnot(folded);
        self.builder.ins().band_imm(complement, 0xffff)
    }

    /// Adds halves of 32 bits. A 64-bit sum of them has room for many carries. Folded, it is the same as the sum of
    /// 16-bit words.
    fn add_plan(&mut self, sum: Variable, plan: &Plan) {
        for segment in plan.segments() {
            let Segment::Chunk { pieces, .. } = segment else {
                continue;
            };
            let whole = self.gather(pieces);
            let before = self.builder.use_var(sum);
            let high = self.builder.ins().ushr_imm(whole, 32);
            let low = self.builder.ins().band_imm(whole, 0xffff_ffff);
            let both = self.builder.ins().iadd(high, low);
            let after = self.builder.ins().iadd(before, both);
            self.builder.def_var(sum, after);
        }
    }
}
