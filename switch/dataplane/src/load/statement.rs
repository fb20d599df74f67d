//! Lowers assignments: chooses the operation that stores a value in its place.

use num_bigint::BigInt;

use super::builder::{Builder, OutOfRange};
use super::expr::Scope;
use super::json::{Json, Load};
use crate::bits::{mask, words};
use crate::run::expr::{Arithmetic, Data, HeaderExpr};
use crate::run::ops::{Assignment, Op, Target};

/// A statement under construction.
pub(crate) struct Statement<'b, 'l, 'a> {
    pub builder: &'b mut Builder<'l>,
    pub scope: Scope<'a>,
}

/// The place for a value.
enum Destination {
    /// One word, and a mask of the bits to keep.
    Word(u32, u64),
    /// A one-word field of a header that is known only at run time.
    Indexed {
        list: Vec<u32>,
        index: Data,
        offset: u32,
        keep: u64,
    },
    Target(Target),
}

impl Statement<'_, '_, '_> {
    pub fn assign_varbit(&mut self, args: &[Json]) -> Load<()> {
        let mut fields = Vec::new();
        for arg in &args[..2] {
            match self.scope.data(arg)? {
                Data::Field(field) if self.scope.layout.fields[field as usize].length.is_some() => fields.push(field),
                _ => return arg.error("should be a variable-length field"),
            }
        }
        let to = Target::Varbit(fields[0], fields[1]);
        self.builder.push(Op::Assign(Box::new(Assignment {
            to,
            value: Data::Const(BigInt::ZERO),
        })));
        Ok(())
    }

    fn destination(&self, json: &Json) -> Load<Destination> {
        let layout = self.scope.layout;
        Ok(match self.scope.data(json)? {
            Data::Field(index) => {
                let field = &layout.fields[index as usize];
                if field.width <= 64 && !field.saturating && field.length.is_none() {
                    Destination::Word(field.slot, mask(field.width))
                } else {
                    Destination::Target(Target::Field(index))
                }
            }
            Data::FieldOf(header, offset) => match *header {
                HeaderExpr::Indexed(headers, index) => match self.builder.word_offset(&headers, offset) {
                    Some((word, width)) => Destination::Indexed {
                        list: headers,
                        index: *index,
                        offset: word,
                        keep: mask(width),
                    },
                    None => Destination::Target(Target::FieldOf(HeaderExpr::Indexed(headers, index), offset)),
                },
                fixed => Destination::Target(Target::FieldOf(fixed, offset)),
            },
            Data::Register(register, index) => Destination::Target(Target::Register(register, *index)),
            // A parameter is a variable of the action.
            Data::Param(slot, width) if width <= 64 => Destination::Word(slot, mask(width)),
            _ => return json.error("cannot be assigned to"),
        })
    }

    /// Stores a value in a place.
    pub fn assign(&mut self, to: &Json, value: Data) -> Load<()> {
        match self.destination(to)? {
            Destination::Word(d, keep) => self.builder.value_into(&value, d, keep),
            Destination::Indexed {
                list,
                index,
                offset,
                keep,
            } => {
                let a = self.builder.value(&value);
                let i = self.builder.cell(&index);
                let (list, m) = (self.builder.list(&list), self.builder.constant(keep));
                self.builder.push(Op::Store { list, i, offset, a, m });
            }
            Destination::Target(Target::Register(register, index)) => self.register_write(register, index, value),
            Destination::Target(Target::Field(index)) => self.assign_wide(index, value),
            Destination::Target(to) => self.builder.push(Op::Assign(Box::new(Assignment { to, value }))),
        }
        Ok(())
    }

    /// Assigns to a wide field. Words are copied if both fields have the same width.
    fn assign_wide(&mut self, field: u32, value: Data) {
        let target = &self.scope.layout.fields[field as usize];
        let width = target.width;
        let fits = self
            .builder
            .range(&value)
            .is_some_and(|(low, high)| low >= 0 && width < 127 && high < 1 << width);
        let same = match &value {
            Data::Field(source) => {
                let source = &self.scope.layout.fields[*source as usize];
                source.width == width && !source.signed && source.length.is_none()
            }
            Data::Param(_, source) => *source == width,
            _ => false,
        };
        if !target.saturating
            && target.length.is_none()
            && (fits || same || matches!(value, Data::Const(_)))
            && let Some(a) = self.builder.wide_place(&value, width)
        {
            return self.builder.push(Op::Copy {
                d: target.slot,
                a,
                n: words(width) as u32,
            });
        }
        self.builder.push(Op::Assign(Box::new(Assignment {
            to: Target::Field(field),
            value,
        })));
    }

    /// The register cell at an index.
    fn cell(&self, register: u32, index: Data) -> Data {
        match self.builder.registers[register as usize].beyond {
            OutOfRange::Wraps(mask) => {
                Data::Binary(Arithmetic::And, Box::new(index), Box::new(Data::Const(mask.into())))
            }
            OutOfRange::Nothing | OutOfRange::Zero => index,
        }
    }

    pub fn register_write(&mut self, register: u32, index: Data, value: Data) {
        let index = self.cell(register, index);
        if self.builder.registers[register as usize].width <= 64 {
            let cell = self.builder.cell(&index);
            let a = self.builder.value(&value);
            self.builder.push(Op::RegisterWrite { register, cell, a });
        } else {
            self.builder.push(Op::Assign(Box::new(Assignment {
                to: Target::Register(register, index),
                value,
            })));
        }
    }

    pub fn register_read(&mut self, to: &Json, register: u32, index: Data) -> Load<()> {
        let index = self.cell(register, index);
        let shape = self.builder.registers[register as usize];
        if shape.width <= 64
            && let Destination::Word(d, keep) = self.destination(to)?
        {
            let (cell, m) = (self.builder.cell(&index), self.builder.constant(keep));
            let missing = match shape.beyond {
                OutOfRange::Nothing => d,
                OutOfRange::Wraps(_) | OutOfRange::Zero => self.builder.constant(0),
            };
            self.builder.push(Op::RegisterRead {
                d,
                register,
                cell,
                m,
                missing,
            });
            return Ok(());
        }
        self.assign(to, Data::Register(register, Box::new(index)))
    }

    /// Pushes an operation that computes one word, and stores it in the place that the JSON names.
    pub fn result(&mut self, to: &Json, op: impl FnOnce(u32, u32) -> Op) -> Load<()> {
        if let Destination::Word(d, keep) = self.destination(to)? {
            let m = self.builder.constant(keep);
            self.builder.push(op(d, m));
            return Ok(());
        }
        let (d, m) = (self.builder.temporary(), self.builder.constant(u64::MAX));
        self.builder.push(op(d, m));
        self.assign(to, Data::Param(d, 64))
    }
}
