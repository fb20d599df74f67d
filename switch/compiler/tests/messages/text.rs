//! Lexical errors, the preprocessor, syntax.

use super::says;

#[test]
fn text_that_is_not_p4() {
    says("const bit<8> x = 1 $ 2;", &["1:20: '$' is not a character of P4"]);
    says(
        "const bit<8> x = 0b12;",
        &["1:18: '0b12' is not an integer literal: base 2 has no such digit"],
    );
    says(
        "const bit<8> x = 8w;",
        &["1:18: '8w' is not an integer literal: it has no digits"],
    );
    says(
        "const bit<8> x = 70000w1;",
        &["1:18: '70000w1' is not an integer literal: its width is too large"],
    );
    says(
        "const bit<8> x = 0s1;",
        &["1:18: '0s1' is not an integer literal: a signed width is at least 1"],
    );
    says("header é {}", &["1:8: 'é' is not a character of P4"]);
    says(
        "\u{feff}header \u{feff}h {}",
        &["1:8: '\\u{feff}' is not a character of P4"],
    );
}

#[test]
fn the_includes_that_a_program_needs() {
    says(
        "control c() {\n  direct_counter(CounterType.packets) d;\n  apply {}\n}",
        &[
            "2:3: an action, a table, a local declaration or 'apply' expected, not 'direct_counter'; \
           is #include <v1model.p4> missing?",
        ],
    );
}

#[test]
fn comments_and_strings_without_an_end() {
    says(
        "header h {}\n/* never\nclosed",
        &["2:1: comment without an end; '*/' is missing"],
    );
    says(
        "@name(\"never)\nheader h {}",
        &["1:7: string without an end; '\"' is missing"],
    );
}

#[test]
fn the_preprocessor() {
    says(
        "#include \"core.p5\"\n",
        &["1:10: no file 'core.p5' in the folder of this file or in the -I directories"],
    );
    says(
        "#include <v1modle.p4>\n",
        &["1:10: no file 'v1modle.p4' in the -I directories"],
    );
    says(
        "#fi\n",
        &[
            "1:2: '#fi' is not a directive, and its line is skipped; did you mean 'if'?",
            "1:4: no instance 'main' of a package: V1Switch(...) main;",
        ],
    );
    says(
        "#if 8w1\n#endif\n",
        &["1:2: not a condition that can be evaluated here: '8w1' is not an integer of C"],
    );
    says(
        "#define F(x, x) x\n",
        &["1:2: the parameters of macro 'F' must be names between commas"],
    );
    says(
        "#define F ## x\n",
        &["1:11: in macro 'F': '##' has nothing to join at one of its sides"],
    );
    // `#line` and the line marks of another preprocessor give the origin of lines.
    says("#line 30 \"x.p4\"\n\nheader h {\n", &["31:10: '{' without '}'"]);
    says("#ifdef A\n", &["1:1: #if without #endif"]);
}

#[test]
fn syntax() {
    says(
        "const bit<8> x = 1\nconst bit<8> y = 2;",
        &["1:18: ';' expected after this, not 'const'"],
    );
    says("header h_t { bit<8> a }", &["1:23: ';' expected, not '}'"]);
    says("header h_t { bit<8 a; }", &["1:20: '>' expected, not 'a'"]);
    says("header h_t { a; }", &["1:15: the name of a field expected, not ';'"]);
    says(
        "header table { }",
        &["1:8: the name of a type expected, but 'table' is a keyword"],
    );
    says(
        "hedaer h_t { }",
        &["1:1: a declaration expected, not 'hedaer'; did you mean 'header'?"],
    );
    says(
        "bit<8> x = 1;",
        &["1:8: variables cannot be declared at the top level; 'const' declares a constant"],
    );
    says(
        "control C() { }",
        &["1:15: a control needs an apply block: apply { ... }"],
    );
    says(
        "control C() { apply { x + 1; } }",
        &["1:25: '=' or '(' expected, not '+'"],
    );
    says(
        "control C() { apply { x; } }",
        &["1:23: a value alone does nothing; an assignment or a call is expected"],
    );
    says(
        "control C() { apply { if x == 1 { } } }",
        &["1:26: '(' expected, not 'x'"],
    );
    says(
        "control C() { table t { keys = { } } apply { } }",
        &["1:25: a table has no property 'keys'; did you mean 'key'?"],
    );
    says(
        "control C() { table t { key { } } apply { } }",
        &["1:29: '=' after the property 'key' expected, not '{'"],
    );
    says(
        "control C() { table t { action = { a; } } apply { } }",
        &["1:25: a table has no property 'action'; did you mean 'actions'?"],
    );
    says(
        "parser P() { state start { transition select(x) { 1 accept; } } }",
        &["1:53: ':' expected, not 'accept'"],
    );
    says(
        "typedef header h_t { } x;",
        &["1:9: declare the type first, then give it another name"],
    );
    says("header h_t { bit<8> a; }}", &["1:25: a declaration expected, not '}'"]);
}

#[test]
fn nesting_has_a_limit() {
    let deep = format!("const bit<8> x = {}1{};", "(".repeat(300), ")".repeat(300));
    says(&deep, &["1:218: nested more than 200 levels deep"]);
    let long = format!("const bit<8> x = 1{};", "+1".repeat(4001));
    says(&long, &["1:8019: more than 4000 operators in one expression"]);
}
