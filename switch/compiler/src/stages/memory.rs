//! Memory, crossbar and hash bits of tables, registers, counters and meters (p4c `mau/resource_estimate.cpp`,
//! `mau/table_layout.cpp`, `mau/table_format.h`).

use super::chip::{RANGE_BITS, Resources, SRAM_BITS, SRAM_WORDS, STAGE, TCAM_BYTES, TCAM_PAIR_BYTES, TCAM_WORDS};
use crate::ir::{Ir, Meter, Register, Table, Unit};

/// Bits of an entry for the version of the table.
const VERSION: u64 = 4;
/// Bits of an exact key that are not stored, because the position of the entry implies them.
const GHOST: u64 = 10;
/// Bits of action data stored with the match; larger data has its own memory.
const IMMEDIATE: u64 = 32;
/// Most entries in one word, and its bits outside of the key.
const PACK: u64 = 5;
const OVERHEAD: u64 = 64;
/// Hash functions of an exact table; each reads its own blocks.
const WAYS: u64 = 4;
/// Members among which one word of a selector chooses.
const POOL: u64 = 120;

/// Memory of a table as a function of its number of entries.
#[derive(Clone, Debug)]
pub struct Memory {
    pub entries: u64,
    /// True if it may be split over stages.
    pub splits: bool,
    key: Key,
    /// Bits besides the key: action, its data, pointers.
    overhead: u64,
    /// Bytes of action data in separate memory.
    data_bytes: u64,
    /// Entries in one word, for each direct counter and meter.
    statistics: Vec<u64>,
    meters: Vec<u64>,
    /// Resources that do not depend on the number of entries.
    fixed: Resources,
}

#[derive(Clone, Copy, Debug)]
enum Key {
    None,
    Exact {
        bits: u64,
        bytes: u64,
    },
    /// `rows`: number of rows for four entries. A range takes several rows.
    Ternary {
        bytes: u64,
        rows: u64,
    },
}

/// Memory of a table. The error names a key that is too wide.
pub fn table(ir: &Ir, table: &Table) -> Result<Memory, String> {
    let key = key(table)?;
    let actions = table.actions.len().max(1) as u64;
    let data = table.actions.iter().map(|(a, _)| {
        let params = &ir.actions[*a].params;
        params.iter().map(|p| u64::from(p.width)).sum::<u64>()
    });
    let data = data.max().unwrap_or(0);
    let mut fixed = Resources::default();
    let mut overhead = bits_for(actions);
    let mut data_bytes = 0;
    if let Some(profile) = table.profile.map(|p| &ir.profiles[p]) {
        overhead += bits_for(profile.size);
        let bytes = data.div_ceil(8).max(1).next_power_of_two();
        fixed.sram += blocks(profile.size, 16 / bytes.min(16)) * bytes.div_ceil(16);
        if profile.selector.is_some() {
            fixed.stateful += 1;
            let words =
                profile.size.div_ceil(profile.max_group.max(1)).max(1) * profile.max_group.div_ceil(POOL).max(1);
            fixed.sram += blocks(words, 1) + 1;
            fixed.map_ram += blocks(words, 1) + 1;
            fixed.hash_bits += 51;
        }
    } else if data <= IMMEDIATE {
        overhead += data;
    } else {
        data_bytes = data.div_ceil(8).next_power_of_two();
    }
    let counter = table.counter.map(|c| per_word(&ir.counters[c]));
    let meter = table.meter.map(|_| 1);
    fixed.statistics += u64::from(counter.is_some());
    fixed.stateful += u64::from(meter.is_some());
    let idle = u64::from(table.timeout);
    fixed.map_ram += idle * blocks(table.size, 4);
    Ok(Memory {
        entries: if table.keys.is_empty() { 0 } else { table.size.max(1) },
        splits: table.profile.is_none_or(|p| ir.profiles[p].selector.is_none()),
        key,
        overhead,
        data_bytes,
        statistics: counter.into_iter().collect(),
        meters: meter.into_iter().collect(),
        fixed,
    })
}

fn key(table: &Table) -> Result<Key, String> {
    let (mut bits, mut bytes, mut rows, mut is_ternary) = (0, 0, 4, false);
    for key in &table.keys {
        let width = u64::from(key.width);
        match &*key.kind {
            "selector" | "dleft_hash" => continue,
            "range" => {
                if key.width > RANGE_BITS {
                    return Err(format!(
                        "the key '{}' of kind range has {width} bits, but a range is looked up in at most {RANGE_BITS}. \
                         Match a part of the field, or use ternary",
                        key.name
                    ));
                }
                is_ternary = true;
                // Assumes that a quarter of the entries have ranges that need one row for each nibble and side.
                let nibbles = width.div_ceil(4);
                rows += (2 * nibbles - 1).min(8) - 1;
                bytes += nibbles;
            }
            // `emit_static_entries`.
            "lpm" if table.entries.as_ref().is_some_and(|e| !e.is_empty()) => {
                return Err(format!(
                    "the key '{}' of kind lpm is in a table whose entries the program gives, which the open compiler does not \
                     take. Use ternary, with the longest prefixes first",
                    key.name
                ));
            }
            kind => {
                is_ternary |= kind != "exact";
                bytes += width.div_ceil(8);
            }
        }
        bits += width;
    }
    let most = if is_ternary {
        STAGE.ternary_bytes
    } else {
        STAGE.exact_bytes
    };
    if bytes > most {
        let kind = if is_ternary { "ternary" } else { "exact" };
        return Err(format!(
            "the key of '{}' takes {bytes} bytes, but a stage's crossbar for {kind} match has {most}. Split the table, or \
             match a hash of some fields",
            table.name
        ));
    }
    Ok(match (bits, is_ternary) {
        (0, _) => Key::None,
        (_, true) => Key::Ternary { bytes, rows },
        (_, false) => Key::Exact { bits, bytes },
    })
}

