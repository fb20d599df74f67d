//! Ids and aliases. Both depend only on names, so they stay the same when other parts of a program change.

use std::collections::{BTreeMap, HashMap, HashSet};

/// First byte of an id: the kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
}

/// Names of all objects, with their ids.
#[derive(Default)]
pub(super) struct Symbols {
    ids: BTreeMap<Kind, BTreeMap<String, Option<u32>>>,
    taken: HashSet<u32>,
    /// Number of names with each suffix.
    suffixes: HashMap<String, usize>,
    names: HashSet<String>,
}

impl Symbols {
    /// Adds an object; `id` is the id in the program, if any. An object may be added twice.
    pub fn add(&mut self, kind: Kind, name: &str, id: Option<u64>) -> Result<(), String> {
        if self.ids.entry(kind).or_default().contains_key(name) {
            return Ok(());
        }
        let id = id.map(|id| self.requested(kind, id)).transpose()?;
        self.ids.entry(kind).or_default().insert(name.to_owned(), id);
        if self.names.insert(name.to_owned()) {
            for suffix in suffixes(name) {
                *self.suffixes.entry(suffix.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Id from an `@id`, whose first byte may be missing.
    fn requested(&mut self, kind: Kind, id: u64) -> Result<u32, String> {
        let prefix = (kind as u32) << 24;
        let id = u32::try_from(id).map_err(|_| format!("the @id {id} does not fit in 32 bits"))?;
        if id >> 24 != 0 && id >> 24 != kind as u32 {
            return Err(format!(
                "the @id {id:#x} must begin with the byte {:#04x}, or have no such byte",
                kind as u32
            ));
        }
        if id & 0x00ff_ffff == 0 {
            return Err("the @id 0 is not valid".to_owned());
        }
        if !self.taken.insert(id | prefix) {
            return Err(format!("the @id {id} is used twice"));
        }
        Ok(id | prefix)
    }

    /// Gives an id to every object without one. The first byte is the kind, the rest is a hash of the name. After a
    /// collision the next free id is used; names are in alphabetical order.
    pub fn assign(&mut self) {
        for (kind, names) in &mut self.ids {
            for (name, id) in names.iter_mut().filter(|(_, id)| id.is_none()) {
                let mut hash = one_at_a_time(name.as_bytes());
                let mut candidate = candidate_id(*kind, hash);
                while self.taken.contains(&candidate) {
                    hash = hash.wrapping_add(1);
                    candidate = candidate_id(*kind, hash);
                }
                self.taken.insert(candidate);
                *id = Some(candidate);
            }
        }
    }

    /// Id of an object; 0 if it was never added.
    pub fn id(&self, kind: Kind, name: &str) -> u32 {
        self.ids
            .get(&kind)
            .and_then(|names| names.get(name))
            .copied()
            .flatten()
            .unwrap_or(0)
    }

    /// The shortest suffix of a name, in whole parts, that no other name has.
    pub fn alias<'n>(&self, name: &'n str) -> &'n str {
        let unique = suffixes(name).find(|s| self.suffixes.get(*s).copied().unwrap_or(0) < 2);
        unique.unwrap_or(name)
    }
}

fn candidate_id(kind: Kind, hash: u32) -> u32 {
    ((kind as u32) << 24) | (hash & 0x00ff_ffff)
}

/// Suffixes of a name, shortest first.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name
        .char_indices()
        .rev()
        .filter(|(_, c)| *c == '.')
        .map(|(i, _)| &name[i + 1..]);
    dots.chain(std::iter::once(name))
}

/// Bob Jenkins's one-at-a-time hash; p4c's ids come from it.
fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mut hash: u32 = 0;
    for byte in bytes {
        hash = hash.wrapping_add(u32::from(*byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_p4c() {
        let mut symbols = Symbols::default();
        symbols.add(Kind::Table, "MyIngress.ipv4_lpm", None).unwrap();
        symbols.add(Kind::Action, "NoAction", None).unwrap();
        symbols.add(Kind::Action, "MyIngress.drop", None).unwrap();
        symbols.assign();
        assert_eq!(symbols.id(Kind::Table, "MyIngress.ipv4_lpm"), 37_375_156);
        assert_eq!(symbols.id(Kind::Action, "NoAction"), 21_257_015);
        assert_eq!(symbols.id(Kind::Action, "MyIngress.drop"), 25_652_968);
    }

    #[test]
    fn an_alias_is_the_shortest_end_that_is_unique() {
        let mut symbols = Symbols::default();
        for name in ["Ingress.a.tokens", "Ingress.b.tokens", "Ingress.routes"] {
            symbols.add(Kind::Register, name, None).unwrap();
        }
        assert_eq!(symbols.alias("Ingress.a.tokens"), "a.tokens");
        assert_eq!(symbols.alias("Ingress.routes"), "routes");
    }

    #[test]
    fn requested_ids_are_kept_and_checked() {
        let mut symbols = Symbols::default();
        symbols.add(Kind::Table, "t", Some(5)).unwrap();
        assert_eq!(symbols.id(Kind::Table, "t"), 0x0200_0005);
        assert!(
            symbols
                .add(Kind::Table, "u", Some(0x0200_0005))
                .unwrap_err()
                .contains("twice")
        );
        assert!(
            symbols
                .add(Kind::Table, "v", Some(0x0100_0001))
                .unwrap_err()
                .contains("0x02")
        );
    }
}
