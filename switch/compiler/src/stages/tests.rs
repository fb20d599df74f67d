//! Small programs made by hand, with known stages.

use std::rc::Rc;

use num_bigint::BigInt;

use super::{Report, stages};
use crate::{
    arch::Arch,
    diagnostics::Reporter,
    ir::{
        Action, ActionCall, ActionParam, Arg, Expr, ExprKind, Field, FieldRef, Gress, Header, HeaderRef, HeaderType,
        Ir, Key, Label, Outcome, Primitive, Register, RegisterAction, Stmt, Table, Ty, no_annotations,
    },
    source::{SourceMap, Span},
    syntax::ast::BinaryOp as B,
    typed::types::Type,
};

/// A program, built statement by statement. Its fields are metadata that the architecture reads, so all writes count.
struct Program(Ir);

impl Program {
    fn new(arch: Arch) -> Program {
        let mut ir = Ir { arch, ..Ir::default() };
        ir.header_types.push(HeaderType {
            name: "ig_intr_md_t".to_owned(),
            fields: Vec::new(),
        });
        ir.headers.push(Header {
            name: "ig_intr_md".to_owned(),
            ty: 0,
            metadata: true,
        });
        Program(ir)
    }

    fn field(&mut self, width: u32) -> FieldRef {
        let fields = &mut self.0.header_types[0].fields;
        fields.push(Field {
            name: format!("f{}", fields.len()),
            width,
            signed: false,
            is_varbit: false,
        });
        FieldRef::new(HeaderRef::Static(0), fields.len() - 1)
    }

    fn read(&self, f: &FieldRef) -> Expr {
        Expr::new(ExprKind::Field(f.clone()), Ty::bit(self.0.field(f).width))
    }

    fn register(&mut self, width: u32) -> usize {
        let name = format!("r{}", self.0.registers.len());
        self.0.registers.push(Register {
            name,
            size: 1024,
            width,
            ty: Type::bit(width),
            initial: BigInt::ZERO,
            direct: false,
            annotations: no_annotations(),
            span: Span::default(),
        });
        self.0.registers.len() - 1
    }

    /// A RegisterAction. Its body gets the fields of the cell and of the result.
    fn action(&mut self, register: usize, body: impl FnOnce(&Program, &FieldRef, &FieldRef) -> Vec<Stmt>) -> String {
        let width = self.0.registers[register].width;
        let (value, result) = (self.field(width), self.field(width));
        let body = body(self, &value, &result);
        let name = format!("a{}", self.0.register_actions.len());
        self.0.register_actions.push(RegisterAction {
            name: name.clone(),
            register,
            body,
            value: vec![value],
            results: vec![result.clone()],
            index: result,
            code: Vec::new(),
            span: Span::default(),
        });
        name
    }

    /// A RegisterAction that counts, and the statement that runs it.
    fn count(&mut self, register: usize) -> Stmt {
        let name = self.action(register, |p, value, _| {
            let one = Expr::number(1, p.0.field(value).width);
            vec![assign(value, add(p.read(value), one))]
        });
        execute(&name)
    }

    /// An action that the control calls, with one statement.
    fn call(&mut self, stmt: Stmt) -> Stmt {
        let label = Label(self.0.calls.len() as u32);
        self.0.calls.insert(label);
        Stmt::Block(label, vec![stmt])
    }

    /// Sums, each in an action of its own, and each reading the one before: p4c joins sums in `apply`.
    fn sums(&mut self, n: usize) -> Vec<Stmt> {
        let fields: Vec<FieldRef> = (0..=n).map(|_| self.field(16)).collect();
        let sum = |p: &Program, i: usize| assign(&fields[i + 1], add(p.read(&fields[i]), p.read(&fields[0])));
        let all: Vec<Stmt> = (0..n).map(|i| sum(self, i)).collect();
        all.into_iter().map(|s| self.call(s)).collect()
    }

