//! Writes BMv2 JSON (BMv2's docs/JSON_format.md), with the names and the order of p4c's output.

mod expand;
mod expr;
mod parser;
mod pipeline;

use num_bigint::BigInt;
use serde_json::{Map, Value, json};

use expr::hex;

use crate::{
    arch::Arch,
    ir::{Calculation, Checksum, Deparser, FieldList, Filter, FilterUse, Ir, Meter, Register, Unit, ValueSet},
    source::{SourceMap, Span},
};

/// Version of the format.
const VERSION: [u32; 2] = [2, 23];

/// Writes JSON for a lowered program.
pub(crate) struct Emitter<'a> {
    ir: &'a Ir,
    map: &'a SourceMap,
    errors: &'a [crate::syntax::token::Symbol],
}

/// An object from key-value pairs, in order.
fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// JSON text of a lowered program.
pub(crate) fn emit(ir: &Ir, map: &SourceMap, errors: &[crate::syntax::token::Symbol], program: &str) -> String {
    let emitter = Emitter { ir, map, errors };
    let mut text = serde_json::to_string_pretty(&emitter.root(program)).unwrap_or_default();
    text.push('\n');
    text
}

impl Emitter<'_> {
    fn root(&self, program: &str) -> Value {
        let list = |items: Vec<Value>| Value::Array(items);
        let mut root = object([
            ("header_types", list(self.header_types())),
            ("headers", list(self.headers())),
            ("header_stacks", list(self.stacks())),
            ("header_union_types", list(self.union_types())),
            ("header_unions", list(self.unions())),
            ("header_union_stacks", list(self.union_stacks())),
            (
                "field_lists",
                list(self.ir.field_lists.iter().map(|l| self.field_list(l)).collect()),
            ),
            (
                "errors",
                list(self.errors.iter().enumerate().map(|(i, e)| json!([&**e, i])).collect()),
            ),
            ("enums", json!([])),
            ("parsers", list(self.parsers())),
            ("parse_vsets", list(self.value_sets())),
            ("deparsers", list(self.deparsers())),
            ("meter_arrays", list(self.meters())),
            ("counter_arrays", list(self.counters())),
            ("register_arrays", list(self.registers())),
            ("calculations", list(self.calculations())),
            (
                "learn_lists",
                list(self.ir.learn_lists.iter().map(|l| self.field_list(l)).collect()),
            ),
            ("actions", list(self.actions())),
            ("pipelines", list(self.pipelines())),
            ("checksums", list(self.checksums())),
            ("force_arith", json!([])),
            ("extern_instances", json!([])),
            ("field_aliases", json!(self.aliases())),
            ("program", json!(program)),
            ("__meta__", self.meta()),
        ]);
        // Only programs for a Tofino have filters.
        if !self.ir.filters.is_empty() {
            root.insert("filter_arrays".to_owned(), list(self.filters()));
        }
        Value::Object(root)
    }

    fn aliases(&self) -> Vec<Value> {
        let aliases = self.ir.standard_aliases.iter();
        aliases
            .map(|(alias, field)| json!([alias, ["standard_metadata", field]]))
            .collect()
    }

    fn meta(&self) -> Value {
        let mut meta = object([
            ("version", json!(VERSION)),
            ("compiler", json!("https://github.com/p4sched/p4sched")),
        ]);
        if self.ir.arch != Arch::V1model {
            meta.insert("arch".to_owned(), json!(self.ir.arch.name()));
        }
        Value::Object(meta)
    }

    /// Adds the place in the source, for the switch's log.
    fn source(&self, to: &mut Map<String, Value>, span: Span) {
        let Some(position) = self.map.position(span) else {
            return;
        };
        let fragment = self.map.snippet(span).lines().next().unwrap_or("");
        let more = self.map.snippet(span).contains('\n');
        let fragment = if more {
            format!("{fragment} ...")
        } else {
            fragment.to_owned()
        };
        let info = json!({
            "filename": position.file,
            "line": position.line,
            "column": position.column - 1,
            "source_fragment": fragment,
        });
        to.insert("source_info".to_owned(), info);
    }

    /// An object with the usual first members (name, number, place in the source), and more pairs.
    fn named<const N: usize>(&self, name: &str, id: usize, span: Span, more: [(&str, Value); N]) -> Map<String, Value> {
        let mut out = object([("name", json!(name)), ("id", json!(id))]);
        self.source(&mut out, span);
        out.extend(object(more));
        out
    }

    fn header_types(&self) -> Vec<Value> {
        let mut list = Vec::new();
        for (id, ty) in self.ir.header_types.iter().enumerate() {
            let field = |f: &crate::ir::Field| {
                if f.is_varbit {
                    json!([f.name, "*"])
                } else {
                    json!([f.name, f.width, f.signed])
                }
            };
            let fields: Vec<Value> = ty.fields.iter().map(field).collect();
            let mut header = object([("name", json!(ty.name)), ("id", json!(id)), ("fields", json!(fields))]);
            if ty.fields.iter().any(|f| f.is_varbit) {
                let bits: u32 = ty.fields.iter().map(|f| f.width).sum();
                header.insert("max_length".to_owned(), json!(bits.div_ceil(8)));
            }
            list.push(Value::Object(header));
        }
        list
    }

    fn headers(&self) -> Vec<Value> {
        let header = |(id, h): (usize, &crate::ir::Header)| {
            json!({
                "name": h.name,
                "id": id,
                "header_type": self.ir.header_types[h.ty].name,
                "metadata": h.metadata,
                "pi_omit": true,
            })
        };
        self.ir.headers.iter().enumerate().map(header).collect()
    }

    fn stacks(&self) -> Vec<Value> {
        let stack = |(id, s): (usize, &crate::ir::Stack)| {
            json!({
                "name": s.name,
                "id": id,
                "header_type": self.ir.header_types[s.ty].name,
                "size": s.elements.len(),
                "header_ids": s.elements,
            })
        };
        self.ir.stacks.iter().enumerate().map(stack).collect()
    }

    fn union_types(&self) -> Vec<Value> {
        let mut list: Vec<Value> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for union in &self.ir.unions {
            if seen.contains(&union.type_name.as_str()) {
                continue;
            }
            seen.push(&union.type_name);
            let member = |(name, h): &(String, usize)| json!([name, self.ir.header_types[self.ir.headers[*h].ty].name]);
            let headers: Vec<Value> = union.members.iter().map(member).collect();
            list.push(json!({"name": union.type_name, "id": list.len(), "headers": headers}));
        }
        list
    }

    fn unions(&self) -> Vec<Value> {
        let union = |(id, u): (usize, &crate::ir::Union)| {
            let ids: Vec<usize> = u.members.iter().map(|(_, h)| *h).collect();
            json!({"name": u.name, "id": id, "union_type": u.type_name, "header_ids": ids, "pi_omit": true})
        };
        self.ir.unions.iter().enumerate().map(union).collect()
    }

    fn union_stacks(&self) -> Vec<Value> {
        let stack = |(id, s): (usize, &crate::ir::UnionStack)| {
            json!({
                "name": s.name,
                "id": id,
                "union_type": s.type_name,
                "size": s.elements.len(),
                "header_union_ids": s.elements,
            })
        };
        self.ir.union_stacks.iter().enumerate().map(stack).collect()
    }

    fn field_list(&self, list: &FieldList) -> Value {
        let mut out = object([("id", json!(list.id)), ("name", json!(list.name))]);
        self.source(&mut out, list.span);
        let elements: Vec<Value> = list.fields.iter().map(|f| self.input(f)).collect();
        out.insert("elements".to_owned(), json!(elements));
        Value::Object(out)
    }

    fn value_sets(&self) -> Vec<Value> {
        let set = |(id, set): (usize, &ValueSet)| {
            let bits: u32 = set.widths.iter().sum();
            let more = [("compressed_bitwidth", json!(bits)), ("max_size", json!(set.size))];
            Value::Object(self.named(&set.name, id, set.span, more))
        };
        self.ir.value_sets.iter().enumerate().map(set).collect()
    }

    fn counters(&self) -> Vec<Value> {
        let all = self.ir.counters.iter().filter(|c| !c.direct || c.table.is_some());
        all.enumerate()
            .map(|(id, c)| Value::Object(self.cells(c, id)))
            .collect()
    }

    fn cells(&self, meter: &Meter, id: usize) -> Map<String, Value> {
        let more = match meter.table {
            Some(table) if meter.direct => [
                ("is_direct", json!(true)),
                ("binding", json!(self.ir.tables[table].name)),
            ],
            _ => [("size", json!(meter.size)), ("is_direct", json!(meter.direct))],
        };
        self.named(&meter.name, id, meter.span, more)
    }

    fn meters(&self) -> Vec<Value> {
        let mut list = Vec::new();
        let all = self.ir.meters.iter().filter(|m| !m.direct || m.table.is_some());
        for (id, meter) in all.enumerate() {
            let mut out = self.cells(meter, id);
            let unit = if meter.unit == Unit::Packets {
                "packets"
            } else {
                "bytes"
            };
            out.insert("rate_count".to_owned(), json!(2));
            out.insert("type".to_owned(), json!(unit));
            if let Some(table) = meter.table {
                out.insert("size".to_owned(), json!(self.ir.tables[table].size));
            }
            if let Some(field) = &meter.result {
                out.insert("result_target".to_owned(), self.field_name(field));
            }
            if let Some(numbers) = meter.colours {
                out.insert("colours".to_owned(), json!(numbers));
            }
            list.push(Value::Object(out));
        }
        list
    }

    fn filters(&self) -> Vec<Value> {
        let filter = |(id, f): (usize, &Filter)| {
            let more = [("size", json!(f.size)), ("is_direct", json!(f.direct))];
            let mut out = self.named(&f.name, id, f.span, more);
            out.extend(match f.of {
                FilterUse::LowPass {
                    gain,
                    decay,
                    scale_down,
                } => object([
                    ("type", json!("low_pass")),
                    ("gain", json!(gain)),
                    ("decay", json!(decay)),
                    ("scale_down", json!(scale_down)),
                ]),
                FilterUse::Red {
                    time,
                    min,
                    max,
                    probability,
                    drop,
                    no_drop,
                } => object([
                    ("type", json!("red")),
                    ("time", json!(time)),
                    ("min", json!(min)),
                    ("max", json!(max)),
                    ("probability", json!(probability)),
                    ("drop", json!(drop)),
                    ("no_drop", json!(no_drop)),
                ]),
            });
            Value::Object(out)
        };
        self.ir.filters.iter().enumerate().map(filter).collect()
    }

    fn registers(&self) -> Vec<Value> {
        let register = |(id, r): (usize, &Register)| {
            let more = [("size", json!(r.size)), ("bitwidth", json!(r.width))];
            let mut out = self.named(&r.name, id, r.span, more);
            if r.initial != BigInt::ZERO {
                out.insert("initial_value".to_owned(), json!(hex(&r.initial, r.width)));
            }
            if r.direct {
                out.insert("is_direct".to_owned(), json!(true));
            }
            Value::Object(out)
        };
        self.ir.registers.iter().enumerate().map(register).collect()
    }

    fn calculations(&self) -> Vec<Value> {
        let calculation = |(id, c): (usize, &Calculation)| {
            let mut input: Vec<Value> = c.input.iter().map(|e| self.input(e)).collect();
            if c.payload {
                input.push(json!({"type": "payload", "value": null}));
            }
            let more = [("algo", json!(c.algorithm)), ("input", json!(input))];
            let mut out = self.named(&c.name, id, c.span, more);
            if let Some(p) = &c.parameters {
                let parameters = json!({
                    "width": p.width,
                    "coefficient": hex(&p.coefficient, p.width),
                    "reversed": p.reversed,
                    "msb": p.msb,
                    "extended": p.extended,
                    "output_width": p.output_width,
                    "init": hex(&p.init, p.width),
                    "xor": hex(&p.xor, p.width),
                });
                out.insert("parameters".to_owned(), parameters);
            }
            Value::Object(out)
        };
        self.ir.calculations.iter().enumerate().map(calculation).collect()
    }

    fn checksums(&self) -> Vec<Value> {
        let checksum = |(id, c): (usize, &Checksum)| {
            let name = match id {
                0 => "cksum".to_owned(),
                n => format!("cksum_{}", n - 1),
            };
            let more = [
                ("target", self.field_name(&c.target)),
                ("type", json!("generic")),
                ("calculation", json!(self.ir.calculations[c.calculation].name)),
                ("verify", json!(c.verify)),
                ("update", json!(!c.verify)),
                ("if_cond", self.value(&c.condition)),
            ];
            Value::Object(self.named(&name, id, c.span, more))
        };
        self.ir.checksums.iter().enumerate().map(checksum).collect()
    }

    fn deparsers(&self) -> Vec<Value> {
        let deparser = |(id, d): (usize, &Deparser)| {
            let order: Vec<&str> = d.order.iter().map(|h| self.ir.headers[*h].name.as_str()).collect();
            let primitives: Vec<Value> = d.primitives.iter().map(|p| self.primitive(p)).collect();
            let more = [("order", json!(order)), ("primitives", json!(primitives))];
            Value::Object(self.named(d.name, id, d.span, more))
        };
        self.ir.deparsers.iter().enumerate().map(deparser).collect()
    }
}
