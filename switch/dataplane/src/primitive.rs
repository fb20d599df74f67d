//! Lowers the primitives of simple_switch (its targets/simple_switch/primitives.cpp) to flat code.

use std::collections::HashMap;

use num_bigint::BigInt;

use crate::calculation::Calculations;
use crate::code::{Assignment, HeaderOp, LogMessage, Op, Target};
use crate::expr::{Arithmetic, Data, Expr, HeaderExpr, Scope};
use crate::json::{Json, Load};
use crate::layout::{mask, register, words};
use crate::lower::Builder;
use crate::packet::DROP_PORT;

/// The named objects that primitives use.
pub(crate) struct Objects<'a> {
    pub registers: &'a HashMap<String, u32>,
    pub counters: &'a HashMap<String, u32>,
    pub meters: &'a HashMap<String, u32>,
    pub calculations: &'a Calculations,
}

/// Lowers a list of primitives and ends it.
pub(crate) fn lower_all(
    builder: &mut Builder,
    objects: &Objects,
    params: &[(u32, u32)],
    primitives: &[Json],
) -> Load<u32> {
    let start = builder.address();
    let scope = Scope {
        layout: builder.layout,
        registers: objects.registers,
        params,
    };
    let mut lowering = Lowering {
        builder,
        objects,
        scope,
        jumps: Vec::new(),
    };
    let mut addresses = Vec::new();
    for primitive in primitives {
        addresses.push(lowering.builder.address());
        lowering.primitive(primitive)?;
        lowering.builder.end_statement();
    }
    addresses.push(lowering.builder.address());
    for (at, target, json) in std::mem::take(&mut lowering.jumps) {
        let Some(&address) = addresses.get(target) else {
            return json.error(format!("no primitive {target} to jump to"));
        };
        lowering.builder.code[at].set_target(address);
    }
    builder.push(Op::End);
    Ok(start)
}

/// Lowers one assignment of a value to a place; the statement is not ended.
pub(crate) fn lower_assignment(builder: &mut Builder, objects: &Objects, to: &Json, value: Data) -> Load<()> {
    let scope = Scope {
        layout: builder.layout,
        registers: objects.registers,
        params: &[],
    };
    Lowering {
        builder,
        objects,
        scope,
        jumps: Vec::new(),
    }
    .assign(to, value)
}

struct Lowering<'b, 'l, 'a, 'j> {
    builder: &'b mut Builder<'l>,
    objects: &'a Objects<'a>,
    scope: Scope<'a>,
    /// Jumps to resolve: where the operation stands, the primitive it goes to, its JSON.
    jumps: Vec<(usize, usize, Json<'j>)>,
}

/// The place a value is stored in.
enum Destination {
    /// One word and the bits to keep.
    Word(u32, u64),
    /// A one-word field of a header known at run time.
    Indexed {
        list: Vec<u32>,
        index: Data,
        offset: u32,
        keep: u64,
    },
    Target(Target),
}

impl<'j> Lowering<'_, '_, '_, 'j> {
    fn primitive(&mut self, json: &Json<'j>) -> Load<()> {
        let op = json.get("op")?;
        let args = json.list("parameters")?;
        let want = |count: usize| {
            if args.len() == count {
                Ok(())
            } else {
                json.error(format!(
                    "'{}' takes {count} parameters, not {}",
                    op.str().unwrap_or(""),
                    args.len()
                ))
            }
        };
        let binary = |op| -> Load<Option<Arithmetic>> { want(3).map(|()| Some(op)) };
        let arithmetic = match op.str()? {
            "add" => binary(Arithmetic::Add)?,
            "subtract" => binary(Arithmetic::Sub)?,
            "bit_xor" => binary(Arithmetic::Xor)?,
            "bit_or" => binary(Arithmetic::Or)?,
            "bit_and" => binary(Arithmetic::And)?,
            "shift_left" => binary(Arithmetic::Shl)?,
            "shift_right" => binary(Arithmetic::Shr)?,
            _ => None,
        };
        if let Some(arithmetic) = arithmetic {
            let (left, right) = (self.scope.data(&args[1])?, self.scope.data(&args[2])?);
            return self.assign(&args[0], Data::Binary(arithmetic, Box::new(left), Box::new(right)));
        }
        match op.str()? {
            "assign" | "modify_field" => {
                want(2)?;
                let value = self.scope.data(&args[1])?;
                self.assign(&args[0], value)
            }
            "add_to_field" | "subtract_from_field" => {
                want(2)?;
                let arithmetic = if op.str()? == "add_to_field" {
                    Arithmetic::Add
                } else {
                    Arithmetic::Sub
                };
                let (left, right) = (self.scope.data(&args[0])?, self.scope.data(&args[1])?);
                self.assign(&args[0], Data::Binary(arithmetic, Box::new(left), Box::new(right)))
            }
            "assign_VL" => want(2).and_then(|()| self.assign_varbit(&args)),
            "no_op" | "NoAction" => Ok(()),
            "drop" => want(0).and_then(|()| self.drop(None)),
            "mark_to_drop" => {
                // Older p4c wrote it without the header.
                let header = match args.first() {
                    Some(header) => Some(self.scope.layout.header(&header.get("value")?)?),
                    None => None,
                };
                self.drop(header)
            }
            "exit" => {
                self.builder.push(Op::Exit);
                Ok(())
            }
            "_jump" => want(1).and_then(|()| self.jump(&args[0], None)),
            "_jump_if_zero" => want(2).and_then(|()| self.jump(&args[1], Some(&args[0]))),
            "assert" | "assume" => {
                want(1)?;
                let value = self.scope.data(&args[0])?;
                let a = self.builder.value(&value);
                self.builder.push(Op::Assert { a });
                Ok(())
            }
            "log_msg" => want(2).and_then(|()| self.log(&args)),
            "truncate" => want(1).and_then(|()| {
                let a = self.exact(&args[0])?;
                self.builder.push(Op::Truncate { a });
                Ok(())
            }),
            name => self.packet_primitive(name, json, &args, &want),
        }
    }

