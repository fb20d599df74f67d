//! Compares the indices of entries with a scan of all entries.

use proptest::prelude::*;

use MatchKind::{Exact, Lpm, Optional, Range, Ternary, Valid};

use super::*;
use crate::bits::{cut, from_bytes};

/// An entry in the scan; its key is normalised, in words.
struct Known {
    slot: u32,
    priority: i32,
    key: PackedKey,
}

/// All entries in the order of insertion.
#[derive(Default)]
struct Scan(Vec<Known>);

impl Scan {
    /// Finds the matching entry with the largest priority, or with the longest prefix; among equal ones, the first
    /// added.
    fn find(&self, specs: &[KeySpec], with_priority: bool, key: &[u64]) -> Option<u32> {
        let rank = |known: &Known| {
            if with_priority {
                i64::from(known.priority)
            } else {
                i64::from(known.key.prefix)
            }
        };
        let mut best: Option<&Known> = None;
        for known in self.0.iter().filter(|known| known.matches(specs, key)) {
            if best.is_none_or(|best| rank(known) > rank(best)) {
                best = Some(known);
            }
        }
        best.map(|known| known.slot)
    }

    fn has(&self, key: &PackedKey, priority: i32) -> bool {
        let same = |known: &Known| (&known.key.value, &known.key.mask) == (&key.value, &key.mask);
        self.0.iter().any(|known| known.priority == priority && same(known))
    }
}

impl Known {
    fn matches(&self, specs: &[KeySpec], key: &[u64]) -> bool {
        let mut at = 0;
        specs.iter().all(|spec| {
            let span = at..at + words(spec.width);
            at = span.end;
            let (key, value, mask) = (&key[span.clone()], &self.key.value[span.clone()], &self.key.mask[span]);
            match spec.kind {
                MatchKind::Range => {
                    let number = |words: &[u64]| words.iter().rev().copied().collect::<Vec<_>>();
                    number(key) >= number(value) && number(key) <= number(mask)
                }
                _ => key.iter().zip(mask).zip(value).all(|((k, m), v)| k & m == *v),
            }
        })
    }
}

/// One of only a few values, so that keys collide. The values differ in low and in high bits.
fn value(width: u32, number: u8) -> Vec<u8> {
    let mut words = vec![u64::from(number % 8) * 0x9249_2492_4924_9249; words(width)];
    cut(width, &mut words);
    to_bytes(&words, width)
}

fn match_key(spec: &KeySpec, [a, b]: [u8; 2]) -> MatchKey {
    let value = |number| value(spec.width, number);
    let masks = |b: u8| [0x00, 0x0f, 0xf0, 0xff][usize::from(b % 4)];
    match spec.kind {
        MatchKind::Exact => MatchKey::Exact(value(a)),
        MatchKind::Lpm => MatchKey::Lpm(value(a), u16::from(b) % (spec.width as u16 + 1)),
        MatchKind::Ternary => {
            let mut mask = vec![masks(b); spec.width.div_ceil(8) as usize];
            mask[0] &= 0xff >> (mask.len() as u32 * 8 - spec.width);
            MatchKey::Ternary(value(a), mask)
        }
        MatchKind::Range => MatchKey::Range(value(a).min(value(b)), value(a).max(value(b))),
        MatchKind::Optional => MatchKey::Optional((b % 2 == 0).then(|| value(a))),
        MatchKind::Valid => MatchKey::Valid(a % 2 == 0),
    }
}

fn specs(fields: &[(MatchKind, u32)]) -> Vec<KeySpec> {
    let mut at = 0;
    let field = |&(kind, width): &(MatchKind, u32)| {
        let slot = at;
        at += words(width) as u32;
        let (name, mask) = ("f".to_owned(), None);
        KeySpec {
            name,
            kind,
            width,
            slot,
            mask,
        }
    };
    fields.iter().map(field).collect()
}

/// Adds and removes entries by the steps: mostly adds in the first half, mostly removes in the second. Compares the
/// lookups after each step.
fn check(fields: &[(MatchKind, u32)], scanned: bool, steps: &[[u8; 8]]) {
    let specs = specs(fields);
    let mut entries = Entries::new("t".to_owned(), specs.clone(), 1000, scanned);
    let mut scan = Scan::default();
    for (number, step) in steps.iter().enumerate() {
        let parts = [[step[2], step[3]], [step[4], step[5]], [step[6], step[7]]];
        let adds = if number < steps.len() / 2 {
            step[0] % 8 != 0
        } else {
            step[0] % 4 == 0
        };
        if adds || scan.0.is_empty() {
            let key: Vec<MatchKey> = specs
                .iter()
                .zip(parts)
                .map(|(spec, part)| match_key(spec, part))
                .collect();
            let key = entries.pack(&key).expect("the key fits");
            let priority = if entries.has_priority() {
                i32::from(step[1] % 4)
            } else {
                0
            };
            let there = scan.has(&key, priority);
            assert_eq!(entries.position(&key, priority).is_some(), there);
            match entries.insert(&key, priority, Call::Member(0), 0) {
                Ok(slot) => scan.0.push(Known { slot, priority, key }),
                Err(error) => assert!(there && error == TableError::Duplicate("t".to_owned()), "{error}"),
            }
        } else {
            let removed = scan.0.remove(usize::from(step[1]) % scan.0.len());
            assert_eq!(entries.position(&removed.key, removed.priority), Some(removed.slot));
            entries.remove(removed.slot);
            assert_eq!(entries.position(&removed.key, removed.priority), None);
        }
        assert_eq!(entries.len(), scan.0.len());
        for other in 0..4 {
            let numbers = parts.map(|part| part[0].wrapping_add(other * part[1]));
            let key: Vec<u64> = specs
                .iter()
                .zip(numbers)
                .flat_map(|(spec, number)| match spec.kind {
                    MatchKind::Valid => vec![u64::from(number % 2)],
                    _ => from_bytes(&value(spec.width, number), spec.width).expect("the value fits"),
                })
                .collect();
            entries.prepare();
            let found = entries.lookup(&key, &mut Vec::new());
            assert_eq!(
                found,
                scan.find(&specs, entries.has_priority(), &key),
                "key {key:x?} after {number} steps"
            );
        }
    }
}

fn field(kinds: &'static [MatchKind]) -> impl Strategy<Value = (MatchKind, u32)> {
    (
        prop::sample::select(kinds),
        prop::sample::select(&[4u32, 9, 32, 64, 70][..]),
    )
        .prop_map(|(kind, width)| match kind {
            MatchKind::Valid => (kind, 1),
            _ => (kind, width),
        })
}

fn steps() -> impl Strategy<Value = Vec<[u8; 8]>> {
    prop::collection::vec(any::<[u8; 8]>(), 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_most_urgent_entry_is_found(
        fields in prop::collection::vec(field(&[Exact, Lpm, Ternary, Range, Optional, Valid]), 1..=3),
        steps in steps(),
    ) {
        check(&fields, true, &steps);
    }

    #[test]
    fn the_longest_prefix_is_found(
        width in prop::sample::select(&[4u32, 9, 32, 64, 70, 128, 140][..]),
        beside in prop::collection::vec(field(&[Exact, Valid]), 0..=2),
        steps in steps(),
    ) {
        check(&[vec![(Lpm, width)], beside].concat(), false, &steps);
    }

    #[test]
    fn exact_entries_are_found(fields in prop::collection::vec(field(&[Exact, Valid]), 1..=3), steps in steps()) {
        check(&fields, false, &steps);
    }
}
