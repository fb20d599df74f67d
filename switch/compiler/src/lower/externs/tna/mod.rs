//! TNA's functions, objects and methods.

mod deparser;
mod filter;
mod hash;
mod math;
mod meter;
mod parser;
mod register;

use super::Args;
use crate::{
    ir::{Arg, Expr, Stmt, Ty},
    lower::{
        Lowerer, Object,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::BinaryOp,
    typed::{
        tree::Instance,
        types::{InstanceId, Type},
    },
};

/// An instance of an extern of the chip.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Extern {
    /// A RegisterAction: its declaration, name, place and register.
    RegisterAction(register::Declared),
    /// A register of one cell that only the control plane writes.
    RegisterParam(usize),
    Math(math::Unit),
    /// Index of a filter.
    Filter(usize),
    Hash(hash::Hash),
    Polynomial(hash::Polynomial),
    /// Random numbers of a type.
    Random(Ty),
    /// The ones' complement sum so far.
    Checksum(Loc),
    ParserCounter(Loc),
    /// Mirrors or resubmits, if the type in the chip's metadata has this value.
    Mirror(Option<Expr>),
    Resubmit(Option<Expr>),
    Digest(deparser::Digest),
    /// An extern that only advises on the storage of tables or on the load of the parser.
    Advice,
}

/// Fields of the chip's metadata that are undefined until the program writes them.
const UNWRITTEN_AT_FIRST: [&str; 4] = ["ucast_egress_port", "mirror_type", "resubmit_type", "digest_type"];

