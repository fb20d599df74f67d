//! Types, names and compile-time values, tested through the widths of a struct's fields.

use super::*;
use crate::{
    diagnostics::Diagnostics,
    source::SourceMap,
    syntax::{lexer, parser, token::Tok, token::Token},
    typed::tree::{Maker, StmtKind},
};

fn checked(text: &str) -> (Program, Diagnostics) {
    let mut map = SourceMap::default();
    let file = map.add("t.p4", text.to_owned()).unwrap();
    let mut tokens = lexer::tokens(text, map.base(file));
    tokens.push(Token {
        tok: Tok::End,
        span: Span::default(),
        starts_line: true,
        joined: false,
    });
    let mut reporter = Reporter::new();
    let decls = parser::parse(&tokens, &mut reporter);
    let (program, _) = check(&decls, Arch::V1model, &map, &mut reporter);
    (program, reporter.finish(&map))
}

/// Types of the fields of the last struct.
#[track_caller]
fn fields(text: &str) -> Vec<String> {
    let (program, problems) = checked(text);
    assert!(problems.is_empty(), "{problems}");
    let last = program.types.structs.last().unwrap();
    last.fields.iter().map(|f| program.types.show(&f.ty)).collect()
}

/// Value of an expression, read from a width.
#[track_caller]
fn value(declarations: &str, expression: &str) -> u32 {
    let fields = fields(&format!("{declarations} struct S {{ bit<({expression})> x; }}"));
    fields[0]
        .trim_start_matches("bit<")
        .trim_end_matches('>')
        .parse()
        .unwrap()
}

