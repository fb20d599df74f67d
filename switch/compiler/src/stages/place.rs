//! Places units stage by stage. Among the units whose dependencies are met, the one with the longest chain after it
//! comes first, as long as the stage has the resources. All units that access one register go into one stage.

use std::collections::BTreeMap;

use super::{
    chip::Resources,
    depend::Wait,
    unit::{Kind, Unit},
};

/// Place of a unit or of a part of its entries.
#[derive(Clone, Debug)]
pub struct Part {
    pub unit: usize,
    /// Entries of a table.
    pub entries: u64,
    /// Resources without registers, counters and meters.
    pub takes: Resources,
}

#[derive(Clone, Debug, Default)]
pub struct Stage {
    pub parts: Vec<Part>,
    pub used: Resources,
    /// Registers, counters and meters in it, by kind and number or name.
    objects: Vec<Object>,
}

/// An object that units share; it is in one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    Register(usize),
    Counter(usize),
    Meter(String),
}

/// Reason why a unit or a group cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A unit needs more of a resource than a stage has.
    TooLarge {
        unit: usize,
        what: &'static str,
        needs: u64,
        has: u64,
    },
    /// Two units must be in one stage, but one waits for the other.
    Apart { unit: usize, other: usize },
    /// Two units wait for each other.
    Circle { unit: usize, other: usize },
}

/// Most stages; no program is placed beyond them.
const MOST_STAGES: usize = 256;

/// Units that must be in one stage, and their dependencies.
struct Group {
    units: Vec<usize>,
    /// Groups for which it waits, with the distance in stages.
    waits: Vec<(usize, usize)>,
    /// Number of stages that must follow it.
    behind: usize,
    placed: Option<usize>,
    /// Entries of its table not yet placed.
    left: u64,
}

/// Places units; `objects` gives the resources of a register, counter or meter.
pub fn place(
    units: &[Unit],
    waits: &[Vec<Wait>],
    objects: &dyn Fn(&Object) -> Resources,
) -> Result<Vec<Stage>, Failure> {
    let mut groups = groups(units, waits)?;
    for group in &groups {
        fits_alone(units, group, objects)?;
    }
    let mut stages: Vec<Stage> = Vec::new();
    while groups.iter().any(|g| g.placed.is_none()) && stages.len() < MOST_STAGES {
        let mut stage = Stage::default();
        let at = stages.len();
        loop {
            let next = ready(&groups, at);
            let placed = next
                .into_iter()
                .any(|g| put(units, &mut groups, g, at, &mut stage, objects));
            if !placed {
                break;
            }
        }
        stages.push(stage);
    }
    late_conditions(units, waits, &mut stages);
    logical_tables(units, &mut stages);
    Ok(stages)
}

fn groups(units: &[Unit], waits: &[Vec<Wait>]) -> Result<Vec<Group>, Failure> {
    let mut group_of: Vec<usize> = (0..units.len()).collect();
    let mut homes: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        for (register, _) in &unit.registers {
            let home = *homes.entry(*register).or_insert(at);
            let (from, to) = (group_of[at], group_of[home]);
            group_of.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
    }
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (at, home) in group_of.iter().enumerate() {
        let number = *numbers.entry(*home).or_insert_with(|| {
            groups.push(Group {
                units: Vec::new(),
                waits: Vec::new(),
                behind: 0,
                placed: None,
                left: 0,
            });
            groups.len() - 1
        });
        groups[number].units.push(at);
        groups[number].left += units[at].memory.as_ref().map_or(0, |m| m.entries);
    }
    let number_of = |unit: usize| numbers[&group_of[unit]];
    for (at, list) in waits.iter().enumerate() {
        for wait in list {
            let (later, earlier) = (number_of(at), number_of(wait.on));
            if later != earlier {
                groups[later].waits.push((earlier, wait.reason.stages()));
            } else if wait.reason.stages() > 0 {
                return Err(Failure::Apart {
                    unit: at,
                    other: wait.on,
                });
            }
        }
    }
    behind(&mut groups).map_err(|(a, b)| Failure::Circle {
        unit: groups[a].units[0],
        other: groups[b].units[0],
    })?;
    Ok(groups)
}