    /// What becomes of the packet, and the stateful externs.
    fn packet_primitive(
        &mut self,
        name: &str,
        json: &Json<'j>,
        args: &[Json<'j>],
        want: &dyn Fn(usize) -> Load<()>,
    ) -> Load<()> {
        match name {
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                want(2)?;
                self.set_register(register::CLONE, &args[0], mask(15), register::CLONE_REQUESTED)?;
                self.set_register(register::CLONE_FIELDS, &args[1], mask(16), 0)
            }
            "resubmit" => want(1).and_then(|()| self.set_register(register::RESUBMIT, &args[0], mask(16), 0)),
            "recirculate" => want(1).and_then(|()| self.set_register(register::RECIRCULATE, &args[0], mask(16), 0)),
            "generate_digest" => want(2).and_then(|()| self.set_register(register::DIGEST, &args[1], mask(16), 0)),
            "register_read" => {
                want(3)?;
                let register = named(self.objects.registers, &args[1], "register")?;
                let index = self.scope.data(&args[2])?;
                self.register_read(&args[0], register, index)
            }
            "register_write" => {
                want(3)?;
                let register = named(self.objects.registers, &args[0], "register")?;
                let (index, value) = (self.scope.data(&args[1])?, self.scope.data(&args[2])?);
                self.register_write(register, index, value);
                Ok(())
            }
            "count" => {
                want(2)?;
                let counter = named(self.objects.counters, &args[0], "counter")?;
                let cell = self.exact(&args[1])?;
                self.builder.push(Op::Count { counter, cell });
                Ok(())
            }
            "execute_meter" => {
                want(3)?;
                let meter = named(self.objects.meters, &args[0], "meter")?;
                let cell = self.exact(&args[1])?;
                self.result(&args[2], |d, m| Op::Meter { meter, cell, d, m })
            }
            "modify_field_rng_uniform" => {
                want(3)?;
                let (low, high) = (self.exact(&args[1])?, self.exact(&args[2])?);
                self.result(&args[0], |d, m| Op::Random { low, high, d, m })
            }
            "modify_field_with_hash_based_offset" => {
                want(4)?;
                let calculation = self.objects.calculations.find(&args[2].get("value")?)?;
                let (base, size) = (self.exact(&args[1])?, self.exact(&args[3])?);
                self.result(&args[0], |d, m| Op::Hash {
                    calculation,
                    base,
                    size,
                    d,
                    m,
                })
            }
            name => self.header_primitive(name, json, args, want),
        }
    }

