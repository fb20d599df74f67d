//! Tests of the output and the messages of the preprocessor.

mod corpus;
mod generator;

use std::collections::HashMap;

use crate::{Define, IncludeResolver, Input, Options, preprocess};

/// Include files by name; `dir/x` includes files of its folder.
struct Files(HashMap<&'static str, &'static str>);

impl IncludeResolver for Files {
    fn include(&self, path: &str, from: &str, angled: bool) -> Option<(String, String)> {
        let beside = from
            .rsplit_once('/')
            .map(|(directory, _)| format!("{directory}/{path}"));
        let name = beside
            .filter(|name| !angled && self.0.contains_key(name.as_str()))
            .unwrap_or(path.to_owned());
        let text = self.0.get(name.as_str())?;
        Some((name, (*text).to_owned()))
    }
}

fn run(text: &str, files: &[(&'static str, &'static str)], defines: &[(&str, &str)]) -> Result<String, String> {
    let define = |(name, text): &(&str, &str)| Define {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    };
    let options = Options {
        defines: defines.iter().map(define).collect(),
        ..Options::default()
    };
    let files = Files(files.iter().copied().collect());
    let result = preprocess(&Input { name: "main.p4", text }, &files, &options);
    result.map_err(|list| {
        let lines: Vec<String> = list.to_string().lines().map(str::to_owned).collect();
        // Only the message, without the source line and the mark below it.
        lines
            .into_iter()
            .filter(|l| !l.starts_with("    "))
            .collect::<Vec<_>>()
            .join("\n")
    })
}

/// Tokens of the output, with a blank between them.
#[track_caller]
fn check(text: &str, expected: &str) {
    let left = run(text, &[], &[]).unwrap();
    assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), expected);
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    assert_eq!(run(text, &[], &[]).unwrap_err(), expected);
}

#[test]
fn a_macro_is_replaced_until_it_is_undefined() {
    check("#define N 8\na N\n#undef N\nb N", "a 8 b N");
    check("#define N 1\n#define N 2\nN", "2");
}

#[test]
fn a_macro_with_parameters_needs_its_parenthesis() {
    check("#define F(x, y) y x\nF(1, 2) F F(a (b, c), d)", "2 1 F d a (b, c)");
    check("#define G (x)\nG", "(x)");
    check("#define E() z\nE() E( )", "z z");
    fails(
        "#define F(x) x\nF(1, 2)",
        "main.p4:2:1: macro 'F' takes 1 argument(s), not 2",
    );
    fails("#define F(x) x\nF(1", "main.p4:2:1: call of macro 'F' without ')'");
    fails(
        "#define F(1) x",
        "main.p4:1:2: the parameters of macro 'F' must be names between commas",
    );
}

#[test]
fn macros_expand_within_macros_but_not_within_themselves() {
    check("#define A B + 1\n#define B 2\nA", "2 + 1");
    check("#define A A + 1\nA", "A + 1");
    check("#define A B\n#define B A\nA B", "A B");
    check("#define F(x) x + F(x)\nF(F(1))", "1 + F(1) + F(1 + F(1))");
}

#[test]
fn text_is_pasted_and_quoted() {
    check("#define F(x) a_##x x##_b\nF(q)", "a_q q_b");
    check("#define F(x) p_##x\nF(1)", "p_1");
    check("#define F(x) a[##x-1:0]\nF(8)", "a[8 -1:0]");
    check("#define S(x) #x\nS(a + 1)", "\"a + 1\"");
    // `##` may build a number, also in a macro without parameters.
    check("#define W(n) 8w##n\nW(5)", "8w5");
    check("#define AB a##b\nAB", "ab");
    // If one side is empty, the other stays; the token before is not changed.
    check("#define P(x, y) <x##y>\nP(1,) P(,2) P(,)", "<1> <2> <>");
}

#[test]
fn conditions_choose_lines_of_a_string_too() {
    let text = "#define A\n\"x\n#ifdef A\ny\n#else\nz\n# endif\n#other\"";
    assert_eq!(run(text, &[], &[]).unwrap().trim(), "\"x\n\ny\n\n\n\n#other\"");
    assert_eq!(
        run("\"x\n#if 1\n\"", &[], &[]).unwrap_err(),
        "main.p4:2:1: #if without #endif"
    );
}

#[test]
fn conditions_choose_one_branch() {
    let text = "#if A == 1\none\n#elif A == 2\ntwo\n#elif A >= 2\nthree\n#else\nfour\n#endif";
    let left = |value: &str| run(text, &[], &[("A", value)]).unwrap().trim().to_owned();
    assert_eq!(
        [left("1"), left("2"), left("3"), left("0")],
        ["one", "two", "three", "four"]
    );
    check("#ifdef A\na\n#else\nb\n#endif\n#ifndef A\nc\n#endif", "b c");
}

#[test]
fn conditions_nest_and_skipped_text_is_not_looked_at() {
    check(
        "#if 0\n#if 1\na\n#else\nb\n#endif\n#error no\n#nonsense\n\"open ' $\n#elif 1\nc\n#endif",
        "c",
    );
}

