//! Lowers the primitives of simple_switch (targets/simple_switch/primitives.cpp in BMv2) to flat code.

use std::collections::HashMap;

use super::builder::Builder;
use super::calculation::Calculations;
use super::expr::{Expr, Scope};
use super::json::{Json, Load};
use super::statement::Statement;
use crate::bits::mask;
use crate::ids::DROP_PORT;
use crate::run::code::Mark;
use crate::run::expr::{Arithmetic, Bool, Data, HeaderExpr};
use crate::run::intrinsic::UNWRITTEN;
use crate::run::layout::register;
use crate::run::ops::{HeaderOp, LogMessage, Op};

/// The named objects that primitives use.
pub(crate) struct Objects<'a> {
    pub registers: &'a HashMap<String, u32>,
    pub counters: &'a HashMap<String, u32>,
    pub meters: &'a HashMap<String, u32>,
    pub filters: &'a HashMap<String, u32>,
    pub calculations: &'a Calculations,
    pub tofino: bool,
}

/// Lowers a list of primitives, and ends the code.
pub(crate) fn lower_all(
    builder: &mut Builder,
    objects: &Objects,
    params: &[(u32, u32)],
    primitives: &[Json],
) -> Load<u32> {
    let start = builder.address();
    let scope = Scope::new(builder.layout, objects.registers, params);
    let mut lowering = Lowering {
        code: Statement { builder, scope },
        objects,
        jumps: Vec::new(),
    };
    let mut addresses = Vec::new();
    for primitive in primitives {
        let at = lowering.code.builder.address();
        addresses.push(at);
        lowering.primitive(primitive)?;
        lowering.code.builder.end_statement();
        let builder = &mut *lowering.code.builder;
        match (primitive.source(), builder.address()) {
            (Some(source), end) if primitive.get("op")?.str()? == "_jump_if_zero" => {
                builder.mark(end - 1, Mark::Condition(None, Some(source)));
            }
            (Some(source), end) if end > at => builder.mark(at, Mark::Statement(source)),
            _ => {}
        }
    }
    addresses.push(lowering.code.builder.address());
    for (at, target, json) in std::mem::take(&mut lowering.jumps) {
        let Some(&address) = addresses.get(target) else {
            return json.error(format!("no primitive {target} to jump to"));
        };
        lowering.code.builder.code[at].set_target(address);
    }
    builder.push(Op::End);
    Ok(start)
}