    /// A table with one key field, and an action that sets a field to a parameter.
    fn table(&mut self, kind: &str, key: &FieldRef, size: u64, to: &FieldRef) -> Stmt {
        let width = self.0.field(to).width;
        let param = ActionParam {
            name: "x".into(),
            ty: Type::bit(width),
            width,
            annotations: no_annotations(),
        };
        let value = Expr::new(ExprKind::Param(0), Ty::bit(width));
        self.0.actions.push(Action {
            name: "set".to_owned(),
            params: vec![param],
            code: primitives(vec![assign(to, value)]),
            annotations: no_annotations(),
            source: None,
            span: Span::default(),
        });
        let action = self.0.actions.len() - 1;
        let width = self.0.field(key).width;
        self.0.tables.push(Table {
            name: format!("t{}", self.0.tables.len()),
            keys: vec![Key {
                name: "k".to_owned(),
                target: key.clone(),
                width,
                kind: Rc::from(kind),
                mask: None,
                ty: Type::bit(width),
                annotations: no_annotations(),
            }],
            actions: vec![(action, no_annotations())],
            default: ActionCall {
                action,
                values: vec![BigInt::ZERO],
            },
            const_default: false,
            entries: None,
            const_entries: false,
            size,
            counter: None,
            registers: Vec::new(),
            filters: Vec::new(),
            cell: None,
            meter: None,
            profile: None,
            timeout: false,
            annotations: no_annotations(),
            hidden: false,
            span: Span::default(),
        });
        Stmt::Apply(self.0.tables.len() - 1, Outcome::Any, Span::default())
    }

    /// Places an ingress with these statements. The error has the messages.
    fn place(mut self, body: Vec<Stmt>) -> Result<Report, String> {
        self.0.bodies.push((Gress::Ingress, body));
        let map = SourceMap::default();
        let mut reporter = Reporter::new();
        let report = stages(&self.0, "test.p4", &map, &mut reporter);
        let messages = reporter.finish(&map).to_string();
        if messages.is_empty() {
            Ok(report.unwrap())
        } else {
            Err(messages)
        }
    }
}

fn primitives(stmts: Vec<Stmt>) -> Vec<Primitive> {
    let each = stmts.into_iter().filter_map(|s| match s {
        Stmt::Primitive(p) => Some(p),
        _ => None,
    });
    each.collect()
}

fn assign(to: &FieldRef, value: Expr) -> Stmt {
    Stmt::Primitive(Primitive {
        op: "assign",
        args: vec![Arg::Target(to.clone()), Arg::Value(value)],
        span: Span::default(),
    })
}

fn execute(action: &str) -> Stmt {
    Stmt::Primitive(Primitive {
        op: "execute_register_action",
        args: vec![
            Arg::Named("register_action", action.to_owned()),
            Arg::Value(Expr::number(0, 32)),
        ],
        span: Span::default(),
    })
}

fn add(a: Expr, b: Expr) -> Expr {
    let ty = a.ty;
    Expr::binary(B::Add, a, b, ty)
}

fn less(a: Expr, b: Expr) -> Expr {
    Expr::binary(B::Less, a, b, Ty::Bool)
}

fn if_else(condition: Expr, yes: Vec<Stmt>, no: Vec<Stmt>) -> Stmt {
    Stmt::If(condition, yes, no, Span::default())
}

#[test]
fn each_sum_of_a_chain_takes_a_stage() {
    let mut p = Program::new(Arch::Tna);
    let body = p.sums(5);
    let report = p.place(body).unwrap();
    assert_eq!(report.stages.len(), 5);
    assert_eq!(report.chain.len(), 5);
}

#[test]
fn sums_that_do_not_meet_share_a_stage_and_a_table() {
    let mut p = Program::new(Arch::Tna);
    let (a, b, c, d) = (p.field(16), p.field(16), p.field(16), p.field(16));
    let body = vec![
        assign(&c, add(p.read(&a), p.read(&b))),
        assign(&d, add(p.read(&b), p.read(&a))),
    ];
    let report = p.place(body).unwrap();
    assert_eq!(report.stages.len(), 1);
    assert_eq!(report.total().tables, 1);
}

#[test]
fn a_field_is_written_in_the_stage_that_reads_it_last() {
    let mut p = Program::new(Arch::Tna);
    let (key, to) = (p.field(16), p.field(16));
    let body = vec![p.table("exact", &key, 1024, &to), assign(&key, Expr::number(0, 16))];
    assert_eq!(p.place(body).unwrap().stages.len(), 1);
}

#[test]
fn branches_share_the_stage_of_their_condition() {
    let mut p = Program::new(Arch::Tna);
    let (a, b) = (p.field(8), p.field(16));
    let is_five = Expr::binary(B::Eq, p.read(&a), Expr::number(5, 8), Ty::Bool);
    let body = vec![if_else(
        is_five,
        vec![assign(&b, Expr::number(1, 16))],
        vec![assign(&b, Expr::number(2, 16))],
    )];
    let report = p.place(body).unwrap();
    assert_eq!(report.stages.len(), 1);
    // The gateway is in one of the two tables.
    assert_eq!((report.total().tables, report.total().gateways), (2, 1));
}

