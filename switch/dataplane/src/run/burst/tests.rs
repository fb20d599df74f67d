//! Many prefixes of several shapes in the trie, compared with a search for each length.

use std::collections::HashMap;

use super::*;

type Value = (u128, u32);

/// A trie, the rows of all prefixes of a test, and the slots that are in the trie.
struct Bench {
    trie: BurstTrie,
    rows: Rows,
    prefixes: Vec<Value>,
    linked: HashMap<Value, u32>,
}

fn cut(width: u32, value: u128, length: u32) -> u128 {
    match width - length {
        128 => 0,
        rest => value >> rest << rest,
    }
}

fn key((value, prefix): Value) -> PackedKey {
    PackedKey {
        value: vec![value as u64, (value >> 64) as u64],
        mask: Vec::new(),
        prefix,
    }
}

fn mix(number: u128) -> u128 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
}

impl Bench {
    fn new(width: u32, prefixes: impl Iterator<Item = Value>) -> Bench {
        let mut prefixes: Vec<Value> = prefixes
            .map(|(value, length)| (cut(width, value, length), length))
            .collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        prefixes.sort_by_key(|&(value, length)| mix(value ^ u128::from(length)) >> 64);
        let mut rows = Rows::new(2, false);
        rows.resize(prefixes.len());
        (0..)
            .zip(&prefixes)
            .for_each(|(slot, &prefix)| rows.set(slot, &key(prefix)));
        Bench {
            trie: BurstTrie::new(width),
            rows,
            prefixes,
            linked: HashMap::new(),
        }
    }

    fn link(&mut self, slot: u32) {
        let prefix = self.prefixes[slot as usize];
        assert_eq!(self.trie.position(&self.rows, &key(prefix)), None);
        self.trie.link(&self.rows, slot, &key(prefix));
        self.linked.insert(prefix, slot);
        assert_eq!(self.trie.position(&self.rows, &key(prefix)), Some(slot));
    }

    fn unlink(&mut self, slot: u32) {
        let prefix = self.prefixes[slot as usize];
        self.trie.unlink(&self.rows, slot, prefix.1);
        self.linked.remove(&prefix);
        assert_eq!(self.trie.position(&self.rows, &key(prefix)), None);
    }

    /// Looks up the address of each prefix, the address before it, and one with another bit.
    fn check(&self) {
        let width = self.trie.width;
        for (number, &(value, _)) in self.prefixes.iter().enumerate() {
            for value in [value, value.wrapping_sub(1), value ^ 1 << (number as u32 % width)] {
                let value = value & u128::MAX >> (128 - width);
                let found = self.trie.find(&self.rows, &key((value, 0)).value);
                let longest = |length| self.linked.get(&(cut(width, value, length), length)).copied();
                assert_eq!(found, (0..=width).rev().find_map(longest), "{value:#x}");
            }
        }
    }

    /// Adds all prefixes and removes them in another order, several times.
    fn run(mut self) {
        let count = self.prefixes.len() as u32;
        let mut words = Vec::new();
        for _ in 0..4 {
            for slot in 0..count {
                self.link(slot);
                if slot == count / 8 {
                    self.check();
                }
            }
            self.check();
            (0..count)
                .filter(|slot| slot % 8 != 3)
                .for_each(|slot| self.unlink(slot));
            self.check();
            (3..count).step_by(8).for_each(|slot| self.unlink(slot));
            self.check();
            let (used, free) = self.trie.blocks.used_and_free();
            assert_eq!(used, UNIT_WORDS);
            words.push(free);
        }
        assert!(
            4 * words[3] < 5 * words[0],
            "blocks that were freed are used again: {words:?}"
        );
    }
}

#[test]
fn hosts_of_one_network_and_the_networks_around_it() {
    let hosts = (0..1000).map(|host| (0x0a00_0000 + host, 32));
    let around = (0..=32).map(|length| (0x0a00_0203, length));
    Bench::new(32, hosts.chain(around)).run();
}

#[test]
fn networks_all_over_an_address_space() {
    Bench::new(32, (0..3000).map(|number| (mix(number) >> 96, 20 + number as u32 % 13))).run();
}

#[test]
fn every_prefix_of_a_short_field() {
    Bench::new(9, (0..512 * 10).map(|number| (number % 512, number as u32 / 512))).run();
}

#[test]
fn long_addresses_that_begin_alike() {
    let network = 0x2001_0db8 << 96;
    let networks = (0..500).map(|number| (network | number << 64, 64));
    let hosts = (0..500).map(|number| (network | 7 << 64 | number, 128));
    Bench::new(128, networks.chain(hosts)).run();
}