struct Lowering<'b, 'l, 'a, 'j> {
    code: Statement<'b, 'l, 'a>,
    objects: &'a Objects<'a>,
    /// Jumps without an address yet: position of the operation, primitive that it jumps to, and JSON.
    jumps: Vec<(usize, usize, Json<'j>)>,
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
            let (left, right) = (self.code.scope.data(&args[1])?, self.code.scope.data(&args[2])?);
            return self
                .code
                .assign(&args[0], Data::Binary(arithmetic, Box::new(left), Box::new(right)));
        }
        match op.str()? {
            "assign" | "modify_field" => {
                want(2)?;
                let value = self.code.scope.data(&args[1])?;
                self.code.assign(&args[0], value)
            }
            "add_to_field" | "subtract_from_field" => {
                want(2)?;
                let arithmetic = if op.str()? == "add_to_field" {
                    Arithmetic::Add
                } else {
                    Arithmetic::Sub
                };
                let (left, right) = (self.code.scope.data(&args[0])?, self.code.scope.data(&args[1])?);
                self.code
                    .assign(&args[0], Data::Binary(arithmetic, Box::new(left), Box::new(right)))
            }
            "assign_VL" => want(2).and_then(|()| self.code.assign_varbit(&args)),
            "no_op" | "NoAction" => Ok(()),
            "drop" => want(0).and_then(|()| self.drop(None)),
            "mark_to_drop" => {
                // Older versions of p4c left out the header.
                let header = match args.first() {
                    Some(header) => Some(self.code.scope.layout.header(&header.get("value")?)?),
                    None => None,
                };
                self.drop(header)
            }
            "exit" => {
                self.code.builder.push(Op::Exit);
                Ok(())
            }
            "_jump" => want(1).and_then(|()| self.jump(&args[0], None)),
            "_jump_if_zero" => want(2).and_then(|()| self.jump(&args[1], Some(&args[0]))),
            "assert" | "assume" => {
                want(1)?;
                let value = self.code.scope.data(&args[0])?;
                let a = self.code.builder.value(&value);
                self.code.builder.push(Op::Assert { a });
                Ok(())
            }
            "log_msg" => want(2).and_then(|()| self.log(&args)),
            "truncate" => want(1).and_then(|()| {
                let a = self.exact(&args[0])?;
                self.code.builder.push(Op::Truncate { a });
                Ok(())
            }),
            name => self.packet_primitive(name, json, &args, &want),
        }
    }

    /// Loads primitives that decide what happens to the packet, and those of stateful externs.
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
                self.set_register(register::CLONE, &args[0], mask(15), register::REQUESTED)?;
                self.set_register(register::CLONE_FIELDS, &args[1], mask(16), 0)
            }
            "mirror" if self.objects.tofino => {
                want(2)?;
                self.set_register(register::CLONE, &args[0], mask(15), register::REQUESTED)?;
                self.set_register(register::CLONE_FIELDS, &args[1], mask(16), 0)
            }
            "resubmit" => want(1).and_then(|()| {
                let flag = if self.objects.tofino { register::REQUESTED } else { 0 };
                self.set_register(register::RESUBMIT, &args[0], mask(16), flag)
            }),
            "recirculate" => want(1).and_then(|()| self.set_register(register::RECIRCULATE, &args[0], mask(16), 0)),
            "generate_digest" => want(2).and_then(|()| self.set_register(register::DIGEST, &args[1], mask(16), 0)),
            "invalidate" => want(1).and_then(|()| self.invalidate(&args[0])),
            "register_read" => {
                want(3)?;
                let register = named(self.objects.registers, &args[1], "register")?;
                let index = self.code.scope.data(&args[2])?;
                self.code.register_read(&args[0], register, index)
            }
            "register_write" => {
                want(3)?;
                let register = named(self.objects.registers, &args[0], "register")?;
                let (index, value) = (self.code.scope.data(&args[1])?, self.code.scope.data(&args[2])?);
                self.code.register_write(register, index, value);
                Ok(())
            }
            "count" => {
                want(2)?;
                let counter = named(self.objects.counters, &args[0], "counter")?;
                let cell = self.exact(&args[1])?;
                self.code.builder.push(Op::Count { counter, cell });
                Ok(())
            }
            "execute_meter" => {
                want(3)?;
                let meter = named(self.objects.meters, &args[0], "meter")?;
                let cell = self.exact(&args[1])?;
                self.code.result(&args[2], |d, m| Op::Meter { meter, cell, d, m })
            }
            "execute_lpf" | "execute_wred" => {
                want(4)?;
                let filter = named(self.objects.filters, &args[0], "filter")?;
                let (cell, a) = (self.exact(&args[1])?, self.exact(&args[2])?);
                self.code.result(&args[3], |d, m| Op::Filter { filter, cell, a, d, m })
            }
            "modify_field_rng_uniform" => {
                want(3)?;
                let (low, high) = (self.exact(&args[1])?, self.exact(&args[2])?);
                self.code.result(&args[0], |d, m| Op::Random { low, high, d, m })
            }
            "modify_field_with_hash_based_offset" => {
                want(4)?;
                let calculation = self.objects.calculations.find(&args[2].get("value")?)?;
                let (base, size) = (self.exact(&args[1])?, self.exact(&args[3])?);
                self.code.result(&args[0], |d, m| Op::Hash {
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
            let op = match self.code.scope.header(&args[0])? {
                HeaderExpr::Fixed(header) => Op::Header { what, header },
                HeaderExpr::Indexed(headers, index) => {
                    let (list, i) = (self.code.builder.list(&headers), self.code.builder.cell(&index));
                    Op::HeaderAt { what, list, i }
                }
            };
            self.code.builder.push(op);
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
                let op = match (self.code.scope.expr(&args[0])?, name) {
                    (Expr::Stack(stack), "push") => Op::Push { stack, n },
                    (Expr::Stack(stack), _) => Op::Pop { stack, n },
                    (Expr::UnionStack(stack), "push") => Op::PushUnion { stack, n },
                    (Expr::UnionStack(stack), _) => Op::PopUnion { stack, n },
                    _ => return args[0].error("should be a stack"),
                };
                self.code.builder.push(op);
                Ok(())
            }
            other => json.error(format!("primitive '{other}' is not supported")),
        }
    }

    fn copy(&mut self, json: &Json, args: &[Json]) -> Load<()> {
        let layout = self.code.scope.layout;
        let op = match (self.code.scope.expr(&args[0])?, self.code.scope.expr(&args[1])?) {
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
        self.code.builder.push(op);
        Ok(())
    }

    /// A word with an index or amount. A value that does not fit becomes a number beyond every limit.
    fn exact(&mut self, json: &Json) -> Load<u32> {
        let data = self.code.scope.data(json)?;
        Ok(self.code.builder.cell(&data))
    }

    fn set_register(&mut self, slot: u32, json: &Json, keep: u64, flag: u64) -> Load<()> {
        let value = self.code.scope.data(json)?;
        self.code.builder.value_into(&value, slot, keep);
        if flag != 0 {
            let (b, m) = (self.code.builder.constant(flag), self.code.builder.constant(u64::MAX));
            self.code.builder.push(Op::Or { d: slot, a: slot, b, m });
        }
        Ok(())
    }

    /// Restores a metadata field of a Tofino to its state before the program writes it.
    fn invalidate(&mut self, json: &Json) -> Load<()> {
        let field = match self.code.scope.data(json)? {
            Data::Field(field) => &self.code.builder.layout.fields[field as usize],
            _ => return json.error("should be a field"),
        };
        if field.width > 32 {
            return json.error("should be a field of at most 32 bits");
        }
        let d = field.slot;
        let (a, m) = (
            self.code.builder.constant(UNWRITTEN),
            self.code.builder.constant(u64::MAX),
        );
        self.code.builder.push(Op::Move { d, a, m });
        Ok(())
    }

    fn drop(&mut self, header: Option<u32>) -> Load<()> {
        let layout = self.code.builder.layout;
        let member = |name: &str| match header {
            Some(header) => layout.headers[header as usize]
                .fields()
                .find(|&f| layout.fields[f].name == name),
            None if name == "egress_spec" => layout.find("standard_metadata.egress_spec").map(|f| f as usize),
            None => layout.find("intrinsic_metadata.mcast_grp").map(|f| f as usize),
        };
        let m = self.code.builder.constant(u64::MAX);
        for (name, value) in [("egress_spec", u64::from(DROP_PORT)), ("mcast_grp", 0)] {
            if let Some(field) = member(name) {
                let field = &layout.fields[field];
                let a = self.code.builder.constant(value & mask(field.width));
                self.code.builder.push(Op::Move { d: field.slot, a, m });
            }
        }
        Ok(())
    }

    fn jump(&mut self, target: &Json<'j>, condition: Option<&Json<'j>>) -> Load<()> {
        let to = match self.code.scope.data(target)? {
            Data::Const(value) => usize::try_from(&value).unwrap_or(usize::MAX),
            _ => return target.error("the target of a jump should be a constant"),
        };
        let op = match condition {
            Some(condition) => {
                let truth = match self.code.scope.expr(condition)? {
                    Expr::Bool(truth) => truth,
                    Expr::Data(data) => Bool::FromData(Box::new(data)),
                    _ => return condition.error("should be a number or a condition"),
                };
                let a = self.code.builder.truth(&truth);
                self.code.builder.fuse_jump(a)
            }
            None => Op::Jump { to: 0 },
        };
        self.jumps.push((self.code.builder.code.len(), to, target.clone()));
        self.code.builder.push(op);
        Ok(())
    }

    fn log(&mut self, args: &[Json]) -> Load<()> {
        let format = args[0].get("value")?.str()?.to_string();
        let mut values = Vec::new();
        let list = args[1].get("value")?;
        // p4c writes an empty object for an empty list.
        if !list.value().as_object().is_some_and(serde_json::Map::is_empty) {
            for value in list.items()? {
                values.push(self.code.scope.data(&value)?);
            }
        }
        self.code.builder.push(Op::Log(Box::new(LogMessage { format, values })));
        Ok(())
    }
}

fn named(names: &HashMap<String, u32>, json: &Json, what: &str) -> Load<u32> {
    let name = json.get("value")?;
    match names.get(name.str()?) {
        Some(&index) => Ok(index),
        None => name.error(format!("no {what} '{}'", name.str()?)),
    }
}