    fn header_primitive(
        &mut self,
        name: &str,
        json: &Json<'j>,
        args: &[Json<'j>],
        want: &dyn Fn(usize) -> Load<()>,
    ) -> Load<()> {
        let what = match name {
            "add_header" => Some(HeaderOp::Add),
            "remove_header" => Some(HeaderOp::Remove),
            "add_header_fast" => Some(HeaderOp::MarkValid),
            _ => None,
        };
        if let Some(what) = what {
            want(1)?;
            let op = match self.scope.header(&args[0])? {
                HeaderExpr::Fixed(header) => Op::Header { what, header },
                HeaderExpr::Indexed(headers, index) => {
                    let (list, i) = (self.builder.list(&headers), self.builder.cell(&index));
                    Op::HeaderAt { what, list, i }
                }
            };
            self.builder.push(op);
            return Ok(());
        }
        match name {
            "assign_header" | "copy_header" | "assign_union" | "assign_header_stack" | "assign_union_stack" => {
                want(2)?;
                self.copy(json, args)
            }
            "push" | "pop" => {
                want(2)?;
                let n = self.exact(&args[1])?;
                let op = match (self.scope.expr(&args[0])?, name) {
                    (Expr::Stack(stack), "push") => Op::Push { stack, n },
                    (Expr::Stack(stack), _) => Op::Pop { stack, n },
                    (Expr::UnionStack(stack), "push") => Op::PushUnion { stack, n },
                    (Expr::UnionStack(stack), _) => Op::PopUnion { stack, n },
                    _ => return args[0].error("should be a stack"),
                };
                self.builder.push(op);
                Ok(())
            }
            other => json.error(format!("primitive '{other}' is not supported")),
        }
    }

    fn copy(&mut self, json: &Json, args: &[Json]) -> Load<()> {
        let layout = self.scope.layout;
        let op = match (self.scope.expr(&args[0])?, self.scope.expr(&args[1])?) {
            (Expr::Header(to), Expr::Header(from)) => match (to, from) {
                (HeaderExpr::Fixed(to), HeaderExpr::Fixed(from)) => {
                    if layout.headers[to as usize].kind != layout.headers[from as usize].kind {
                        return json.error("the headers are of different types");
                    }
                    Op::CopyHeader { to, from }
                }
                pair => Op::CopyHeaderAt(Box::new(pair)),
            },
            (Expr::Union(to), Expr::Union(from)) => Op::CopyUnion(Box::new((to, from))),
            (Expr::Stack(to), Expr::Stack(from)) => {
                let (a, b) = (&layout.stacks[to as usize], &layout.stacks[from as usize]);
                if a.kind != b.kind || a.headers.len() != b.headers.len() {
                    return json.error("the stacks are of different types");
                }
                Op::CopyStack { to, from }
            }
            (Expr::UnionStack(to), Expr::UnionStack(from)) => {
                let (a, b) = (&layout.union_stacks[to as usize], &layout.union_stacks[from as usize]);
                if a.kind != b.kind || a.unions.len() != b.unions.len() {
                    return json.error("the stacks are of different types");
                }
                Op::CopyUnionStack { to, from }
            }
            _ => return json.error("the two parameters should be headers, unions or stacks of one type"),
        };
        self.builder.push(op);
        Ok(())
    }

    /// A word with an index or amount that is exact, or larger than anything if it does not fit.
    fn exact(&mut self, json: &Json) -> Load<u32> {
        let data = self.scope.data(json)?;
        Ok(self.builder.cell(&data))
    }

    fn set_register(&mut self, slot: u32, json: &Json, keep: u64, flag: u64) -> Load<()> {
        let value = self.scope.data(json)?;
        self.builder.value_into(&value, slot, keep);
        if flag != 0 {
            let (b, m) = (self.builder.constant(flag), self.builder.constant(u64::MAX));
            self.builder.push(Op::Or { d: slot, a: slot, b, m });
        }
        Ok(())
    }

    fn drop(&mut self, header: Option<u32>) -> Load<()> {
        let layout = self.builder.layout;
        let member = |name: &str| match header {
            Some(header) => layout.headers[header as usize]
                .fields()
                .find(|&f| layout.fields[f].name == name),
            None if name == "egress_spec" => layout.find("standard_metadata.egress_spec").map(|f| f as usize),
            None => layout.find("intrinsic_metadata.mcast_grp").map(|f| f as usize),
        };
        let m = self.builder.constant(u64::MAX);
        for (name, value) in [("egress_spec", u64::from(DROP_PORT)), ("mcast_grp", 0)] {
            if let Some(field) = member(name) {
                let field = &layout.fields[field];
                let a = self.builder.constant(value & mask(field.width));
                self.builder.push(Op::Move { d: field.slot, a, m });
            }
        }
        Ok(())
    }

    fn jump(&mut self, target: &Json<'j>, condition: Option<&Json<'j>>) -> Load<()> {
        let to = match self.scope.data(target)? {
            Data::Const(value) => usize::try_from(&value).unwrap_or(usize::MAX),
            _ => return target.error("the target of a jump should be a constant"),
        };
        let op = match condition {
            Some(condition) => {
                let truth = match self.scope.expr(condition)? {
                    Expr::Bool(truth) => truth,
                    Expr::Data(data) => crate::expr::Bool::FromData(Box::new(data)),
                    _ => return condition.error("should be a number or a condition"),
                };
                let a = self.builder.truth(&truth);
                self.builder.fuse_jump(a)
            }
            None => Op::Jump { to: 0 },
        };
        self.jumps.push((self.builder.code.len(), to, target.clone()));
        self.builder.push(op);
        Ok(())
    }

    fn log(&mut self, args: &[Json]) -> Load<()> {
        let format = args[0].get("value")?.str()?.to_string();
        let mut values = Vec::new();
        for value in args[1].get("value")?.items()? {
            values.push(self.scope.data(&value)?);
        }
        self.builder.push(Op::Log(Box::new(LogMessage { format, values })));
        Ok(())
    }

    fn assign_varbit(&mut self, args: &[Json]) -> Load<()> {
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
            Data::FieldOf(header, offset) => match (*header, ()) {
                (HeaderExpr::Indexed(headers, index), ()) => match self.builder.word_offset(&headers, offset) {
                    Some((word, width)) => Destination::Indexed {
                        list: headers,
                        index: *index,
                        offset: word,
                        keep: mask(width),
                    },
                    None => Destination::Target(Target::FieldOf(HeaderExpr::Indexed(headers, index), offset)),
                },
                (fixed, ()) => Destination::Target(Target::FieldOf(fixed, offset)),
            },
            Data::Register(register, index) => Destination::Target(Target::Register(register, *index)),
            // A parameter is the action's own variable.
            Data::Param(slot, width) if width <= 64 => Destination::Word(slot, mask(width)),
            _ => return json.error("cannot be assigned to"),
        })
    }

    fn assign(&mut self, to: &Json, value: Data) -> Load<()> {
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

    /// Between wide fields of one width, words are copied.
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

    fn register_write(&mut self, register: u32, index: Data, value: Data) {
        if self.builder.register_widths[register as usize] <= 64 {
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

    /// An index out of range leaves the destination alone.
    fn register_read(&mut self, to: &Json, register: u32, index: Data) -> Load<()> {
        if self.builder.register_widths[register as usize] <= 64
            && let Destination::Word(d, keep) = self.destination(to)?
        {
            let (cell, m) = (self.builder.cell(&index), self.builder.constant(keep));
            self.builder.push(Op::RegisterRead {
                d,
                register,
                cell,
                m,
                missing: d,
            });
            return Ok(());
        }
        self.assign(to, Data::Register(register, Box::new(index)))
    }

    /// An operation that leaves one word, stored where the JSON says.
    fn result(&mut self, to: &Json, op: impl FnOnce(u32, u32) -> Op) -> Load<()> {
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

fn named(names: &HashMap<String, u32>, json: &Json, what: &str) -> Load<u32> {
    let name = json.get("value")?;
    match names.get(name.str()?) {
        Some(&index) => Ok(index),
        None => name.error(format!("no {what} '{}'", name.str()?)),
    }
}
