//! Parsers.

use num_bigint::BigInt;
use serde_json::{Value, json};

use super::{Emitter, expr::hex, object};
use crate::ir::{Case, Expr, HeaderRef, Parser, ParserOp, ParserState};

impl Emitter<'_> {
    pub(super) fn parsers(&self) -> Vec<Value> {
        let parser = |(id, p): (usize, &Parser)| {
            let states = reachable(p).into_iter().enumerate();
            let states: Vec<Value> = states.map(|(id, index)| self.state(p, &p.states[index], id)).collect();
            let start = p.states.get(p.start).map_or("start", |s| s.name.as_str());
            let mut out = object([
                ("name", json!(p.name)),
                ("id", json!(id)),
                ("init_state", json!(start)),
                ("parse_states", json!(states)),
            ]);
            if p.errors_read {
                out.insert("parser_errors_read".to_owned(), json!(true));
            }
            Value::Object(out)
        };
        self.ir.parsers.iter().enumerate().map(parser).collect()
    }

    fn state(&self, parser: &Parser, state: &ParserState, id: usize) -> Value {
        let ops: Vec<Value> = state.ops.iter().map(|op| self.operation(op)).collect();
        let bytes: u32 = state.key.iter().map(|k| k.ty.width().div_ceil(8)).sum();
        let transition = |(case, to): &(Case, Option<usize>)| {
            let (kind, value, mask) = match case {
                Case::Default => ("default", Value::Null, Value::Null),
                Case::Value(value, mask) => {
                    let mask = mask.as_ref().map(|m| hex(m, bytes * 8));
                    ("hexstr", json!(hex(value, bytes * 8)), json!(mask))
                }
                Case::ValueSet(set) => ("parse_vset", json!(self.ir.value_sets[*set].name), Value::Null),
            };
            let next = to.map(|t| parser.states[t].name.as_str());
            json!({"type": kind, "value": value, "mask": mask, "next_state": next})
        };
        let transitions: Vec<Value> = state.transitions.iter().map(transition).collect();
        let keys: Vec<Value> = state.key.iter().map(|k| self.data(k)).collect();
        json!({
            "name": state.name,
            "id": id,
            "parser_ops": ops,
            "transitions": transitions,
            "transition_key": keys,
        })
    }

    fn extract_target(&self, header: &HeaderRef) -> Value {
        match header {
            HeaderRef::Static(h) => json!({"type": "regular", "value": self.ir.headers[*h].name}),
            HeaderRef::Next(s) | HeaderRef::Last(s) | HeaderRef::Element(s, _) => {
                json!({"type": "stack", "value": self.ir.stacks[*s].name})
            }
        }
    }

    fn operation(&self, op: &ParserOp) -> Value {
        let (name, parameters) = match op {
            ParserOp::Extract(header, None) => ("extract", vec![self.extract_target(header)]),
            ParserOp::Extract(header, Some(bits)) => (
                "extract_VL",
                vec![self.extract_target(header), self.wrapped(self.data(bits))],
            ),
            ParserOp::ExtractUnion(stack, member, bits) => {
                let name = &self.ir.union_stacks[*stack].name;
                let target = json!({"type": "union_stack", "value": [name, member]});
                match bits {
                    Some(bits) => ("extract_VL", vec![target, self.wrapped(self.data(bits))]),
                    None => ("extract", vec![target]),
                }
            }
            ParserOp::Set(field, value) => {
                let value = match self.argument(value) {
                    value if value.get("type") == Some(&json!("stack_field")) => self.wrapped(value),
                    value => value,
                };
                (
                    "set",
                    vec![json!({"type": "field", "value": self.field_name(field)}), value],
                )
            }
            ParserOp::Verify(check, error) => {
                let code = error.as_int().unwrap_or(BigInt::ZERO);
                let code = if error.is_known() {
                    json!({"type": "hexstr", "value": format!("0x{code:x}")})
                } else {
                    self.argument(error)
                };
                ("verify", vec![self.check(check), code])
            }
            ParserOp::Advance(bits) => ("advance", vec![self.argument(bits)]),
            ParserOp::Primitive(p) => ("primitive", vec![self.primitive(p)]),
        };
        Value::Object(object([("parameters", json!(parameters)), ("op", json!(name))]))
    }

    /// A condition as an expression object.
    fn check(&self, e: &Expr) -> Value {
        match self.value(e) {
            value if value.get("type") == Some(&json!("expression")) => value,
            _ => json!({"type": "expression", "value": {"op": "d2b", "left": null, "right": self.data(e)}}),
        }
    }

    /// A value as an expression object.
    fn wrapped(&self, value: Value) -> Value {
        json!({"type": "expression", "value": value})
    }
}

/// The reachable states, in order of declaration.
fn reachable(parser: &Parser) -> Vec<usize> {
    let mut seen = vec![false; parser.states.len()];
    let mut pending = vec![parser.start];
    while let Some(i) = pending.pop() {
        if i < seen.len() && !std::mem::replace(&mut seen[i], true) {
            pending.extend(parser.states[i].transitions.iter().filter_map(|(_, to)| *to));
        }
    }
    (0..seen.len()).filter(|i| seen[*i]).collect()
}