#[test]
fn a_copy_is_followed_and_takes_no_stage() {
    let mut p = Program::new(Arch::Tna);
    let (a, b, c) = (p.field(16), p.field(16), p.field(16));
    let body = vec![assign(&b, p.read(&a)), assign(&c, add(p.read(&b), Expr::number(1, 16)))];
    assert_eq!(p.place(body).unwrap().stages.len(), 1);
}

#[test]
fn a_stage_has_four_stateful_alus() {
    let mut p = Program::new(Arch::Tna);
    let body = (0..9)
        .map(|_| {
            let register = p.register(32);
            p.count(register)
        })
        .collect();
    let report = p.place(body).unwrap();
    let by_stage: Vec<u64> = report.stages.iter().map(|s| s.stateful).collect();
    assert_eq!(by_stage, [4, 4, 1]);
    // 1024 cells of 32 bits take a block of 4096, and there is one spare block.
    assert_eq!(report.total().sram, 18);
}

#[test]
fn a_register_is_accessed_once_on_a_path() {
    let mut p = Program::new(Arch::Tna);
    let a = p.field(1);
    let register = p.register(32);
    let (first, second) = (p.count(register), p.count(register));
    let flag = Expr::binary(B::Eq, p.read(&a), Expr::number(1, 1), Ty::Bool);
    let exclusive = vec![if_else(flag, vec![first.clone()], vec![second.clone()])];
    let one_after_the_other = vec![first, second];
    let mut q = Program::new(Arch::Tna);
    q.0.registers = p.0.registers.clone();
    q.0.header_types = p.0.header_types.clone();
    q.0.register_actions = p.0.register_actions.clone();
    let report = p.place(exclusive).unwrap();
    assert_eq!((report.stages.len(), report.total().stateful), (1, 1));
    let message = q.place(one_after_the_other).unwrap_err();
    assert!(
        message.contains("the register 'r0' is accessed twice on one path"),
        "{message}"
    );
}

/// Places a RegisterAction with `n` conditions.
fn with_conditions(arch: Arch, n: u64) -> Result<Report, String> {
    let mut p = Program::new(arch);
    let outside = p.field(32);
    let register = p.register(32);
    let name = p.action(register, |p, value, result| {
        let ask = |i: u64| {
            let sum = add(p.read(&outside), Expr::number(i + 1, 32));
            less(p.read(value), sum)
        };
        let all = (0..n).map(ask).reduce(Expr::and).unwrap();
        vec![if_else(all, vec![assign(result, Expr::number(1, 32))], Vec::new())]
    });
    p.place(vec![execute(&name)])
}

#[test]
fn the_chips_differ_in_comparisons() {
    assert!(with_conditions(Arch::Tna, 2).is_ok());
    let message = with_conditions(Arch::Tna, 3).unwrap_err();
    assert!(
        message.contains("has 3 conditions, but a stateful ALU of Tofino 1 makes 2"),
        "{message}"
    );
    assert!(with_conditions(Arch::T2na, 4).is_ok());
    assert!(with_conditions(Arch::T2na, 5).is_err());
}

#[test]
fn a_large_table_is_spread_over_stages() {
    let mut p = Program::new(Arch::Tna);
    let (key, to, after) = (p.field(48), p.field(9), p.field(9));
    // 38 bits of key without the hash, 4 of version, 9 of data: two entries in a word, so 200000 entries take 98
    // blocks.
    let body = vec![
        p.table("exact", &key, 200_000, &to),
        assign(&after, add(p.read(&to), Expr::number(1, 9))),
    ];
    let report = p.place(body).unwrap();
    assert_eq!(report.stages.len(), 3);
    assert!((98..110).contains(&report.total().sram), "{}", report.total().sram);
}

#[test]
fn a_ternary_table_takes_blocks_by_width_and_entries() {
    let mut p = Program::new(Arch::Tna);
    let (key, to) = (p.field(32), p.field(9));
    let body = vec![p.table("lpm", &key, 1024, &to)];
    let total = p.place(body).unwrap().total();
    // 4 bytes fit into one block of 44 bits; actions and data are 16 bits for each of 1024 entries.
    assert_eq!((total.tcam, total.sram), (2, 1));
}

#[test]
fn too_many_stages_are_reported_with_the_chain() {
    let mut p = Program::new(Arch::Tna);
    let body = p.sums(13);
    let message = p.place(body).unwrap_err();
    assert!(
        message.contains("the 12 stages of Tofino 1 have no room for: the program takes 13"),
        "{message}"
    );
}
