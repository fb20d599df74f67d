//! Compares lowered code with exact evaluation, for random expressions over random fields.

use std::collections::HashMap;

use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::bits::cut;
use crate::compile;
use crate::load::builder::{OutOfRange, RegisterShape};
use crate::load::json::Json;
use crate::run::code::Code;
use crate::run::layout::Layout;
use crate::run::machine::run;
use crate::run::observer::Nobody;
use crate::run::program::Parts;
use crate::run::state::{RegisterArray, Registers, State};

/// Width and signedness of each field of the header.
const FIELDS: [(u32, bool); 10] = [
    (1, false),
    (8, false),
    (9, false),
    (32, false),
    (63, false),
    (64, false),
    (128, false),
    (8, true),
    (33, true),
    (64, true),
];

fn layout() -> Layout {
    let fields: Vec<_> = FIELDS
        .iter()
        .enumerate()
        .map(|(i, (width, signed))| json!([format!("f{i}"), width, signed]))
        .collect();
    let program = json!({
        "header_types": [{"name": "h_t", "id": 0, "fields": fields}],
        "headers": [{"name": "h", "id": 0, "header_type": "h_t", "metadata": true}],
    });
    Layout::load(&Json::root(&program)).expect("a plain layout")
}

fn state(words: Vec<u64>) -> State {
    State {
        words,
        registers: Registers([RegisterArray::new("r".into(), 40, 4, vec![0])].into()),
        ..State::default()
    }
}

fn constant() -> impl Strategy<Value = Data> + Clone {
    let value = prop_oneof![
        (0i128..70).boxed(),
        any::<i64>().prop_map(i128::from).boxed(),
        any::<u64>().prop_map(i128::from).boxed(),
        any::<i128>().boxed(),
    ];
    value.prop_map(|value| Data::Const(BigInt::from(value)))
}

fn arithmetic() -> impl Strategy<Value = Arithmetic> + Clone {
    use Arithmetic::*;
    prop::sample::select(vec![Add, Sub, Mul, Div, Mod, Shl, Shr, And, Or, Xor])
}

fn data() -> impl Strategy<Value = Data> + Clone {
    let leaf = prop_oneof![
        (0..FIELDS.len() as u32).prop_map(Data::Field),
        constant(),
        (0u64..6).prop_map(|cell| Data::Register(0, Box::new(Data::Const(cell.into())))),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let cast = prop::sample::select(vec![
            Arithmetic::TwoComp,
            Arithmetic::SaturateUnsigned,
            Arithmetic::SaturateSigned,
        ]);
        prop_oneof![
            4 => (arithmetic(), boxed.clone(), boxed.clone()).prop_map(|(op, a, b)| Data::Binary(op, a, b)),
            2 => (cast, boxed.clone(), 1u32..70)
                .prop_map(|(op, a, width)| Data::Binary(op, a, Box::new(Data::Const(width.into())))),
            1 => boxed.clone().prop_map(Data::BitNot),
            1 => (comparison(boxed.clone()), boxed.clone(), boxed)
                .prop_map(|(c, a, b)| Data::Select(Box::new(c), a, b)),
        ]
    })
}

fn comparison(data: impl Strategy<Value = Box<Data>> + Clone) -> impl Strategy<Value = Bool> {
    let op = prop::sample::select(vec![Comparison::Equal, Comparison::Less, Comparison::LessOrEqual]);
    (op, data.clone(), data, any::<bool>()).prop_map(|(op, a, b, negate)| {
        let compare = Bool::Compare(op, a, b);
        if negate { Bool::Not(Box::new(compare)) } else { compare }
    })
}

