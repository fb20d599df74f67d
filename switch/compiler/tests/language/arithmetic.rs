//! Random expressions: compiler and switch must compute the same numbers.

use proptest::prelude::*;

use super::operands::{Operands, fold, run};

/// A type: signed or not, and its width.
type Bits = (bool, u32);

const TYPES: [Bits; 6] = [(false, 8), (false, 16), (false, 32), (false, 72), (true, 8), (true, 16)];

/// Draws an expression from a list of choices; after its end, every choice is 0.
struct Draw<'a> {
    choices: std::slice::Iter<'a, u8>,
}

impl Draw<'_> {
    fn choose(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |c| usize::from(*c) % n)
    }

    fn leaf(&mut self, (signed, width): Bits) -> String {
        let names: &[&str] = match (signed, width) {
            (false, 8) => &["a", "b"],
            (false, 16) => &["c"],
            (false, 32) => &["d"],
            (false, _) => &["w"],
            (true, 8) => &["s", "t"],
            (true, _) => &["u"],
        };
        match self.choose(3) {
            0 => {
                let sign = if signed { 's' } else { 'w' };
                format!("{width}{sign}{}", self.choose(128))
            }
            n => names[n % names.len()].to_owned(),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let ty = TYPES[self.choose(TYPES.len())];
        let op = ["<", "<=", ">", ">=", "==", "!="][self.choose(6)];
        let compare = |d: &mut Self| format!("({} {op} {})", d.value(ty, depth - 1), d.value(ty, depth - 1));
        match self.choose(4) {
            0 if depth > 1 => format!("({} && {})", self.condition(depth - 1), self.condition(depth - 1)),
            1 if depth > 1 => format!("(!{} || {})", self.condition(depth - 1), self.condition(depth - 1)),
            _ => compare(self),
        }
    }

    fn value(&mut self, ty: Bits, depth: usize) -> String {
        let (signed, width) = ty;
        if depth == 0 {
            return self.leaf(ty);
        }
        let below = depth - 1;
        let name = |(signed, width): Bits| format!("{}<{width}>", if signed { "int" } else { "bit" });
        match self.choose(12) {
            0..=4 => {
                let op = ["+", "-", "*", "&", "|", "^", "|+|", "|-|"][self.choose(8)];
                format!("({} {op} {})", self.value(ty, below), self.value(ty, below))
            }
            5 => {
                let distance = (false, [8, 16][self.choose(2)]);
                let op = ["<<", ">>"][self.choose(2)];
                format!("({} {op} {})", self.value(ty, below), self.value(distance, below))
            }
            6 => {
                let op = ["<<", ">>"][self.choose(2)];
                format!("({} {op} {})", self.value(ty, below), self.choose(80))
            }
            7 => format!("({}{})", ["-", "~"][self.choose(2)], self.value(ty, below)),
            8 => format!(
                "({} ? {} : {})",
                self.condition(depth),
                self.value(ty, below),
                self.value(ty, below)
            ),
            9 => {
                // Another width with the same sign, or the same width with the other sign.
                let all = TYPES.iter().filter(|(s, w)| *s == signed || *w == width);
                let from: Vec<Bits> = all.copied().collect();
                let from = from[self.choose(from.len())];
                format!("(({}){})", name(ty), self.value(from, below))
            }
            10 if !signed => {
                let from = [(false, 32), (false, 72)][self.choose(2)];
                let low = self.choose(from.1 as usize) as u32;
                let high = low + self.choose((from.1 - low).min(width) as usize) as u32;
                format!("(({}){}[{high}:{low}])", name(ty), self.value(from, below))
            }
            10 => format!("({}){}", name(ty), self.value((false, width), below)),
            _ if ty == (false, 16) => format!(
                "({} ++ {})",
                self.value((false, 8), below),
                self.value((false, 8), below)
            ),
            _ if !signed => format!(
                "({} {} {})",
                self.value(ty, below),
                ["/", "%"][self.choose(2)],
                self.choose(200) + 1
            ),
            _ => self.leaf(ty),
        }
    }
}

fn operands() -> impl Strategy<Value = Operands> {
    let narrow = (
        any::<u8>(),
        any::<u8>(),
        any::<u16>(),
        any::<u32>(),
        any::<i8>(),
        any::<i8>(),
        any::<i16>(),
    );
    (narrow, 0..1u128 << 72).prop_map(|((a, b, c, d, s, t, u), w)| Operands { a, b, c, d, s, t, u, w })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_compiler_and_the_switch_compute_the_same(
        choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..60), 1..24),
        operands in operands(),
    ) {
        let mut texts = Vec::new();
        for (i, choices) in choices.iter().enumerate() {
            let mut draw = Draw { choices: choices.iter() };
            let (signed, width) = TYPES[i % TYPES.len()];
            let value = draw.value((signed, width), 4);
            texts.push(match (signed, width) {
                (true, _) => format!("(int<64>){value}"),
                (false, 72) => format!("(bit<64>){value} ^ (bit<64>)({value} >> 8)"),
                _ => value,
            });
        }
        let (computed, folded) = (run(&texts, &operands), fold(&texts, &operands));
        for (i, text) in texts.iter().enumerate() {
            prop_assert_eq!(computed[i], folded[i], "the switch's and the compiler's value of {}", text);
        }
    }
}
