//! Parsing of token lists: the shapes of the trees, as text with all parentheses.

use super::*;
use crate::{
    diagnostics::Diagnostics,
    source::SourceMap,
    syntax::{
        ast::{AnnotationBody, DeclKind, Expr, ExprKind, PropertyValue, Stmt, StmtKind, TypeExpr, TypeKind},
        lexer,
    },
};

fn parsed(text: &str) -> (Vec<Decl>, Diagnostics) {
    let mut map = SourceMap::default();
    let file = map.add("t.p4", text.to_owned()).unwrap();
    let mut tokens = lexer::tokens(text, map.base(file));
    let end = map.base(file) + text.trim_end().len() as u32;
    tokens.push(Token {
        tok: Tok::End,
        span: Span { start: end, end },
        starts_line: true,
        joined: false,
    });
    let mut reporter = Reporter::new();
    let decls = parse(&tokens, &mut reporter);
    (decls, reporter.finish(&map))
}

#[track_caller]
fn declarations(text: &str) -> Vec<Decl> {
    let (decls, problems) = parsed(text);
    assert!(problems.is_empty(), "{problems}");
    decls
}

fn show_type(ty: &TypeExpr) -> String {
    let list = |types: &[TypeExpr]| types.iter().map(show_type).collect::<Vec<_>>().join(",");
    match &ty.kind {
        TypeKind::Bit(Some(width)) => format!("bit<{}>", show(width)),
        TypeKind::Int(width) => format!("int<{}>", show(width)),
        TypeKind::Named(name, args) if args.is_empty() => name.name.to_string(),
        TypeKind::Named(name, args) => format!("{}<{}>", name.name, list(args)),
        TypeKind::Stack(element, n) => format!("{}[{}]", show_type(element), show(n)),
        TypeKind::Tuple(types) => format!("tuple<{}>", list(types)),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn show(e: &Expr) -> String {
    let all = |list: &[Expr]| list.iter().map(show).collect::<Vec<_>>().join(", ");
    match &e.kind {
        ExprKind::Int(literal) => crate::syntax::token::IntText(literal).to_string(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name, global) => format!("{}{}", if *global { "." } else { "" }, name.name),
        ExprKind::Member(base, name) => format!("{}.{}", show(base), name.name),
        ExprKind::TypeMember(ty, name) => format!("{}.{}", show_type(ty), name.name),
        ExprKind::Index(base, index) => format!("{}[{}]", show(base), show(index)),
        ExprKind::Slice(base, high, low) => format!("{}[{}:{}]", show(base), show(high), show(low)),
        ExprKind::Unary(op, operand) => format!("({op:?} {})", show(operand)),
        ExprKind::Binary(op, left, right) => format!("({} {} {})", show(left), op.text(), show(right)),
        ExprKind::Conditional(c, yes, no) => format!("({} ? {} : {})", show(c), show(yes), show(no)),
        ExprKind::Cast(ty, operand) => format!("(({}) {})", show_type(ty), show(operand)),
        ExprKind::List(list, dots) => format!("{{{}{}}}", all(list), if *dots { " ..." } else { "" }),
        ExprKind::Record(fields, _) => {
            let one = |(name, value): &(Ident, Expr)| format!("{}={}", name.name, show(value));
            format!("{{{}}}", fields.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        ExprKind::Call(callee, types, args) => {
            let types: Vec<String> = types.iter().map(show_type).collect();
            let types = if types.is_empty() {
                String::new()
            } else {
                format!("<{}>", types.join(","))
            };
            let args: Vec<String> = args
                .iter()
                .map(|a| a.value.as_ref().map_or("_".to_owned(), show))
                .collect();
            format!("{}{types}({})", show(callee), args.join(", "))
        }
        ExprKind::Mask(value, mask) => format!("{} &&& {}", show(value), show(mask)),
        ExprKind::Range(low, high) => format!("{} .. {}", show(low), show(high)),
        ExprKind::Tuple(list) => format!("({})", all(list)),
        other => format!("{other:?}"),
    }
}

/// Shape of an expression. The program has `header T {}`, so `T` is a type; other names are not.
fn expression(text: &str) -> String {
    let decls = declarations(&format!("header T {{}} const bit<8> x = {text};"));
    match &decls[1].kind {
        DeclKind::Const(_, value) => show(value),
        other => panic!("{other:?}"),
    }
}

fn statements(text: &str) -> Vec<Stmt> {
    let decls = declarations(&format!("header T {{}} action a() {{ {text} }}"));
    match &decls[1].kind {
        DeclKind::Action(_, block) => block.stmts.clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fails(text: &str, expected: &[&str]) {
    let (_, problems) = parsed(text);
    let lines: Vec<String> = problems
        .iter()
        .map(|d| {
            let p = d.position.clone().unwrap();
            format!("{}:{}: {}", p.line, p.column, d.message)
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn operators_bind_by_their_precedence_and_from_the_left() {
    assert_eq!(expression("a + b * c - d"), "((a + (b * c)) - d)");
    assert_eq!(expression("a << b + c"), "(a << (b + c))");
    assert_eq!(expression("a & b == c | d"), "((a & b) == (c | d))");
    assert_eq!(expression("a | b ^ c & d << e"), "(a | (b ^ (c & (d << e))))");
    assert_eq!(expression("a < b == c > d"), "((a < b) == (c > d))");
    assert_eq!(expression("a || b && c == d"), "(a || (b && (c == d)))");
    assert_eq!(expression("a ++ b + c ++ d"), "(((a ++ b) + c) ++ d)");
    assert_eq!(expression("a |+| b |-| c"), "((a |+| b) |-| c)");
    assert_eq!(expression("-a + ~b * !c"), "((Minus a) + ((Complement b) * (Not c)))");
    assert_eq!(expression("(a + b) * c"), "((a + b) * c)");
}

#[test]
fn a_conditional_binds_least_and_from_the_right() {
    assert_eq!(expression("a || b ? c : d ? e : f"), "((a || b) ? c : (d ? e : f))");
    assert_eq!(expression("a ? b ? c : d : e"), "(a ? (b ? c : d) : e)");
}

#[test]
fn a_parenthesis_with_a_type_is_a_cast() {
    assert_eq!(expression("(bit<8>)a + b"), "(((bit<8>) a) + b)");
    assert_eq!(expression("(T)a"), "((T) a)");
    assert_eq!(expression("(a)[3:0]"), "a[3:0]");
    assert_eq!(expression("(bit<8>)(int<8>)-a"), "((bit<8>) ((int<8>) (Minus a)))");
    assert_eq!(expression("(bit<8>)a.b[1].c"), "((bit<8>) a.b[1].c)");
}

#[test]
fn less_than_is_not_taken_for_type_arguments() {
    assert_eq!(expression("a < b"), "(a < b)");
    assert_eq!(expression("a < b > (c)"), "((a < b) > c)");
    assert_eq!(expression("f<bit<8>>(a)"), "f<bit<8>>(a)");
    assert_eq!(expression("p.f<T>(a, _)"), "p.f<T>(a, _)");
    assert_eq!(expression("f<tuple<bit<8>, T>>()"), "f<tuple<bit<8>,T>>()");
}

#[test]
fn shifts_to_the_right_are_told_from_closing_angles() {
    assert_eq!(expression("a >> b"), "(a >> b)");
    assert_eq!(expression("a >> 1 > b"), "((a >> 1) > b)");
    assert_eq!(
        show_type(&constant_type("tuple<bit<8>, tuple<bit<(1 + 2)>>>")),
        "tuple<bit<8>,tuple<bit<(1 + 2)>>>"
    );
}

fn constant_type(ty: &str) -> TypeExpr {
    match declarations(&format!("const {ty} x = 1;")).remove(0).kind {
        DeclKind::Const(ty, _) => ty,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_and_records_are_read() {
    assert_eq!(expression("{1, {2, 3}, a}"), "{1, {2, 3}, a}");
    assert_eq!(expression("{x = 1, y = {2}}"), "{x=1, y={2}}");
    assert_eq!(expression("{1, ...}"), "{1 ...}");
    assert_eq!(expression("error.NoError"), "error.NoError");
    assert_eq!(expression(".a + .b.c"), "(.a + .b.c)");
}

#[test]
fn statements_tell_declarations_from_assignments() {
    let kinds: Vec<&str> =
        statements("T t; T[2] s; bit<8> x = 1; t.x = 1; s[1] = t; f(); t.setValid(); a >>= 2; const bit<8> c = 1;")
            .iter()
            .map(|s| match &s.kind {
                StmtKind::Decl(_) => "declaration",
                StmtKind::Assign(_, None, _) => "assignment",
                StmtKind::Assign(..) => "update",
                StmtKind::Call(_) => "call",
                _ => "other",
            })
            .collect();
    assert_eq!(
        kinds,
        [
            "declaration",
            "declaration",
            "declaration",
            "assignment",
            "assignment",
            "call",
            "call",
            "update",
            "declaration"
        ]
    );
}

#[test]
fn an_else_goes_to_the_nearest_if() {
    let list = statements("if (a) if (b) f(); else g();");
    let StmtKind::If(_, yes, None) = &list[0].kind else {
        panic!("{list:?}")
    };
    assert!(matches!(&yes.kind, StmtKind::If(_, _, Some(_))));
}

#[test]
fn keywords_of_tables_are_names_elsewhere() {
    let decls = declarations("struct s { bit<8> key; bit<8> type; bit<8> state; bit<8> priority; bit<8> list; }");
    let DeclKind::Composite(_, _, fields) = &decls[0].kind else {
        panic!()
    };
    let names: Vec<&str> = fields.iter().map(|f| &*f.name.name).collect();
    assert_eq!(names, ["key", "type", "state", "priority", "list"]);
}

#[test]
fn annotations_keep_their_tokens_and_structured_ones_their_expressions() {
    let decls = declarations("@name(\"x\") @a.b @c(1, (2)) @d[1 + 2] @e[k = 3] @pragma f g h\nheader H {}");
    let bodies: Vec<(&str, usize)> = decls[0]
        .annotations
        .iter()
        .map(|a| {
            let n = match &a.body {
                AnnotationBody::None => 0,
                AnnotationBody::Unstructured(tokens) => tokens.len(),
                AnnotationBody::List(list) => list.len(),
                AnnotationBody::Pairs(list) => list.len(),
            };
            (&*a.name, n)
        })
        .collect();
    assert_eq!(
        bodies,
        [("name", 1), ("a.b", 0), ("c", 5), ("d", 1), ("e", 1), ("f", 2)]
    );
}

#[test]
fn tables_have_keys_actions_and_entries() {
    let text = "control C() { table t { key = { a.b: exact @name(\"k\"); c: lpm; } actions = { @tableonly f(x); g; }
        const entries = { (1, 2 &&& 3): f(); const priority = 4: (_, default): g() @note; 5 .. 6: g; } size = 10; } apply {} }";
    let decls = declarations(text);
    let DeclKind::Control(_, Some(body)) = &decls[0].kind else {
        panic!()
    };
    let DeclKind::Table(properties) = &body.locals[0].kind else {
        panic!()
    };
    let entries = properties.iter().find_map(|p| match &p.value {
        PropertyValue::Entries(entries) => Some(entries),
        _ => None,
    });
    let keys: Vec<Vec<String>> = entries
        .unwrap()
        .iter()
        .map(|e| e.keys.iter().map(show).collect())
        .collect();
    assert_eq!(keys[0], ["1", "2 &&& 3"]);
    assert_eq!(keys[1], ["Default", "Default"]);
    assert_eq!(keys[2], ["5 .. 6"]);
}

#[test]
fn after_an_error_the_next_statement_and_declaration_are_read() {
    fails(
        "action a() { x = ; y = 1; z 2; }\ncontrol C() { apply { } }\nheader { }\nheader H { }",
        &[
            "1:18: an expression expected, not ';'",
            "1:29: '=' or '(' expected, not 2",
            "3:8: the name of a type expected, not '{'",
        ],
    );
}

#[test]
fn a_missing_semicolon_is_an_error_of_the_line_it_is_missing_on() {
    fails(
        "action a() {\n    x = 1\n    y = 2;\n}",
        &["2:9: ';' expected after this, not 'y'"],
    );
}

#[test]
fn unclosed_braces_point_to_the_open_one() {
    fails("action a() { x = 1;", &["1:12: '{' without '}'"]);
    fails("header H { bit<8> a;", &["1:10: '{' without '}'"]);
    fails("parser P() { state start {", &["1:26: '{' without '}'"]);
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    for (open, close) in [
        ("(", ")"),
        ("{", "}"),
        ("-", ""),
        ("(bit<8>)", ""),
        ("a ? ", ""),
        ("a[", "]"),
        ("f(", ")"),
    ] {
        let text = format!("const bit<8> x = {}1{};", open.repeat(5000), close.repeat(5000));
        let (_, problems) = parsed(&text);
        assert!(
            problems.to_string().contains("nested more than 200 levels deep"),
            "{open}: {problems}"
        );
    }
    let blocks = format!("action a() {}{}", "{".repeat(5000), "}".repeat(5000));
    assert!(
        parsed(&blocks)
            .1
            .to_string()
            .contains("nested more than 200 levels deep")
    );
    let types = format!("const {}bit<8>{} x = 1;", "tuple<".repeat(5000), ">".repeat(5000));
    assert!(
        parsed(&types)
            .1
            .to_string()
            .contains("nested more than 200 levels deep")
    );
    let chain = format!("const bit<8> x = 1{};", " + 1".repeat(5000));
    assert!(
        parsed(&chain)
            .1
            .to_string()
            .contains("more than 4000 operators in one expression")
    );
}
