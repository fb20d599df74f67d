//! v1model's functions, objects and methods as primitives of BMv2 (its docs/simple_switch.md and primitives.cpp).

use num_bigint::BigInt;

use super::Args;
use crate::typed::annotations::{name_of, numbers_of};
use crate::{
    ir::{Arg, Expr, FieldList, Gress, Stmt, Ty},
    lower::{
        Lowerer, Object,
        arch::Block,
        assign::target,
        value::{Loc, Value},
    },
    source::Span,
    syntax::ast::BinaryOp,
    typed::{
        tree::{self, Instance},
        types::Type,
    },
};

impl Lowerer<'_> {
    pub(in crate::lower) fn v1model_object(
        &mut self,
        kind: &str,
        types: &[Type],
        instance: &Instance,
        name: String,
    ) -> Object {
        self.ir.declares_externs |= !instance.in_table;
        match kind {
            "counter" | "direct_counter" => {
                let counter = self.meter(instance, name, kind == "direct_counter", types);
                self.ir.counters.push(counter);
                Object::Counter(self.ir.counters.len() - 1)
            }
            "meter" | "direct_meter" => {
                let meter = self.meter(instance, name, kind == "direct_meter", types);
                self.ir.meters.push(meter);
                Object::Meter(self.ir.meters.len() - 1)
            }
            "register" => self.register(types, instance, name),
            "action_profile" => self.profile(None, 0, instance, name),
            "action_selector" => {
                let algorithm = instance.args.first().cloned().flatten();
                let algorithm = algorithm.map_or(String::new(), |a| self.algorithm(&a));
                self.profile(Some(algorithm), 1, instance, name)
            }
            other => {
                let message = format!("the extern {other} is not supported by BMv2's simple_switch");
                self.error(instance.span, message);
                Object::Unsupported
            }
        }
    }

    fn only_in(&mut self, allowed: Gress, name: &str, span: Span) -> bool {
        if (self.block, self.gress) == (Block::Control, allowed) {
            return true;
        }
        let place = if allowed == Gress::Ingress { "ingress" } else { "egress" };
        self.error(span, format!("'{name}' can be called in {place} only"));
        false
    }

    pub(in crate::lower) fn v1model_function(
        &mut self,
        name: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        self.ir.calls_functions |= self.block != Block::Parser;
        match name {
            "mark_to_drop" => {
                Self::push(out, "mark_to_drop", vec![Arg::Header(Self::standard_header())], span);
            }
            "hash" => self.hash(args, span, out),
            "random" => {
                let (low, high) = (self.number_arg(args, 1, out), self.number_arg(args, 2, out));
                let ty = self.arg_type(args, 0, low.ty);
                self.writing(args, 0, ty, span, out, |field| {
                    (
                        "modify_field_rng_uniform",
                        vec![Arg::Target(field), Arg::Value(low), Arg::Value(high)],
                    )
                });
            }
            "digest" => self.digest(args, span, out),
            "clone" | "clone_preserving_field_list" | "clone3" => self.clone_packet(name, args, span, out),
            "resubmit" | "resubmit_preserving_field_list" => {
                self.only_in(Gress::Ingress, name, span);
                self.again("resubmit", name, args, span, out);
            }
            "recirculate" | "recirculate_preserving_field_list" => {
                self.only_in(Gress::Egress, name, span);
                self.again("recirculate", name, args, span, out);
            }
            "truncate" => {
                let length = self.number_arg(args, 0, out);
                Self::push(out, "truncate", vec![Arg::Value(length)], span);
            }
            "assert" | "assume" => {
                let check = self.number_arg(args, 0, out);
                let op = if name == "assert" { "assert" } else { "assume" };
                Self::push(out, op, vec![Arg::Value(check)], span);
            }
            "log_msg" => self.log_message(args, span, out),
            "verify" => {
                let (check, error) = (self.number_arg(args, 0, out), self.number_arg(args, 1, out));
                if self.block != Block::Parser {
                    self.error(span, "'verify' can be called in parsers only");
                }
                Self::push(out, "verify", vec![Arg::Value(check), Arg::Value(error)], span);
            }
            "verify_checksum" | "update_checksum" | "verify_checksum_with_payload" | "update_checksum_with_payload" => {
                self.checksum(name, args, span, out);
            }
            other => self.error(
                span,
                format!("the extern function '{other}' is not known to BMv2's simple_switch"),
            ),
        }
        Value::Nothing
    }

    pub(in crate::lower) fn v1model_method(
        &mut self,
        object: Object,
        name: &str,
        args: Args,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Value {
        match (object, name) {
            (Object::Counter(c), "count") => self.count(c, args, span, out),
            (Object::Meter(m), "execute_meter") => {
                let meter = Arg::Named("meter_array", self.ir.meters[m].name.clone());
                let index = self.number_arg(args, 0, out);
                let ty = self.arg_type(args, 1, Ty::bit(32));
                self.writing(args, 1, ty, span, out, |field| {
                    ("execute_meter", vec![meter, Arg::Value(index), Arg::Target(field)])
                });
            }
            (Object::Meter(m), "read") => self.direct_meter(m, args, span, out),
            (Object::Register(r), "read") => {
                let register = Arg::Named("register_array", self.ir.registers[r].name.clone());
                let index = self.number_arg(args, 1, out);
                let ty = self.arg_type(args, 0, Ty::bit(self.ir.registers[r].width));
                self.writing(args, 0, ty, span, out, |field| {
                    ("register_read", vec![Arg::Target(field), register, Arg::Value(index)])
                });
            }
            (Object::Register(r), "write") => {
                let register = Arg::Named("register_array", self.ir.registers[r].name.clone());
                let (index, value) = (self.number_arg(args, 0, out), self.number_arg(args, 1, out));
                Self::push(
                    out,
                    "register_write",
                    vec![register, Arg::Value(index), Arg::Value(value)],
                    span,
                );
            }
            _ => self.error(span, format!("the method '{name}' is not supported by BMv2")),
        }
        Value::Nothing
    }

    /// Sets the result field of a direct meter; BMv2 writes it itself.
    fn direct_meter(&mut self, meter: usize, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let place = self.place_arg(args, 0, out);
        let Some(field) = target(&place) else {
            self.error(span, "the result of a direct meter must go to a whole field");
            return;
        };
        let known = self.ir.meters[meter].result.replace(field.clone());
        if known.is_some_and(|k| k != field) {
            self.error(span, "all reads of a direct meter must go to the same field");
        }
    }

    fn hash(&mut self, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let Some(Some(algorithm)) = args.get(1) else { return };
        let algorithm = self.algorithm(algorithm);
        let base = self.number_arg(args, 2, out);
        let data = self.value_arg(args, 3, out);
        let input = self.inputs(data, span, out);
        let most = self.number_arg(args, 4, out);
        let calculation = self.calculation(algorithm, input, false, span);
        let name = Arg::Named("calculation", self.ir.calculations[calculation].name.clone());
        let ty = self.arg_type(args, 0, Ty::bit(32));
        self.writing(args, 0, ty, span, out, |field| {
            let args = vec![Arg::Target(field), Arg::Value(base), name, Arg::Value(most)];
            ("modify_field_with_hash_based_offset", args)
        });
    }

    fn checksum(&mut self, name: &str, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let verify = name.starts_with("verify");
        let wanted = if verify { Gress::Ingress } else { Gress::Egress };
        if (self.block, self.gress) != (Block::Checksums, wanted) {
            let place = if verify {
                "checksum verification"
            } else {
                "checksum update"
            };
            self.error(span, format!("'{name}' can be called in the {place} control only"));
            return;
        }
        let condition = self.number_arg(args, 0, out);
        let around = self.conditions.iter().cloned();
        let condition = Expr::joined(BinaryOp::And, around.chain([condition]).collect(), true);
        let data = self.value_arg(args, 1, out);
        let input = self.inputs(data, span, out);
        let place = self.place_arg(args, 2, out);
        let Some(Some(algorithm)) = args.get(3) else { return };
        let algorithm = self.algorithm(algorithm);
        let Some(target) = target(&place) else {
            self.error(span, "a checksum is held in a whole field");
            return;
        };
        let payload = name.ends_with("_with_payload");
        let calculation = self.calculation(algorithm, input, payload, span);
        self.ir.checksums.push(crate::ir::Checksum {
            target,
            calculation,
            verify,
            condition,
            span,
        });
    }

    fn digest(&mut self, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let receiver = self.number_arg(args, 0, out);
        let Some(Some(data)) = args.get(1) else { return };
        // The list is read at the end of ingress, so new variables save the current values.
        let value = self.value(data, out).read();
        let values = self.inputs(value, span, out);
        let fields = values.into_iter().map(|value| self.kept(value, span, out)).collect();
        let name = self.digest_name(&data.ty);
        let id = self.ir.learn_lists.len() as u32 + 1;
        let list = FieldList {
            name,
            id,
            fields,
            digest: Some(data.ty.clone()),
            span,
        };
        self.ir.learn_lists.push(list);
        let args = vec![Arg::Value(receiver), Arg::Number(BigInt::from(id))];
        Self::push(out, "generate_digest", args, span);
    }

    /// Name of a digest, as in p4c: the name of its type, or a number.
    fn digest_name(&self, ty: &Type) -> String {
        let types = &self.program.types;
        match ty {
            Type::Struct(id) => {
                let def = types.get(*id);
                name_of(&def.annotations).unwrap_or_else(|| def.name.to_string())
            }
            Type::New(_) | Type::Enum(_) => self.show(ty),
            _ => {
                let number = |l: &FieldList| l.name.strip_prefix("digest_")?.parse::<usize>().ok();
                let unnamed = self.ir.learn_lists.iter().filter(|l| number(l).is_some());
                format!("digest_{}", unnamed.count())
            }
        }
    }

    /// The list of user metadata fields with `@field_list(number)`.
    fn numbered_list(&mut self, args: Args, i: usize, span: Span) -> u32 {
        let Some(Some(arg)) = args.get(i) else { return 0 };
        let Some(number) = self
            .known(arg, "the number of a field list")
            .and_then(|n| u64::try_from(n).ok())
        else {
            return 0;
        };
        if let Some(id) = self.v1model.field_lists.get(&number) {
            return *id;
        }
        let fields = self.metadata_fields(number);
        if fields.is_empty() {
            let message = format!("no field of the user metadata is annotated @field_list({number})");
            self.reporter.warning("invalid", arg.span, message);
        }
        let id = self.add_field_list(format!("field_list{number}"), fields, span);
        self.v1model.field_lists.insert(number, id);
        id
    }

    fn clone_packet(&mut self, name: &str, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let Some(Some(kind)) = args.first() else { return };
        let (op, allowed) = match kind.kind {
            tree::ExprKind::Member(0) => ("clone_ingress_pkt_to_egress", Gress::Ingress),
            tree::ExprKind::Member(1) => ("clone_egress_pkt_to_egress", Gress::Egress),
            _ => return self.error(kind.span, "the type of a clone must be known when compiling"),
        };
        self.only_in(allowed, name, span);
        let session = self.number_arg(args, 1, out);
        let list = match name {
            "clone" => self.add_field_list(format!("fl{}", self.ir.field_lists.len()), Vec::new(), span),
            "clone3" => self.given_list(args, 2, span, out),
            _ => self.numbered_list(args, 2, span),
        };
        Self::push(
            out,
            op,
            vec![Arg::Value(session), Arg::Number(BigInt::from(list))],
            span,
        );
    }

    fn given_list(&mut self, args: Args, i: usize, span: Span, out: &mut Vec<Stmt>) -> u32 {
        let value = self.value_arg(args, i, out).read();
        let fields = self.inputs(value, span, out);
        self.add_field_list(format!("fl{}", self.ir.field_lists.len()), fields, span)
    }

    fn again(&mut self, op: &'static str, name: &str, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let list = if name.ends_with("_preserving_field_list") {
            self.numbered_list(args, 0, span)
        } else {
            self.given_list(args, 0, span, out)
        };
        Self::push(out, op, vec![Arg::Number(BigInt::from(list))], span);
    }

    fn log_message(&mut self, args: Args, span: Span, out: &mut Vec<Stmt>) {
        let Value::Text(text) = self.value_arg(args, 0, out) else {
            return self.error(span, "the message must be a string");
        };
        let Some(Some(data)) = args.get(1) else {
            return Self::push(out, "log_msg", vec![Arg::Text(text), Arg::Values(Vec::new())], span);
        };
        let value = self.value_arg(args, 1, out);
        let mut values = Vec::new();
        let mut pieces = text.split("{}");
        let mut shown = pieces.next().unwrap_or_default().to_owned();
        let parts = self.members_of(value, &data.ty).into_iter();
        // A placeholder without a value stays in the text.
        let mut formats = parts.map(|(_, value, ty)| self.log_format(value, &ty, &mut values));
        for piece in pieces {
            shown += formats.next().as_deref().unwrap_or("{}");
            shown += piece;
        }
        formats.for_each(drop);
        Self::push(out, "log_msg", vec![Arg::Text(shown.into()), Arg::Values(values)], span);
    }

    /// Parts of a struct, header or tuple, with name and type.
    fn members_of(&self, value: Value, ty: &Type) -> Vec<(String, Value, Type)> {
        let parts: Vec<(String, Type)> = match ty {
            Type::Struct(id) => {
                let fields = self.program.types.get(*id).fields.iter();
                fields.map(|f| (f.name.to_string(), f.ty.clone())).collect()
            }
            Type::Tuple(types) => types.iter().map(|t| (String::new(), t.clone())).collect(),
            Type::Record(fields) => fields.iter().map(|(n, t)| (n.to_string(), t.clone())).collect(),
            _ => Vec::new(),
        };
        let values: Vec<Value> = match value.read() {
            one @ Value::Scalar(_) => return vec![(String::new(), one, ty.clone())],
            Value::List(values) | Value::Header(values) => values,
            Value::Place(Loc::Header(header, id)) => self.header_fields(&header, id).iter().map(Loc::read).collect(),
            _ => Vec::new(),
        };
        let named = parts.into_iter().zip(values);
        named.map(|((name, ty), value)| (name, value, ty)).collect()
    }

    /// Format of a value, as in p4c: `{}`, or `(a:{},b:{})` for a header.
    fn log_format(&self, value: Value, ty: &Type, values: &mut Vec<Expr>) -> String {
        if let Value::Scalar(e) = value {
            values.push(e);
            return "{}".to_owned();
        }
        let parts = self.members_of(value, ty).into_iter();
        let shown = parts.map(|(name, value, ty)| format!("{name}:{}", self.log_format(value, &ty, values)));
        format!("({})", shown.collect::<Vec<_>>().join(","))
    }
}

/// True if a metadata field has an annotation with the number of a field list.
pub(in crate::lower) fn in_list(annotations: &tree::Annotations, number: u64) -> bool {
    numbers_of(annotations, "field_list").contains(&number)
}