fn bits_for(values: u64) -> u64 {
    u64::from(values.max(1).next_power_of_two().trailing_zeros())
}

/// Number of blocks for entries, with `in_a_word` entries in each word.
fn blocks(entries: u64, in_a_word: u64) -> u64 {
    entries.div_ceil(SRAM_WORDS * in_a_word.max(1))
}

/// Entries of a counter in one word: 64 bits for one count, 128 for both packets and bytes.
fn per_word(counter: &Meter) -> u64 {
    match counter.unit {
        Unit::Packets | Unit::Bytes => 2,
        Unit::Both => 1,
    }
}

impl Memory {
    /// Memory of a table without a key.
    #[must_use]
    pub fn is_keyless(&self) -> bool {
        matches!(self.key, Key::None)
    }

    /// Resources for some of the entries, including the logical table.
    #[must_use]
    pub fn resources(&self, entries: u64) -> Resources {
        let mut need = self.fixed;
        need.tables = 1;
        match self.key {
            Key::None => {}
            Key::Exact { bits, bytes } => self.exact(entries, bits, bytes, &mut need),
            Key::Ternary { bytes, rows } => {
                // A pair of blocks has 11 bytes, a single one 5 (and a half): `options_to_ternary_entries`.
                let (pairs, rest) = (
                    (bytes.max(1) - 1) / TCAM_PAIR_BYTES,
                    (bytes.max(1) - 1) % TCAM_PAIR_BYTES + 1,
                );
                let width = pairs * 2 + if rest > TCAM_BYTES { 2 } else { 1 };
                need.tcam += width * entries.saturating_mul(rows).div_ceil(4 * TCAM_WORDS);
                need.ternary_bytes += bytes;
                if self.overhead > 0 {
                    let bits = self.overhead.next_power_of_two().max(8);
                    need.sram += blocks(entries, SRAM_BITS / bits.min(SRAM_BITS));
                }
            }
        }
        if self.data_bytes > 0 {
            need.sram += blocks(entries, 16 / self.data_bytes.min(16)) * self.data_bytes.div_ceil(16);
        }
        for in_a_word in self.statistics.iter().chain(&self.meters) {
            // One spare block: it is written while another one is read.
            let direct = blocks(entries, *in_a_word) + 1;
            need.sram += direct;
            need.map_ram += direct;
        }
        need
    }

    fn exact(&self, entries: u64, bits: u64, bytes: u64, need: &mut Resources) {
        let kept = bits.saturating_sub(GHOST);
        let entry = kept + VERSION + self.overhead;
        let by_overhead = OVERHEAD / (self.overhead + VERSION).min(OVERHEAD);
        let in_a_word = (SRAM_BITS / entry.min(SRAM_BITS)).min(PACK).min(by_overhead).max(1);
        let width = entry.div_ceil(SRAM_BITS).max(1);
        let depth = blocks(entries, in_a_word);
        // A small key is its own hash, so each value has its own place.
        let places = (kept <= 8).then(|| (1_u64 << kept).div_ceil(in_a_word).next_power_of_two());
        let depth = match places {
            Some(places) if places <= depth.max(WAYS) => places,
            _ => depth.max(WAYS),
        };
        need.sram += depth * width;
        need.exact_bytes += bytes;
        let ways = depth.min(WAYS);
        need.hash_bits += ways * (10 + bits_for(depth.div_ceil(ways)));
    }
}

/// A register: its cells, a spare block and its ALU.
pub fn register(register: &Register) -> Resources {
    let width = u64::from(register.width.max(1)).next_power_of_two();
    let units = blocks(register.size, SRAM_BITS / width.min(SRAM_BITS)) + 1;
    Resources {
        stateful: 1,
        sram: units,
        map_ram: units,
        hash_bits: bits_for(register.size),
        ..Resources::default()
    }
}

/// A counter that the program indexes.
pub fn counter(counter: &Meter) -> Resources {
    let units = blocks(counter.size, per_word(counter)) + 1;
    Resources {
        statistics: 1,
        sram: units,
        map_ram: units,
        hash_bits: bits_for(counter.size),
        ..Resources::default()
    }
}

/// A meter or filter that the program indexes.
pub fn meter(size: u64) -> Resources {
    let units = blocks(size, 1) + 1;
    Resources {
        stateful: 1,
        sram: units,
        map_ram: units,
        hash_bits: bits_for(size),
        ..Resources::default()
    }
}