impl Lowerer<'_> {
    pub(in crate::lower) fn tna_object(
        &mut self,
        id: InstanceId,
        kind: &str,
        types: &[Type],
        instance: &Instance,
        name: String,
    ) -> Object {
        let plane = self.plane_name(&name);
        let made = match kind {
            "Counter" | "DirectCounter" => {
                let direct = kind == "DirectCounter";
                let mut counter = self.meter(instance, plane, direct, &[]);
                counter.index = Type::bit(32);
                self.ir.counters.push(counter);
                return Object::Counter(self.ir.counters.len() - 1);
            }
            "Meter" | "DirectMeter" => return self.colour_meter(kind == "DirectMeter", instance, plane),
            "DirectRegister" => return self.direct_register(types, instance, plane),
            "Register" => return self.tna_register(types, instance, plane),
            "ActionProfile" => return self.profile(None, 0, instance, plane),
            "ActionSelector" => return self.tna_selector(instance, plane),
            "RegisterParam" => self.register_param(types, instance, plane).map(Extern::RegisterParam),
            // Also direct ones, and those with several results of different types (their names end in a number).
            kind if kind.contains("RegisterAction") => self.declared(id, instance, plane).map(Extern::RegisterAction),
            "Lpf" | "DirectLpf" => {
                let filter = self.low_pass(kind == "DirectLpf", types, instance, plane);
                filter.map(Extern::Filter)
            }
            "Wred" | "DirectWred" => {
                let filter = self.red(kind == "DirectWred", types, instance, plane);
                filter.map(Extern::Filter)
            }
            "MathUnit" => self.math_unit(types, instance).map(Extern::Math),
            "CRCPolynomial" => self.polynomial(types, instance).map(Extern::Polynomial),
            "Hash" => self.hash_object(types, instance).map(Extern::Hash),
            "Random" => {
                let ty = types.first().and_then(|t| self.scalar_type(t));
                ty.map(Extern::Random)
            }
            "Checksum" => Some(Extern::Checksum(self.scalar(&name, Ty::bit(16), instance.span))),
            "ParserCounter" => Some(Extern::ParserCounter(self.scalar(&name, Ty::bit(8), instance.span))),
            "Mirror" => Some(Extern::Mirror(self.chosen_type(instance))),
            "Resubmit" => Some(Extern::Resubmit(self.chosen_type(instance))),
            "Digest" => {
                let when = self.chosen_type(instance);
                self.digest_object(types, when, instance, plane).map(Extern::Digest)
            }
            "ParserPriority" | "Atcam" | "Alpm" | "IdleTimeout" => Some(Extern::Advice),
            other => {
                self.error(
                    instance.span,
                    format!("the extern {other} is not supported by this switch"),
                );
                None
            }
        };
        match made {
            Some(made) => {
                self.tna.externs.push(made);
                Object::Tna(self.tna.externs.len() - 1)
            }
            None => Object::Unsupported,
        }
    }

    pub(in crate::lower) fn tna_method(
        &mut self,
        object: Object,
        name: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let made = match object {
            Object::Counter(c) if name == "count" => {
                self.count(c, args, span, out);
                return Value::Nothing;
            }
            Object::Meter(m) if name == "execute" => return self.colour(m, args, span, out),
            Object::Register(r) => return self.register_access(r, name, args, span, out),
            Object::Tna(index) => self.tna.externs[index].clone(),
            _ => return self.no_method(name, span),
        };
        match (made, name) {
            (Extern::RegisterAction(action), "execute") => self.execute(&action, args, span, out),
            (Extern::RegisterAction(action), _) => self.alu_method(&action, name, args, span, out),
            (Extern::RegisterParam(r), "read") => self.read_cell(r, Expr::number(0, 32), span, out),
            (Extern::Filter(filter), "execute") => self.filtered(filter, args, span, out),
            (Extern::Math(unit), "execute") => self.math(&unit, args, span, out),
            (Extern::Hash(hash), "get") => self.tna_hash(&hash, args, span, out),
            (Extern::Random(ty), "get") => self.random(ty, span, out),
            (Extern::Checksum(sum), _) => self.checksum_method(&sum, name, args, span, out),
            (Extern::ParserCounter(counter), _) => self.counter_method(&counter, name, args, span, out),
            (Extern::Mirror(when), "emit") => self.mirror(when, args, span, out),
            (Extern::Resubmit(when), "emit") => self.resubmit(when, args, span, out),
            (Extern::Digest(digest), "pack") => self.pack(&digest, args, span, out),
            (Extern::Advice, _) => Value::Nothing,
            _ => self.no_method(name, span),
        }
    }

    fn no_method(&mut self, name: &str, span: Span) -> Value {
        self.error(span, format!("the method '{name}' is not supported by this switch"));
        Value::Nothing
    }

    pub(in crate::lower) fn tna_function(
        &mut self,
        name: &str,
        types: &[Type],
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        let width = |l: &Self| {
            let ty = types.first().or_else(|| args.first()?.as_ref().map(|e| &e.ty));
            ty.and_then(|t| l.program.types.width(t, false)).unwrap_or(0)
        };
        match name {
            "min" | "max" => {
                let (a, b) = (self.number_arg(args, 0, out), self.number_arg(args, 1, out));
                let less = Expr::binary(BinaryOp::Less, a.clone(), b.clone(), Ty::Bool);
                let (yes, no) = if name == "min" { (a, b) } else { (b, a) };
                Value::Scalar(Expr::conditional(less, yes, no))
            }
            "sizeInBits" => Value::Scalar(Expr::number(width(self), 32)),
            "sizeInBytes" => Value::Scalar(Expr::number(width(self).div_ceil(8), 32)),
            "port_metadata_unpack" => self.port_metadata(types.first().unwrap_or(&Type::Unknown), span, out),
            "funnel_shift_right" => {
                let (high, low) = (self.number_arg(args, 1, out), self.number_arg(args, 2, out));
                let by = args
                    .get(3)
                    .and_then(Option::as_ref)
                    .and_then(|e| self.known(e, "the amount"));
                let by = by.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
                let (ty, wide) = (low.ty, Ty::bit(high.ty.width() + low.ty.width()));
                let joined = super::super::expr::concatenate(high, low, wide);
                let shifted = Expr::binary(BinaryOp::Shr, joined, Expr::number(by, 32), wide);
                let place = self.place_arg(args, 0, out);
                self.assign(&place, Value::Scalar(shifted.cast(ty)), span, out);
                Value::Nothing
            }
            "invalidate" => {
                // No other field can be invalid on this switch, so all others stay unchanged.
                if let Loc::Field(field, _) = self.place_arg(args, 0, out)
                    && UNWRITTEN_AT_FIRST.contains(&self.ir.field(&field).name.as_str())
                {
                    Self::push(out, "invalidate", vec![Arg::Target(field)], span);
                }
                Value::Nothing
            }
            other => {
                self.error(
                    span,
                    format!("the extern function '{other}' is not supported by this switch"),
                );
                Value::Nothing
            }
        }
    }

    /// Argument of the constructor with the type in the chip's metadata for which an object is used.
    fn chosen_type(&mut self, instance: &Instance) -> Option<Expr> {
        let arg = instance.args.first()?.as_ref()?;
        let value = self.known(arg, "the type")?;
        let ty = self.scalar_type(&arg.ty).unwrap_or(Ty::bit(8));
        Some(Expr::int(&value, ty))
    }
}