/// Computes the number of stages that must follow each group. Fails if two groups wait for each other.
fn behind(groups: &mut [Group]) -> Result<(), (usize, usize)> {
    // Each round passes results on by one dependency. One round for each group is enough, unless there is a cycle.
    for _ in 0..=groups.len() {
        let mut changed = false;
        // Most units wait for earlier ones, so in reverse order one round computes nearly all results.
        for later in (0..groups.len()).rev() {
            for wait in 0..groups[later].waits.len() {
                let (earlier, stages) = groups[later].waits[wait];
                let wanted = groups[later].behind + stages;
                if groups[earlier].behind < wanted {
                    groups[earlier].behind = wanted;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    without_circle(groups)
}

/// Checks for a cycle of dependencies within one stage: none of its groups would ever be ready.
fn without_circle(groups: &[Group]) -> Result<(), (usize, usize)> {
    let mut done = vec![false; groups.len()];
    loop {
        let next = (0..groups.len()).find(|g| !done[*g] && groups[*g].waits.iter().all(|(w, _)| done[*w]));
        match next {
            Some(group) => done[group] = true,
            None => break,
        }
    }
    let Some(stuck) = (0..groups.len()).find(|g| !done[*g] && groups[*g].units.len() > 1) else {
        return match (0..groups.len()).find(|g| !done[*g]) {
            Some(group) => Err((group, group)),
            None => Ok(()),
        };
    };
    let other = groups[stuck].waits.iter().find(|(w, _)| !done[*w]);
    Err((stuck, other.map_or(stuck, |(w, _)| *w)))
}

/// Groups that may be in a stage, the most urgent first.
fn ready(groups: &[Group], stage: usize) -> Vec<usize> {
    let is_ready = |g: &Group| {
        g.placed.is_none()
            && g.waits
                .iter()
                .all(|(on, stages)| groups[*on].placed.is_some_and(|at| at + stages <= stage))
    };
    let mut list: Vec<usize> = (0..groups.len()).filter(|g| is_ready(&groups[*g])).collect();
    list.sort_by_key(|g| (std::cmp::Reverse(groups[*g].behind), groups[*g].units[0]));
    list
}

fn objects_of(unit: &Unit) -> impl Iterator<Item = Object> + '_ {
    let registers = unit.registers.iter().map(|(r, _)| Object::Register(*r));
    let counters = unit.counters.iter().map(|c| Object::Counter(*c));
    let meters = unit.meters.iter().map(|m| Object::Meter(m.clone()));
    registers.chain(counters).chain(meters)
}

/// Resources for a group's units, with some entries of its only table, besides those that the stage already has.
fn need(
    units: &[Unit],
    group: &Group,
    entries: Option<u64>,
    present: &[Object],
    objects: &dyn Fn(&Object) -> Resources,
) -> Resources {
    let mut total = Resources::default();
    let mut counted: Vec<Object> = present.to_vec();
    for at in &group.units {
        let unit = &units[*at];
        total = total.plus(own_need(unit, entries));
        for object in objects_of(unit) {
            if !counted.contains(&object) {
                total = total.plus(objects(&object));
                counted.push(object);
            }
        }
    }
    total
}

/// Resources of a unit without its logical tables. These are counted at the end, when it is known which conditions
/// share a table.
fn own_need(unit: &Unit, entries: Option<u64>) -> Resources {
    let mut need = unit.need;
    if let Some(memory) = &unit.memory {
        need = need.plus(memory.resources(entries.unwrap_or(memory.entries)));
    }
    if unit.kind == Kind::Condition {
        need.tables = 0;
    } else {
        need.tables = 1;
    }
    need
}

fn splits(units: &[Unit], group: &Group) -> bool {
    let [only] = group.units.as_slice() else { return false };
    let unit = &units[*only];
    let is_alone = unit.registers.is_empty() && unit.counters.is_empty() && unit.meters.is_empty();
    is_alone && unit.memory.as_ref().is_some_and(|m| m.splits && !m.is_keyless())
}

fn fits_alone(units: &[Unit], group: &Group, objects: &dyn Fn(&Object) -> Resources) -> Result<(), Failure> {
    let entries = splits(units, group).then_some(1);
    match need(units, group, entries, &[], objects).exceeded() {
        None => Ok(()),
        Some((what, needs, has)) => Err(Failure::TooLarge {
            unit: group.units[0],
            what,
            needs,
            has,
        }),
    }
}

/// Puts a group, or a part of its table, into a stage. Returns true if anything was placed.
fn put(
    units: &[Unit],
    groups: &mut [Group],
    number: usize,
    at: usize,
    stage: &mut Stage,
    objects: &dyn Fn(&Object) -> Resources,
) -> bool {
    let group = &groups[number];
    let fits = |entries: Option<u64>| {
        let need = need(units, group, entries, &stage.objects, objects);
        stage.used.plus(need).exceeded().is_none()
    };
    let is_split = splits(units, group);
    let all = is_split.then_some(group.left);
    if fits(all) {
        for unit in group.units.clone() {
            add(units, unit, all, stage, objects);
        }
        groups[number].placed = Some(at);
        return true;
    }
    if !is_split || stage.parts.iter().any(|p| p.unit == group.units[0]) {
        return false;
    }
    // Binary search for the largest number of entries that fit.
    let (mut low, mut high) = (0, group.left);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if fits(Some(middle)) {
            low = middle
        } else {
            high = middle
        }
    }
    // A few entries do not justify a logical table.
    if low < group.left.min(512) {
        return false;
    }
    let unit = group.units[0];
    add(units, unit, Some(low), stage, objects);
    groups[number].left -= low;
    true
}

fn add(units: &[Unit], at: usize, entries: Option<u64>, stage: &mut Stage, objects: &dyn Fn(&Object) -> Resources) {
    let unit = &units[at];
    let takes = own_need(unit, entries);
    stage.used = stage.used.plus(takes);
    for object in objects_of(unit) {
        if !stage.objects.contains(&object) {
            stage.used = stage.used.plus(objects(&object));
            stage.objects.push(object);
        }
    }
    stage.parts.push(Part {
        unit: at,
        entries: entries.or(unit.memory.as_ref().map(|m| m.entries)).unwrap_or(0),
        takes,
    });
}

/// Moves conditions to the stage of the first unit that they decide about, if its logical table has room for them.
fn late_conditions(units: &[Unit], waits: &[Vec<Wait>], stages: &mut [Stage]) {
    let mut first: Vec<Option<usize>> = vec![None; units.len()];
    for (number, stage) in stages.iter().enumerate() {
        for part in &stage.parts {
            first[part.unit].get_or_insert(number);
        }
    }
    for condition in (0..units.len()).rev().filter(|u| units[*u].kind == Kind::Condition) {
        let decided = waits
            .iter()
            .enumerate()
            .filter(|(_, list)| list.iter().any(|w| w.on == condition));
        let to = decided.filter_map(|(u, _)| first[u]).min();
        let (Some(from), Some(to)) = (first[condition], to) else {
            continue;
        };
        let need = own_need(&units[condition], None);
        if to <= from || stages[to].used.plus(need).exceeded().is_some() {
            continue;
        }
        let Some(at) = stages[from].parts.iter().position(|p| p.unit == condition) else {
            continue;
        };
        let part = stages[from].parts.remove(at);
        stages[from].used = minus(stages[from].used, need);
        stages[to].used = stages[to].used.plus(need);
        stages[to].parts.insert(0, part);
        first[condition] = Some(to);
    }
}

fn minus(a: Resources, b: Resources) -> Resources {
    a.each(b, u64::saturating_sub)
}

/// Counts the logical tables for conditions that no table of their stage can hold: a table holds one gateway.
fn logical_tables(units: &[Unit], stages: &mut [Stage]) {
    for stage in stages {
        let mut hosts: Vec<usize> = stage.parts.iter().map(|p| p.unit).collect();
        hosts.retain(|u| units[*u].kind != Kind::Condition);
        for part in stage.parts.iter().filter(|p| units[p.unit].kind == Kind::Condition) {
            let gateways = units[part.unit].need.gateways;
            let host = hosts.iter().position(|u| units[*u].after.contains(&part.unit));
            let merged = u64::from(host.is_some());
            if let Some(host) = host {
                hosts.remove(host);
            }
            stage.used.tables += gateways.saturating_sub(merged);
        }
    }
}
