//! The language of p4-constraints (docs/language-specification.md): precedence, types and errors.

use p4sched_dataplane::{MatchKey, MatchKind};
use p4sched_proto::p4::config::v1::Preamble;

use super::{Restriction, of_action, of_table};
use crate::fault::{Code, Fault};
use crate::field::{Field, Param};

fn preamble(name: &str, annotation: &str) -> Preamble {
    Preamble {
        name: name.to_owned(),
        annotations: vec!["@other(1)".to_owned(), annotation.to_owned()],
        ..Preamble::default()
    }
}

/// Parameters `a`, `b` of 8 bits and `c` of 16.
fn params() -> Vec<Param> {
    let param = |(id, name, width): (u32, &str, u32)| Param {
        id,
        name: name.to_owned(),
        width,
    };
    [(1, "a", 8), (2, "b", 8), (3, "c", 16)].map(param).into()
}

fn action(text: &str) -> Result<Restriction, Fault> {
    let annotation = format!("@action_restriction(\"{text}\")");
    Ok(of_action(&preamble("act", &annotation), &params())?.expect("it is annotated"))
}

/// Whether a = 1, b = 2, c = 300 meet the restriction.
fn holds(text: &str) -> bool {
    let restriction = action(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    restriction
        .check_action("t", "act", &[vec![1], vec![2], vec![1, 44]])
        .is_ok()
}

fn field(id: u32, name: &str, kind: MatchKind, width: u32) -> Field {
    Field {
        id,
        name: name.to_owned(),
        kind,
        in_program: kind,
        width,
    }
}

fn fields() -> Vec<Field> {
    vec![
        field(1, "valid", MatchKind::Exact, 1),
        field(2, "ip.dst", MatchKind::Ternary, 32),
        field(3, "ip.src", MatchKind::Lpm, 32),
        field(4, "port", MatchKind::Range, 16),
        field(5, "vlan", MatchKind::Optional, 12),
    ]
}

fn table(text: &str) -> Result<Restriction, Fault> {
    let annotation = format!("@entry_restriction(\"{text}\")");
    Ok(of_table(&preamble("tab", &annotation), &fields())?.expect("it is annotated"))
}

/// A key: valid, 10.0.0.1 &&& 255.255.255.255, 10.0.0.0/8, 80..443, any VLAN; the priority is 7.
fn entry() -> Vec<MatchKey> {
    vec![
        MatchKey::Exact(vec![1]),
        MatchKey::Ternary(vec![10, 0, 0, 1], vec![255; 4]),
        MatchKey::Lpm(vec![10, 0, 0, 0], 8),
        MatchKey::Range(vec![0, 80], vec![1, 187]),
        MatchKey::Optional(None),
    ]
}

fn allows(text: &str) -> bool {
    let restriction = table(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    restriction.check_entry("tab", &fields(), &entry(), 7).is_ok()
}

#[test]
fn operators_bind_as_the_language_says() {
    for (text, expected) in [
        ("true || false && false", true),
        ("(true || false) && false", false),
        ("false && false || true", true),
        ("true -> false || true", true),
        ("true || true -> false", false),
        ("false -> false", true),
        ("!false && false", false),
        ("!(false && false)", true),
        ("!!true", true),
        ("!(a == 2) -> b == 2; true", true),
        ("false; true", false),
        ("true; true;", true),
        ("false -> true; false", false),
        ("(true; false) || true", true),
        ("true == !false", true),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn numbers_have_every_base_and_any_size() {
    for text in [
        "c == 300",
        "c == 0x12C",
        "c == 0b100101100",
        "c == 0o454",
        "c == 0d300",
        "-1 < 0",
        "--2 == 2",
        "0x1ffffffffffffffffffffffffffffffff > 0xffffffffffffffffffffffffffffffff",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn comparisons_are_unsigned_and_a_negative_number_is_a_mask() {
    for (text, expected) in [
        ("a < b", true),
        ("a <= 1", true),
        ("a > 1", false),
        ("a >= 1", true),
        ("a != b", true),
        ("b == -1", false),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
    assert!(allows("ip.dst::mask == -1"));
}

#[test]
fn parts_of_a_key_and_the_priority_are_values() {
    for (text, expected) in [
        ("valid == 1", true),
        ("valid::value >= 1", true),
        ("valid > 0", true),
        ("ip.dst::value == ipv4('10.0.0.1')", true),
        ("ip.dst == 0x0a000001", true),
        ("ip.src == 0x0a000000", false),
        ("ip.src::prefix_length == 8", true),
        ("ip.src::prefix_length < 8", false),
        ("-ip.src::prefix_length == -8", true),
        ("port::low == 80 && port::high == 443", true),
        ("port == 80", false),
        ("vlan::mask == 0", true),
        ("vlan == 0", false),
        ("vlan::mask != 0 -> valid == 1", true),
        ("::priority < 8", true),
        ("::priority == 8", false),
        ("ip.dst::value < ipv6('::ff')", false),
        ("ip.dst::value > mac('00:00:00:00:00:05')", true),
    ] {
        assert_eq!(allows(text), expected, "{text}");
    }
}

#[test]
fn comments_line_breaks_and_several_strings_are_read() {
    assert!(holds("// not 0\n a != 0; /* nor\n 5 */ a != 5"));
    let annotation = "@action_restriction(\"a != 0; // c\" \"b != 2\")";
    let two = of_action(&preamble("act", annotation), &params())
        .expect("it is well-formed")
        .expect("it is annotated");
    assert!(two.check_action("t", "act", &[vec![1], vec![3], vec![0, 0]]).is_ok());
    assert!(two.check_action("t", "act", &[vec![1], vec![2], vec![0, 0]]).is_err());
}

#[test]
fn a_refusal_names_the_values_and_every_clause_that_they_break() {
    let restriction = action("a >= 1 &&\n   a <= 32; // window\n b != 0; a < b; c == 300").expect("it is well-formed");
    let fault = restriction.check_action("Ingress.t", "Ingress.act", &[vec![40], vec![0], vec![1, 44]]);
    let fault = fault.expect_err("both are out of range");
    assert_eq!(fault.code, Code::InvalidArgument);
    assert_eq!(
        fault.message,
        "Ingress.t: action 'Ingress.act': a = 40 breaks the restriction 'a >= 1 && a <= 32'; b = 0 breaks the restriction \
         'b != 0'; a = 40, b = 0 break the restriction 'a < b'"
    );
    let restriction = table("valid == 0 || ip.src::prefix_length >= 16; ::priority > 10").expect("it is well-formed");
    let fault = restriction
        .check_entry("Ingress.t", &fields(), &entry(), 7)
        .expect_err("the prefix is short");
    assert_eq!(
        fault.message,
        "Ingress.t: its entries: valid = 1, ip.src = 0xa000000/8 break the restriction 'valid == 0 || \
         ip.src::prefix_length >= 16'; priority = 7 breaks the restriction '::priority > 10'"
    );
}

#[test]
fn what_is_malformed_is_refused_with_its_place() {
    for (text, problem) in [
        ("", "expected a name, a number or '(', found the end"),
        ("a ==", "expected a name, a number or '(', found the end"),
        ("a == 1 b", "expected an operator or ';', found 'b'"),
        (
            "a < b < 3",
            "expected '&&' between two comparisons, or parentheses, found '<'",
        ),
        (
            "true -> true -> true",
            "'->' after '->'; parentheses say which comes first",
        ),
        ("(a == 1", "expected ')', found the end"),
        ("a == 1 | b == 1", "'|' is not part of the language"),
        ("a + 1 == 2", "'+' is not part of the language"),
        ("a == 12x", "'12x' is not a number"),
        ("a == 0xg", "'0xg' is not a number"),
        ("a == ipv4('1.2.3')", "'1.2.3' is not an address of kind ipv4"),
        ("a == mac('1:2:3:4:5:6')", "'1:2:3:4:5:6' is not an address of kind mac"),
        ("a == 'x", "a string without an end; \"'\" is missing"),
        ("foo == 1", "no parameter 'foo'; there are a, b, c"),
        ("a", "'a' is bit<8>, not a condition"),
        ("a && true", "'a' is bit<8>, not a condition"),
        ("!a == 1", "'a' is bit<8>, not a condition"),
        ("a == 256", "'a == 256': 256 does not fit bit<8>"),
        ("a == -129", "'a == -129': -129 does not fit bit<8>"),
        (
            "a == c",
            "'a == c' compares bit<8> with bit<16>; they must be of one type",
        ),
        (
            "a == true",
            "'a == true' compares bit<8> with bool; they must be of one type",
        ),
        (
            "true < false",
            "'true < false': bool has no order; compare with == or !=, or compare its parts",
        ),
        ("-a == 1", "'-' before 'a', which is bit<8>, not int"),
        ("a::value == 1", "'a::value': 'a' is bit<8>, not a key field"),
        ("::priority == 1", "'::priority' is of entries; an action has none"),
        ("::cookie == 1", "no attribute '::cookie'; there is ::priority"),
    ] {
        let fault = action(text).expect_err("it is malformed");
        assert_eq!(
            fault.message,
            format!("P4Info: action 'act': @action_restriction: {problem}"),
            "{text}"
        );
        assert_eq!(fault.code, Code::InvalidArgument);
    }
    for (text, problem) in [
        (
            "ip.dst > 1",
            "'ip.dst > 1': ternary of bit<32> has no order; compare with == or !=, or compare its parts",
        ),
        (
            "ip.dst::low == 1",
            "'ip.dst::low': ternary of bit<32> has value and mask",
        ),
        (
            "ip.dst == ip.src",
            "'ip.dst == ip.src' compares ternary of bit<32> with lpm of bit<32>; they must be of one type",
        ),
        (
            "dst == 1",
            "no key field 'dst'; there are valid, ip.dst, ip.src, port, vlan",
        ),
    ] {
        let fault = table(text).expect_err("it is malformed");
        assert_eq!(
            fault.message,
            format!("P4Info: table 'tab': @entry_restriction: {problem}"),
            "{text}"
        );
    }
}

#[test]
fn nesting_has_a_limit() {
    assert!(holds(&format!("{}true{}", "(".repeat(60), ")".repeat(60))));
    let deep = format!("{}true{}", "!(".repeat(10_000), ")".repeat(10_000));
    let fault = action(&deep).expect_err("it is too deep");
    assert!(fault.message.ends_with("nested more than 64 levels deep"), "{fault}");
    assert!(holds(&["a == 1"; 20_000].join(" && ")));
}

#[test]
fn an_annotation_of_another_form_or_in_another_place_is_refused() {
    for (annotation, problem) in [
        (
            "@action_restriction",
            "@action_restriction: its text stands in parentheses and quotation marks, (\"...\")",
        ),
        (
            "@action_restriction(a != 0)",
            "@action_restriction: its text stands in parentheses and quotation marks, (\"...\")",
        ),
        (
            "@entry_restriction(\"true\")",
            "@entry_restriction belongs to a table; an action has @action_restriction",
        ),
    ] {
        let fault = of_action(&preamble("act", annotation), &params()).expect_err("it is malformed");
        assert_eq!(fault.message, format!("P4Info: action 'act': {problem}"));
    }
    let mut twice = preamble("act", "@action_restriction(\"true\")");
    twice.annotations.push("@action_restriction(\"false\")".to_owned());
    let fault = of_action(&twice, &params()).expect_err("it is given twice");
    assert!(
        fault.message.ends_with("given twice; ';' joins two restrictions"),
        "{fault}"
    );
    let none = of_action(&preamble("act", "@action_restrictions_of_mine(\"?\")"), &params());
    assert!(none.expect("it is another annotation").is_none());
}
