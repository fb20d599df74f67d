//! Instances: full names, and sizes of counters, meters, registers and action profiles.

use num_bigint::BigInt;

use super::{Frame, FrameRef, Lowerer, Object, value::Value};
use crate::typed::annotations::numbers_of;
use crate::{
    ir::{Meter, Profile, Register, Unit},
    source::Span,
    typed::{
        tree::{ExprKind, Instance, Local, Maker},
        types::{InstanceId, Type, VarId},
    },
};

/// Largest array of counters, meters or registers, in cells.
const MAX_CELLS: u64 = 1 << 32;
/// Most words of 64 bits for all registers and counters together (512 MiB), and most cells for all meters. The switch
/// gives a program no more.
const MAX_WORDS: u64 = 1 << 26;
const MAX_METERS: u64 = 1 << 22;
/// Default size of the largest group of an action selector; `@max_group_size` changes it.
const DEFAULT_GROUP: u64 = 0;

impl Lowerer<'_> {
    /// Makes an instance, and all instances in it. `path` is the full name of the object around it.
    pub(super) fn instantiate(&mut self, id: InstanceId, path: &str) -> Object {
        let instance = &self.program.instances[id.index()];
        let name = self.full_name(path, &instance.name, &instance.annotations);
        self.instantiate_named(id, name)
    }

    /// The same with a full name.
    pub(super) fn instantiate_named(&mut self, id: InstanceId, name: String) -> Object {
        let instance = &self.program.instances[id.index()];
        let made = self.deeper(instance.span, |l| match &instance.maker {
            Maker::Control(id) => {
                let def = &l.program.controls[id.index()];
                Object::Control(*id, l.block_frame(instance, name, &def.constructor, &def.locals))
            }
            Maker::Parser(id) => {
                let def = &l.program.parsers[id.index()];
                Object::Parser(*id, l.block_frame(instance, name, &def.constructor, &def.locals))
            }
            Maker::Extern(kind, types) => {
                let kind = l.program.externs[kind.index()].name.clone();
                l.extern_instance(id, &kind, types, instance, name)
            }
            Maker::Package(..) => Object::Unsupported,
        });
        made.unwrap_or(Object::Unsupported)
    }

    fn block_frame(&mut self, instance: &Instance, name: String, constructor: &[VarId], locals: &[Local]) -> FrameRef {
        let frame = Frame::new(name);
        for (var, arg) in constructor.iter().zip(&instance.args) {
            let value = arg.as_ref().map_or(Value::Nothing, |a| self.value(a, &mut Vec::new()));
            frame.borrow_mut().vars.insert(*var, value);
        }
        let outer = std::mem::replace(&mut self.frame, frame.clone());
        let path = self.path();
        for local in locals {
            match local {
                Local::Instance(id) => {
                    if !self.spend(self.program.instances[id.index()].span, 1) {
                        break;
                    }
                    let object = self.instantiate(*id, &path);
                    frame.borrow_mut().objects.insert(*id, object);
                }
                Local::ValueSet(id) => self.value_set(*id, &path),
                Local::Variable(..) | Local::Table(_) | Local::Action(_) => {}
            }
        }
        self.frame = outer;
        frame
    }

    fn value_set(&mut self, id: crate::typed::types::ValueSetId, path: &str) {
        let def = &self.program.value_sets[id.index()];
        let name = self.plane_name(&self.full_name(path, &def.name, &def.annotations));
        let size = self
            .known(&def.size, "the size")
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(0);
        let width = |ty: &Type| self.scalar_type(ty).map_or(0, |t| t.width());
        let widths = match &def.element {
            Type::Struct(s) => self.program.types.get(*s).fields.iter().map(|f| width(&f.ty)).collect(),
            Type::Tuple(types) => types.iter().map(width).collect(),
            ty => vec![width(ty)],
        };
        let (ty, annotations, span) = (def.element.clone(), def.annotations.clone(), def.span);
        self.ir.value_sets.push(crate::ir::ValueSet {
            name,
            size,
            widths,
            ty,
            annotations,
            span,
        });
        let index = self.ir.value_sets.len() - 1;
        self.frame.borrow_mut().value_sets.insert(id, index);
    }

    /// Refuses registers, counters and meters that together need more memory than the switch has for them.
    pub(super) fn check_memory(&mut self) {
        let indirect = |counter: &&Meter| !counter.direct;
        let registers = self.ir.registers.iter();
        let registers = registers.map(|r| (r.size.saturating_mul(u64::from(r.width.div_ceil(64))), r.span));
        let counters = self.ir.counters.iter().filter(indirect);
        let counters = counters.map(|c| (c.size.saturating_mul(2), c.span));
        let words = first_beyond(MAX_WORDS, registers.chain(counters));
        let meters = self.ir.meters.iter().filter(indirect);
        let filters = self.ir.filters.iter().map(|f| (f.size, f.span));
        let meters = first_beyond(MAX_METERS, meters.map(|m| (m.size, m.span)).chain(filters));
        if let Some(span) = words {
            self.error(span, "registers and counters take more than 512 MiB with this one");
        }
        if let Some(span) = meters {
            self.error(span, format!("there are more than {MAX_METERS} meters with these"));
        }
    }

    /// A constructor's argument as a number of cells.
    pub(super) fn size_arg(&mut self, instance: &Instance, at: usize) -> u64 {
        let Some(Some(arg)) = instance.args.get(at) else {
            return 0;
        };
        let Some(size) = self.known(arg, "the size") else {
            return 0;
        };
        match u64::try_from(&size).ok().filter(|s| *s <= MAX_CELLS) {
            Some(size) => size,
            None => {
                self.error(arg.span, format!("the size {size} is not between 0 and {MAX_CELLS}"));
                0
            }
        }
    }

    /// The enum member in a constructor's argument.
    fn member_arg(&mut self, instance: &Instance, at: usize) -> Option<usize> {
        let arg = instance.args.get(at)?.as_ref()?;
        if let ExprKind::Member(index) = arg.kind {
            return Some(index);
        }
        let value = self.known(arg, "this argument")?;
        usize::try_from(value).ok()
    }

    fn unit(&mut self, instance: &Instance, at: usize) -> Unit {
        match self.member_arg(instance, at) {
            Some(0) | None => Unit::Packets,
            Some(1) => Unit::Bytes,
            Some(_) => Unit::Both,
        }
    }

    pub(super) fn meter(&mut self, instance: &Instance, name: String, direct: bool, types: &[Type]) -> Meter {
        let size = if direct { 0 } else { self.size_arg(instance, 0) };
        let unit = self.unit(instance, usize::from(!direct));
        let index = if direct { None } else { types.first().cloned() };
        Meter {
            name,
            unit,
            size,
            direct,
            table: None,
            result: None,
            colours: None,
            index: index.unwrap_or(Type::bit(32)),
            annotations: instance.annotations.clone(),
            span: instance.span,
        }
    }

    pub(super) fn register(&mut self, types: &[Type], instance: &Instance, name: String) -> Object {
        let size = self.size_arg(instance, 0);
        let ty = types.first().cloned().unwrap_or(Type::Unknown);
        let Some(scalar) = self.scalar_type(&ty) else {
            let shown = self.show(&ty);
            if ty != Type::Unknown {
                let message = format!("a register of BMv2 holds numbers, not {shown}; use a register for each field");
                self.error(instance.span, message);
            }
            return Object::Unsupported;
        };
        let (annotations, span) = (instance.annotations.clone(), instance.span);
        self.ir.registers.push(Register {
            name,
            size,
            width: scalar.width(),
            ty,
            initial: BigInt::ZERO,
            direct: false,
            annotations,
            span,
        });
        Object::Register(self.ir.registers.len() - 1)
    }

    /// An action profile, or a selector with its algorithm. Argument `size` of the constructor is the size.
    pub(super) fn profile(
        &mut self,
        algorithm: Option<String>,
        size: usize,
        instance: &Instance,
        name: String,
    ) -> Object {
        let size = self.size_arg(instance, size);
        let selector = algorithm.map(|a| (a, Vec::new()));
        let max_group = numbers_of(&instance.annotations, "max_group_size")
            .first()
            .copied()
            .unwrap_or(DEFAULT_GROUP);
        let (annotations, span) = (instance.annotations.clone(), instance.span);
        self.ir.profiles.push(Profile {
            name,
            size,
            selector,
            max_group,
            annotations,
            span,
            tables: Vec::new(),
        });
        Object::Profile(self.ir.profiles.len() - 1)
    }

    /// Name of a hash algorithm, which must be known at compile time.
    pub(super) fn algorithm(&mut self, e: &crate::typed::tree::Expr) -> String {
        let index = match e.kind {
            ExprKind::Member(index) => Some(index),
            _ => self
                .known(e, "the algorithm")
                .and_then(|i: BigInt| usize::try_from(i).ok()),
        };
        match (&e.ty, index) {
            (Type::Enum(id), Some(index)) => {
                let members = &self.program.types.enums[id.index()].members;
                members.get(index).map_or(String::new(), |(name, _)| name.to_string())
            }
            _ => String::new(),
        }
    }
}

/// The first place where the sum of the sizes exceeds the limit.
fn first_beyond(limit: u64, sizes: impl Iterator<Item = (u64, Span)>) -> Option<Span> {
    let mut sum = 0_u64;
    sizes
        .map(|(size, span)| {
            sum = sum.saturating_add(size);
            (sum, span)
        })
        .find(|(sum, _)| *sum > limit)
        .map(|(_, span)| span)
}