/// Random values of the fields.
fn contents(layout: &Layout, seed: &[u64]) -> Vec<u64> {
    let mut words = vec![0; layout.words];
    for (index, field) in layout.fields.iter().enumerate() {
        let span = field.span();
        for (offset, word) in words[span.clone()].iter_mut().enumerate() {
            *word = seed[(index + offset) % seed.len()];
        }
        cut(field.width, &mut words[span]);
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn lowered_arithmetic_is_exact(
        expr in data(),
        seed in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX), Just(1 << 63)], 11),
        keep in prop::sample::select(vec![1u64, 0xff, 0xffff_ffff, u64::MAX]),
    ) {
        let layout = layout();
        let registers = [RegisterShape { width: 40, beyond: OutOfRange::Nothing }];
        let mut builder = Builder::new(&layout, layout.words as u32, &registers);
        let d = builder.own_word();
        builder.value_into(&expr, d, keep);
        let truth = Bool::FromData(Box::new(expr.clone()));
        let t = builder.own_word();
        builder.truth_into(&truth, t);
        builder.push(Op::End);
        let mut state = state(contents(&layout, &seed));
        state.words.extend(&builder.pool);
        state.registers.0[0].cells = vec![seed[0] & 0xff_ffff_ffff, 1, 0, 0xff_ffff_ffff].into();
        let constants = builder.constants();
        let (ops, lists) = (builder.code, builder.lists);
        let code = code(layout, ops, lists, constants);
        let expected = code.env(&state).data(&expr);
        let expected_truth = code.env(&state).bool(&truth);
        run_twice(code, &mut state)?;
        prop_assert_eq!(state.words[d as usize], expected.low64() & keep, "{:?} of {:?}", expr, seed);
        prop_assert_eq!(state.words[t as usize] != 0, expected_truth, "truth of {:?}", expr);
    }

    #[test]
    fn lowered_conditions_are_exact(
        condition in comparison(data().prop_map(Box::new)),
        seed in prop::collection::vec(prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX), Just(1 << 63)], 11),
    ) {
        let layout = layout();
        let registers = [RegisterShape { width: 40, beyond: OutOfRange::Nothing }];
        let mut builder = Builder::new(&layout, layout.words as u32, &registers);
        // A jump over an assignment, in the form of a compiled condition.
        let reached = builder.own_word();
        let a = builder.truth(&condition);
        let mut jump = builder.fuse_jump(a);
        let (one, m) = (builder.constant(1), builder.constant(u64::MAX));
        jump.set_target(builder.address() + 2);
        builder.push(jump);
        builder.push(Op::Move { d: reached, a: one, m });
        builder.push(Op::End);
        let mut state = state(contents(&layout, &seed));
        state.words.extend(&builder.pool);
        let constants = builder.constants();
        let (ops, lists) = (builder.code, builder.lists);
        let code = code(layout, ops, lists, constants);
        let expected = code.env(&state).bool(&condition);
        run_twice(code, &mut state)?;
        prop_assert_eq!(state.words[reached as usize] != 0, expected, "{:?} of {:?}", condition, seed);
    }
}

/// Runs the code interpreted and compiled, and compares the words.
fn run_twice(mut code: Code, state: &mut State) -> Result<(), TestCaseError> {
    let mut second = self::state(state.words.clone());
    second.registers.0[0].cells.copy_from_slice(&state.registers.0[0].cells);
    run(&code, state, 0, &mut Nobody);
    let parts = Parts {
        entries: vec![0],
        ..Parts::default()
    };
    let native = compile::translate(&code, &mut second, &parts);
    code.native = Some(native.expect("code for this processor"));
    run(&code, &mut second, 0, &mut Nobody);
    prop_assert_eq!(&state.words, &second.words);
    Ok(())
}

fn code(layout: Layout, ops: Vec<Op>, lists: Vec<Vec<u32>>, constants: HashMap<Word, u64>) -> Code {
    let param_base = layout.words;
    Code {
        layout,
        plans: Vec::new(),
        ops,
        lists,
        calculations: Vec::new(),
        tables: Vec::new(),
        actions: Vec::new(),
        param_base,
        param_end: param_base,
        constants,
        marks: HashMap::new(),
        native: None,
    }
}
