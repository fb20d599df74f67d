//! Expressions over a fixed set of operands, computed by the switch from a packet or by the compiler from constants.

use crate::common::switch::{Parts, Switch};

/// The operands of every expression.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// `bit<8>`
    pub a: u8,
    /// `bit<8>`
    pub b: u8,
    /// `bit<16>`
    pub c: u16,
    /// `bit<32>`
    pub d: u32,
    /// `int<8>`
    pub s: i8,
    /// `int<8>`
    pub t: i8,
    /// `int<16>`
    pub u: i16,
    /// `bit<72>`
    pub w: u128,
}

/// Type and name of each operand.
const FIELDS: [(&str, &str); 8] = [
    ("bit<8>", "a"),
    ("bit<8>", "b"),
    ("bit<16>", "c"),
    ("bit<32>", "d"),
    ("int<8>", "s"),
    ("int<8>", "t"),
    ("int<16>", "u"),
    ("bit<72>", "w"),
];

impl Operands {
    fn values(&self) -> [String; 8] {
        let Operands { a, b, c, d, s, t, u, w } = self;
        [
            a.to_string(),
            b.to_string(),
            c.to_string(),
            d.to_string(),
            s.to_string(),
            t.to_string(),
            u.to_string(),
            w.to_string(),
        ]
    }

    fn frame(&self) -> Vec<u8> {
        let mut frame = vec![self.a, self.b];
        frame.extend(self.c.to_be_bytes());
        frame.extend(self.d.to_be_bytes());
        frame.extend(self.s.to_be_bytes());
        frame.extend(self.t.to_be_bytes());
        frame.extend(self.u.to_be_bytes());
        frame.extend(&self.w.to_be_bytes()[7..]);
        frame
    }
}

/// A program that puts the value of each expression in 64 bits into its answer. `declare` declares the operands.
fn program(expressions: &[String], declare: &str) -> Switch {
    let inputs: String = FIELDS.iter().map(|(ty, name)| format!("{ty} {name}; ")).collect();
    let outputs: String = (0..expressions.len()).map(|i| format!("bit<64> r{i}; ")).collect();
    let types = format!(
        "header in_t {{ {inputs} }} header out_t {{ {outputs} }}
        struct headers_t {{ in_t i; out_t o; }} struct meta_t {{ bit<8> unused; }}"
    );
    let mut apply = format!("{declare} hdr.o.setValid(); sm.egress_spec = 2;");
    for (i, expression) in expressions.iter().enumerate() {
        apply += &format!("\nhdr.o.r{i} = (bit<64>)({expression});");
    }
    let parts = Parts {
        types: &types,
        parser: "state start { p.extract(hdr.i); transition accept; }",
        ingress_apply: &apply,
        deparser: "p.emit(hdr.o);",
        ..Parts::default()
    };
    parts.load()
}

fn answers(switch: &mut Switch, frame: &[u8]) -> Vec<u64> {
    let (_, frame) = switch.forward(frame);
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b));
    frame.chunks_exact(8).map(number).collect()
}

/// Values computed by the switch from a packet.
pub fn run(expressions: &[String], operands: &Operands) -> Vec<u64> {
    let declare: String = FIELDS
        .iter()
        .map(|(ty, name)| format!("{ty} {name} = hdr.i.{name}; "))
        .collect();
    answers(&mut program(expressions, &declare), &operands.frame())
}

/// Values computed by the compiler from constants.
pub fn fold(expressions: &[String], operands: &Operands) -> Vec<u64> {
    let values = operands.values();
    let constant = |((ty, name), value): (&(&str, &str), &String)| format!("const {ty} {name} = {value}; ");
    let declare: String = FIELDS.iter().zip(&values).map(constant).collect();
    answers(&mut program(expressions, &declare), &operands.frame())
}