/// Messages with their places.
#[track_caller]
fn fails(text: &str, expected: &[&str]) {
    let (_, problems) = checked(text);
    let lines: Vec<String> = problems
        .iter()
        .map(|d| match &d.position {
            Some(p) => format!("{}:{}: {}", p.line, p.column, d.message),
            None => d.message.clone(),
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn integers_without_a_width_have_any_size() {
    assert_eq!(value("const int big = 1 << 200;", "big >> 195"), 32);
    assert_eq!(value("const int n = 10;", "-n + 3 * n - 2"), 18);
    assert_eq!(value("", "7 / 2 + 7 % 4"), 6);
    assert_eq!(value("", "(1 << 4) - 1 & 6 | 8"), 14);
}

#[test]
fn constants_have_the_width_of_their_type() {
    assert_eq!(value("const bit<4> n = 15;", "n + 1 + 8"), 8);
    assert_eq!(value("const int<4> n = 7;", "(bit<4>)(n + 1)"), 8);
    assert_eq!(value("const bit<8> a = 200; const bit<8> b = a |+| 100;", "b"), 255);
    assert_eq!(value("const bit<8> a = 0xf0;", "a[7:4] ++ 1w1"), 31);
    assert_eq!(value("const bool yes = true && !false;", "yes ? 3 : 4"), 3);
    assert_eq!(value("const bit<8> a = 3;", "a == 3 || a > 5 ? 1 : 2"), 1);
}

#[test]
fn a_type_of_its_own_takes_a_number_without_a_cast() {
    let types = "type bit<9> port_t; const port_t CPU = 5;";
    assert_eq!(value(types, "(bit<9>)CPU + 1"), 6);
}

#[test]
fn members_of_enums_with_a_type_are_numbers() {
    assert_eq!(
        value(
            "enum bit<8> E { one = 1, two = one_more } "
                .replace("one_more", "2")
                .as_str(),
            "E.two + 4"
        ),
        6
    );
    assert_eq!(
        value("header H { bit<12> a; bit<4> b; }", "(bit<16>)H.minSizeInBits() + 1"),
        17
    );
    assert_eq!(
        value(
            "header H { bit<12> a; varbit<20> b; }",
            "H.maxSizeInBytes() + H.minSizeInBytes()"
        ),
        6
    );
}

#[test]
fn names_for_types_are_resolved() {
    assert_eq!(
        fields(
            "typedef bit<9> port_t; type bit<8> id_t; enum E { a, b } header H { port_t p; bit<7> q; }
             struct S { port_t p; id_t i; E e; H h; H[3] s; tuple<bool, int<5>> t; error r; bit b; }"
        ),
        [
            "bit<9>",
            "id_t",
            "E",
            "H",
            "H[3]",
            "tuple<bool, int<5>>",
            "error",
            "bit<1>"
        ]
    );
}

#[test]
fn a_generic_struct_is_one_struct_for_each_list_of_type_arguments() {
    let (program, problems) = checked(
        "struct Pair<A, B> { A a; B b; } struct S { Pair<bit<8>, bool> x; Pair<bit<8>, bool> y; Pair<bit<4>, bool> z; }",
    );
    assert!(problems.is_empty(), "{problems}");
    let last = program.types.structs.last().unwrap();
    assert_eq!(last.fields[0].ty, last.fields[1].ty);
    assert_ne!(last.fields[0].ty, last.fields[2].ty);
    fails(
        "struct Pair<A, B> { A a; B b; } struct S { Pair<bool> x; }",
        &["1:44: 'Pair' takes 2 type argument(s), not 1"],
    );
}

#[test]
fn inner_names_hide_outer_ones() {
    let (_, problems) =
        checked("const bit<8> x = 1; action a(bit<8> y) { bit<16> x = 2; { bit<4> x = 3; } x = 16w5; bit<8> z = y; }");
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn a_name_is_declared_once_in_a_scope() {
    fails(
        "const bit<8> x = 1;\nconst bit<8> x = 2;",
        &["2:14: 'x' is declared twice; it is a constant at t.p4:1:14"],
    );
    fails("struct S { bit<8> a; bit<4> a; }", &["1:29: 'S' has two fields 'a'"]);
    fails("enum E { a, a }", &["1:13: 'E' has two members 'a'"]);
    fails("error { Bad, Bad }", &["1:14: error 'Bad' is declared twice"]);
    fails(
        "action a(bit<8> x, bit<8> x) {}",
        &["1:27: 'x' is declared twice; it is a variable at t.p4:1:17"],
    );
}

#[test]
fn an_unknown_name_gets_the_nearest_one_as_advice() {
    fails(
        "const bit<8> length = 1; const bit<8> x = lenght;",
        &["1:43: no name 'lenght' is declared here; did you mean 'length'?"],
    );
    fails(
        "header ipv4_t {} struct S { ipv4 h; }",
        &["1:29: no type 'ipv4' is declared here"],
    );
    fails(
        "header ipv4_t {} struct S { ipv_t h; }",
        &["1:29: no type 'ipv_t' is declared here; did you mean 'ipv4_t'?"],
    );
}

#[test]
fn an_unknown_field_gets_the_list_of_fields() {
    let program = |field: &str| {
        format!("header H {{ bit<8> diffserv; bit<8> ttl; }} action a(in H h) {{ bit<8> x = h.{field}; }}")
    };
    fails(
        &program("difserv"),
        &["1:75: no field 'difserv' in H; did you mean 'diffserv'?"],
    );
    fails(&program("dscp"), &["1:75: no field 'dscp' in H; it has diffserv, ttl"]);
}

#[test]
fn values_of_different_types_do_not_mix() {
    let in_action = |statements: &str| {
        format!("action a(inout bit<8> x, inout bit<16> y, inout bool b, inout int<8> s) {{ {statements} }}")
    };
    let column = in_action("").len() - 1;
    let at = |offset: usize, message: &str| format!("1:{}: {message}", column + offset);
    let cases: [(&str, usize, &str); 12] = [
        (
            "x = y;",
            4,
            "the assigned value must be bit<8>, not bit<16>; a cast makes it fit: (bit<8>)",
        ),
        (
            "x = x + y;",
            4,
            "'+' takes two values of one type, not bit<8> and bit<16>; cast one",
        ),
        ("x = b;", 4, "the assigned value must be bit<8>, not bool"),
        (
            "b = x;",
            4,
            "the assigned value must be bool, not bit<8>; compare it with 0",
        ),
        (
            "if (x) {}",
            4,
            "the condition must be bool, not bit<8>; compare it with 0",
        ),
        (
            "x = s;",
            4,
            "the assigned value must be bit<8>, not int<8>; a cast makes it fit: (bit<8>)",
        ),
        (
            "b = b & b;",
            4,
            "'&' takes bit<N> or int<N>, not bool; '&&' and '||' take bool",
        ),
        (
            "b = x && b;",
            4,
            "the operand of '&&' must be bool, not bit<8>; compare it with 0",
        ),
        (
            "x = x << s;",
            9,
            "a shift distance must be bit<N> or a known integer, not int<8>",
        ),
        (
            "x = x ++ 1;",
            9,
            "'++' joins values of known width, not int; give it a width, as in 8w1",
        ),
        (
            "x = x[8:1];",
            6,
            "the slice [8:1] does not lie in bit<8>; it is written [high:low]",
        ),
        (
            "x = y[1:4];",
            6,
            "the slice [1:4] does not lie in bit<16>; it is written [high:low]",
        ),
    ];
    for (statement, offset, message) in cases {
        fails(&in_action(statement), &[&at(offset, message)]);
    }
}

#[test]
fn only_some_casts_are_allowed() {
    let cast = |to: &str, from: &str| {
        let text = format!("action a(in bit<8> x, in int<8> s, in bool b, in bit<1> o) {{ {to} y = ({to}){from}; }}");
        checked(&text)
            .1
            .iter()
            .map(|d| d.message.clone())
            .collect::<Vec<_>>()
            .join("; ")
    };
    for (to, from) in [
        ("bit<16>", "x"),
        ("bit<4>", "x"),
        ("int<8>", "x"),
        ("bit<8>", "s"),
        ("int<16>", "s"),
        ("bit<1>", "b"),
        ("bool", "o"),
    ] {
        assert_eq!(cast(to, from), "", "({to}){from}");
    }
    assert_eq!(cast("bool", "x"), "bit<8> cannot be cast to bool; compare it with 0");
    assert_eq!(
        cast("bit<8>", "b"),
        "bool cannot be cast to bit<8>; cast it to bit<1> first"
    );
    assert_eq!(
        cast("bit<16>", "s"),
        "int<8> cannot be cast to bit<16>; change the width first, or the sign: (bit<16>)(int<16>) or (bit<16>)(bit<8>)"
    );
    assert_eq!(
        cast("int<4>", "x"),
        "bit<8> cannot be cast to int<4>; change the width first, or the sign: (int<4>)(bit<4>) or (int<4>)(int<8>)"
    );
}

#[test]
fn a_value_that_does_not_fit_is_warned_about() {
    fails(
        "const bit<4> x = 16;",
        &["1:18: 16 does not fit in bit<4>; it becomes 0"],
    );
    fails(
        "const int<4> x = 4s8;",
        &["1:18: 8 does not fit in int<4>; it becomes -8"],
    );
}

#[test]
fn what_has_no_value_is_an_error() {
    fails("const int x = 1 / 0;", &["1:15: division by zero"]);
    fails(
        "const int x = -1 % 2;",
        &["1:15: division is not defined for negative numbers"],
    );
    fails("const int x = 1 << -1;", &["1:20: a shift distance cannot be negative"]);
    fails("const int x = 1 << 100000000;", &["1:15: the number is too large"]);
    fails(
        "struct S { bit<70000> x; }",
        &["1:16: the size 70000 is not between 0 and 16384"],
    );
    fails(
        "struct S { int<0> x; }",
        &["1:16: the size 0 is not between 1 and 16384"],
    );
    fails(
        "action a(bit<8> n) { bit<(n)> x; }",
        &["1:26: a size must be an integer known when compiling"],
    );
}

#[test]
fn arguments_fit_their_parameters() {
    let text = |call: &str| {
        format!(
            "action f(in bit<8> x, inout bit<8> y, bit<4> z) {{}}\naction a(inout bit<8> v, in bit<8> r) {{ {call}; }}"
        )
    };
    fails(&text("f(1, v, 2)"), &[]);
    fails(
        &text("f(1, v)"),
        &["2:41: f takes 3 argument(s), not 2: 'z' is missing"],
    );
    fails(&text("f(1, v, 2, 3)"), &["2:52: f takes 3 argument(s), not 4"]);
    fails(
        &text("f(1, 2, 3)"),
        &["2:46: this cannot be written: it is a value, not a variable or field"],
    );
    fails(
        &text("f(1, r, 3)"),
        &["2:46: 'r' cannot be written: it is an 'in' parameter; declare it 'inout' to change it"],
    );
    fails(
        &text("f(1, v, w = 3)"),
        &["2:49: f has no parameter 'w'; did you mean 'x'?"],
    );
    fails(
        &text("f(x = 1, x = 2, z = 3)"),
        &[
            "2:50: the parameter 'x' is given twice",
            "2:41: f takes 3 argument(s), not 3: 'y' is missing",
        ],
    );
    fails(
        &text("g(1)"),
        &["2:41: no function or action 'g' is declared here; did you mean 'f'?"],
    );
}

#[test]
fn a_function_returns_on_every_path() {
    fails(
        "bit<8> f(in bit<8> x) { if (x == 1) { return 1; } }",
        &["1:8: 'f' may end without returning a value"],
    );
    fails(
        "bit<8> f(in bool x) { if (x) { return 1; } else { return true; } }",
        &["1:58: the returned value must be bit<8>, not bool"],
    );
    fails("void f() { return 1; }", &["1:12: nothing can be returned here"]);
}

#[test]
fn parsers_need_a_start_and_go_to_states_that_exist() {
    fails(
        "parser P() { state first { transition accept; } }",
        &["1:8: the parser 'P' has no state 'start'"],
    );
    fails(
        "parser P() { state start { transition nxt; } state next { transition accept; } }",
        &["1:39: no state 'nxt' in this parser; did you mean 'next'?"],
    );
    fails(
        "parser P() { state start { transition accept; } state start { transition accept; } }",
        &["1:55: the state 'start' is declared twice"],
    );
    fails(
        "parser P(in bit<8> x, in bit<8> y) { state start { transition select(x, y) { 1: accept; } } }",
        &["1:78: 2 key(s) are matched, but this set has 1"],
    );
}

/// An extern with an abstract method, and the array that the method uses.
const CELLS: &str = "
extern Cells<T, I> { Cells(bit<32> size); T read(in I index); }
extern Change<T, I, U> {
    Change(Cells<T, _> cells);
    U execute(in I index);
    abstract void apply(inout T value, @optional out U rv);
}
";

/// Type of the last instance.
#[track_caller]
fn instance(text: &str) -> String {
    let (program, problems) = checked(&format!("{CELLS}{text}"));
    assert!(problems.is_empty(), "{problems}");
    let last = program.instances.last().unwrap();
    match &last.maker {
        Maker::Extern(id, types) => program.types.show(&Type::Extern(*id, types.clone())),
        _ => String::new(),
    }
}

#[test]
fn type_arguments_follow_from_arguments_and_from_the_bodies_of_methods() {
    let method = "{ void apply(inout bit<8> value, out bit<4> rv) { rv = value[3:0]; } };";
    let cells = "Cells<bit<8>, bit<9>>(4) c;";
    assert_eq!(instance(cells), "Cells<bit<8>, bit<9>>");
    let inferred = "Change<bit<8>, _, bit<4>>";
    for given in ["", "<_, _, _>", "<bit<8>, _, _>", "<bit<8>, _, bit<4>>"] {
        assert_eq!(
            instance(&format!("{cells} Change{given}(c) change = {method}")),
            inferred
        );
    }
    let given = format!("{cells} Change<bit<8>, bit<3>, _>(c) change = {method}");
    assert_eq!(instance(&given), "Change<bit<8>, bit<3>, bit<4>>");
}

#[test]
fn an_argument_of_any_type_is_taken_as_it_is_and_a_number_without_width_has_32_bits() {
    let read = "Cells<bit<8>, _>(4) c; control C(inout bit<9> i) { apply { bit<8> x = c.read(i); x = c.read(2); } }";
    let (program, problems) = checked(&format!("{CELLS}{read}"));
    assert!(problems.is_empty(), "{problems}");
    let calls = program.controls[0].body.stmts.iter().map(|s| match &s.kind {
        StmtKind::Declare(_, Some(call)) | StmtKind::Assign(_, call) => match &call.kind {
            ExprKind::Call(_, _, args) => program.types.show(&args[0].as_ref().unwrap().ty),
            _ => String::new(),
        },
        _ => String::new(),
    });
    assert_eq!(calls.collect::<Vec<_>>(), ["bit<9>", "bit<32>"]);
}

#[test]
fn methods_see_where_they_are_declared_and_this() {
    let (program, problems) = checked(&format!(
        "{CELLS}
        extern Cell<U> {{ Cell(); U execute(); abstract void apply(inout U value); U past(@optional in bool yes); }}
        control C(inout bit<8> x) {{
            bit<8> y = 1;
            Cell<bit<8>>() cell = {{ void apply(inout bit<8> value) {{ value = y + this.past(); }} }};
            apply {{ x = cell.execute(); y = x; }}
        }}"
    ));
    assert!(problems.is_empty(), "{problems}");
    let cell = program.instances.last().unwrap();
    assert_eq!((cell.methods.len(), &*cell.methods[0].0), (1, "apply"));
    assert_eq!(cell.methods[0].1.params.len(), 1);
}