#[test]
fn conditions_compute_like_c() {
    for (condition, expected) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 7", false),
        ("1 << 4 | 1 == 1", true),
        ("-1 < 0 && !0", true),
        ("~0 == -1", true),
        ("7 / 2 == 3 && 7 % 2 == 1", true),
        ("0x10 == 16 ? 1 : 0", true),
        ("defined A || defined(B)", false),
        ("!defined(A)", true),
        ("UNKNOWN", false),
        ("8 >> 1 == 4", true),
    ] {
        let left = run(&format!("#if {condition}\nyes\n#endif"), &[], &[]).unwrap();
        assert_eq!(left.trim() == "yes", expected, "{condition}");
    }
}

#[test]
fn a_condition_that_cannot_be_evaluated_is_an_error() {
    let problem = |condition: &str| run(&format!("#if {condition}\n#endif"), &[], &[]).unwrap_err();
    assert_eq!(
        problem("1 / 0"),
        "main.p4:1:2: not a condition that can be evaluated here: division by zero"
    );
    assert_eq!(
        problem("(1"),
        "main.p4:1:2: not a condition that can be evaluated here: ')' is missing"
    );
    assert_eq!(
        problem(""),
        "main.p4:1:2: not a condition that can be evaluated here: a value is missing at its end"
    );
    assert_eq!(problem("1 2"), "main.p4:1:7: 2 after the end of the condition");
    let deep = "(".repeat(100_000);
    assert_eq!(
        problem(&deep),
        "main.p4:1:2: not a condition that can be evaluated here: it is nested too deeply"
    );
}

#[test]
fn directives_must_pair() {
    fails("#if 1\nx", "main.p4:1:1: #if without #endif");
    fails("#endif", "main.p4:1:2: #endif without #if");
    fails("#else", "main.p4:1:2: #else without #if");
    fails("#elif 1", "main.p4:1:2: #elif without #if");
    fails("#if 1\n#else\n#else\n#endif", "main.p4:3:2: a second #else");
    fails("#if 1\n#else\n#elif 1\n#endif", "main.p4:3:2: #elif after #else");
    fails("#ifdef\n#endif", "main.p4:1:2: the name of a macro is missing");
}

#[test]
fn an_unknown_directive_gets_the_nearest_one_as_advice() {
    // As in p4c, such a line is skipped, in kept text and in other text.
    check(
        "#inclde <core.p4>\na\n# text\n#name(x)\nb",
        "#inclde <core.p4> a # text #name(x) b",
    );
    fails("#error \"too small\"", "main.p4:1:2: #error too small");
}

#[test]
fn a_directive_may_be_continued_on_the_next_line() {
    check("#define F(x) \\\n  x + \\\n  1\nF(2)", "2 + 1");
}

#[test]
fn included_text_stands_in_place_of_the_directive() {
    let files = [("a/x.p4", "#include \"y.p4\"\nx"), ("a/y.p4", "y"), ("y.p4", "other")];
    let left = run("before\n#include \"a/x.p4\"\nafter\n#include <y.p4>", &files, &[]).unwrap();
    assert_eq!(
        left.split_whitespace().collect::<Vec<_>>(),
        ["before", "y", "x", "after", "other"]
    );
}

#[test]
fn guards_keep_a_file_from_being_included_twice() {
    let files = [("g.p4", "#ifndef G\n#define G\ng\n#endif")];
    let left = run("#include \"g.p4\"\n#include \"g.p4\"", &files, &[]).unwrap();
    assert_eq!(left.trim(), "g");
}

#[test]
fn a_missing_file_and_files_that_include_each_other_are_errors() {
    fails(
        "#include \"nowhere.p4\"",
        "main.p4:1:10: no file 'nowhere.p4' in the folder of this file or in the -I directories",
    );
    fails(
        "#include <nowhere.p4>",
        "main.p4:1:10: no file 'nowhere.p4' in the -I directories",
    );
    fails("#include nowhere", "main.p4:1:2: #include takes \"file\" or <file>");
    let files = [("a.p4", "#include \"b.p4\""), ("b.p4", "#include \"a.p4\"")];
    assert_eq!(
        run("#include \"a.p4\"", &files, &[]).unwrap_err(),
        "b.p4:1:10: files include each other more than 200 deep"
    );
}

#[test]
fn expansion_that_explodes_is_stopped() {
    let mut text = String::from("#define M0 x x x x\n");
    for i in 1..40 {
        text += &format!("#define M{i} M{0} M{0} M{0} M{0}\n", i - 1);
    }
    text += "M39\n";
    let problem = run(&text, &[], &[]).err();
    assert_eq!(
        problem.as_deref(),
        Some("main.p4:41:1: macros and included files make more than 4000000 tokens")
    );
}

#[test]
fn line_and_file_are_those_of_the_use() {
    check("#define HERE __LINE__\n\nHERE __FILE__", "3 \"main.p4\"");
    check(
        "#define HERE __LINE__\n#define F(a, b) a b\nF(\n__LINE__,\nHERE)",
        "4 5",
    );
}

#[test]
fn the_line_within_a_macro_is_that_of_its_outermost_use() {
    check(
        "#define HERE __LINE__\n#define F(a...) __LINE__ , ## a\nF(\nHERE)",
        "3 , 3",
    );
}

#[test]
fn defines_of_the_command_line_come_first() {
    let left = run("#if N > 4\nN\n#endif", &[], &[("N", "5")]).unwrap();
    assert_eq!(left.trim(), "5");
}
