//! Places a Tofino program's tables, registers and conditions into the stages of the chip, and refuses programs that do
//! not fit. README.md says what is checked and what is assumed.

mod alu;
mod cells;
mod chip;
mod depend;
mod gateway;
mod ghost;
mod groups;
mod known;
mod live;
mod memory;
mod nodes;
mod parser;
mod phv;
mod place;
mod report;
mod rewrites;
mod stateful;
mod unit;

#[cfg(test)]
mod tests;

use crate::{
    arch::Arch,
    diagnostics::Reporter,
    ir::{Gress, Ir},
    source::{SourceMap, Span},
};
use cells::{Cells, effect, read_by};
pub use chip::{Chip, Resources};
use place::{Failure, Object, Stage};
pub use report::Report;
use unit::{Kind, Unit, Units};

/// Most units of a program that is placed; no chip has room for so many.
const MOST_UNITS: usize = 1000;

/// Places a program. Returns `None` if it cannot be placed; the errors are reported.
pub(crate) fn stages(ir: &Ir, program: &str, map: &SourceMap, reporter: &mut Reporter) -> Option<Report> {
    let chip = match ir.arch {
        Arch::T2na => chip::TOFINO2,
        _ => chip::TOFINO,
    };
    let parsed = parsers(ir, &chip, reporter);
    for (span, message) in stateful::check_registers(ir, &chip) {
        reporter.error(span, message);
    }
    let roots = roots(ir);
    let mut units = Units::new(ir, &chip, map);
    for (gress, body) in &ir.bodies {
        let (nodes, wrong) = known::nodes(ir, &chip, body, &roots);
        units.wrong.extend(wrong);
        units.control(*gress, &nodes);
    }
    let (list, wrong) = (units.list, units.wrong);
    for (span, message) in wrong {
        reporter.error(span, message);
    }
    if let Some(over) = list.get(MOST_UNITS) {
        let message = format!(
            "the program has more than {MOST_UNITS} tables, groups of statements and conditions, and the chip has room for \
             {}. Take out what another pass can do",
            chip.stages as u64 * chip::STAGE.tables
        );
        reporter.error(over.span, message);
    }
    one_access(ir, &list, reporter);
    if chip.parser_ors {
        rewritten(ir, &chip, &list, &roots, reporter);
    }
    if reporter.has_errors() {
        return None;
    }
    placed(ir, &chip, program, &list, &parsed, reporter)
}

fn placed(
    ir: &Ir,
    chip: &Chip,
    program: &str,
    units: &[Unit],
    parsed: &Cells,
    reporter: &mut Reporter,
) -> Option<Report> {
    let waits = depend::waits(units);
    let doubled = ghost::doubled(ir, units);
    let takes = |object: &Object| match object {
        Object::Register(r) => {
            let one = memory::register(&ir.registers[*r]);
            if doubled.contains(r) { one.plus(one) } else { one }
        }
        Object::Counter(c) => memory::counter(&ir.counters[*c]),
        Object::Meter(name) => {
            let meters = ir.meters.iter().map(|m| (&m.name, m.size));
            let mut all = meters.chain(ir.filters.iter().map(|f| (&f.name, f.size)));
            memory::meter(all.find(|(n, _)| *n == name).map_or(1, |(_, size)| size))
        }
    };
    let stages = match place::place(units, &waits, &takes) {
        Ok(stages) => stages,
        Err(failure) => {
            let (span, message) = failure_message(units, failure);
            reporter.error(span, message);
            return None;
        }
    };
    let chain = depend::longest_chain(&waits);
    let names: Vec<String> = chain.iter().map(|u| units[*u].name.clone()).collect();
    if stages.len() > chip.stages {
        let beyond = stages[chip.stages]
            .parts
            .first()
            .map_or(Span::default(), |p| units[p.unit].span);
        let way_out = if chain.len() > chip.stages {
            format!(
                "The longest chain of dependencies is {}; shorten it, or leave a part to another pass",
                names.join(" -> ")
            )
        } else {
            format!(
                "No chain of dependencies is longer than {}: make tables and registers smaller, or let fewer of them wait \
                 for a large one",
                chain.len()
            )
        };
        let message = format!(
            "this is the first of what the {} stages of {} have no room for: the program takes {}. {way_out}",
            chip.stages,
            chip.name,
            stages.len(),
        );
        reporter.error(beyond, message);
    }
    let containers = phv::bits(ir, units, &stages, parsed);
    if containers.0 > chip.containers || containers.0 + containers.1 > chip.containers + chip.carried {
        let message = format!(
            "the fields in use take {} bits, and those that are only carried {}, but {} has containers for {}. Use fewer or \
             narrower fields, or leave headers in the payload",
            containers.0,
            containers.1,
            chip.name,
            chip.containers + chip.carried
        );
        reporter.error(units.first().map_or(Span::default(), |u| u.span), message);
    }
    Some(Report {
        program: program.to_owned(),
        chip: *chip,
        stages: stages.iter().map(|s| s.used).collect(),
        of_gress: of_gress(units, &stages),
        contents: stages.iter().map(|s| contents(ir, units, s)).collect(),
        chain: names,
        containers,
    })
}

fn failure_message(units: &[Unit], failure: Failure) -> (Span, String) {
    match failure {
        Failure::TooLarge { unit, what, needs, has } => {
            let unit = &units[unit];
            let message = format!(
                "'{}' takes {needs} {what}, but a stage has {has}, and it cannot be spread over stages. Make it smaller, or \
                 split it in two",
                unit.name
            );
            (unit.span, message)
        }
        Failure::Circle { unit, other } => {
            let (unit, other) = (&units[unit], &units[other]);
            let message = format!(
                "'{}' and '{}' each must come before the other, as registers that they share with other statements are \
                 accessed in opposite orders. Access the registers in one order in all controls and branches",
                unit.name, other.name
            );
            (unit.span, message)
        }
        Failure::Apart { unit, other } => {
            let (unit, other) = (&units[unit], &units[other]);
            let message = format!(
                "'{}' and '{}' access one register and must be in one stage, but one waits for what the other does. Move \
                 the access before the decision, or use a second register",
                unit.name, other.name
            );
            (unit.span, message)
        }
    }
}

/// Message about two accesses to a register.
fn twice(ir: &Ir, register: usize) -> String {
    format!(
        "the register '{}' is accessed twice on one path, but a packet passes its stage once. Do both in one RegisterAction, \
         access it in exclusive branches, or recirculate the packet",
        ir.registers[register].name
    )
}

/// Checks that a packet accesses each register once in a pass: in ingress or in egress.
fn one_access(ir: &Ir, units: &[Unit], reporter: &mut Reporter) {
    for (at, later) in units.iter().enumerate().take(MOST_UNITS) {
        for (register, span) in &later.registers {
            let accesses = |u: &Unit| u.registers.iter().any(|(r, _)| r == register);
            if units[..at].iter().any(|u| accesses(u) && !u.excludes(later)) {
                reporter.error(*span, twice(ir, *register));
            }
        }
    }
}

/// Checks the parsers. Returns the extracted cells.
fn parsers(ir: &Ir, chip: &Chip, reporter: &mut Reporter) -> Cells {
    for (gress, parser) in [Gress::Ingress, Gress::Egress].into_iter().zip(&ir.parsers) {
        for (span, message) in parser::check(ir, chip, gress, parser) {
            reporter.error(span, message);
        }
    }
    let states = ir.parsers.iter().flat_map(|p| &p.states);
    states.flat_map(|s| parser::extracted(ir, s)).collect()
}

/// Checks fields that parsers write twice, if they are read after the parser.
fn rewritten(ir: &Ir, chip: &Chip, units: &[Unit], roots: &Cells, reporter: &mut Reporter) {
    let mut read = roots.clone();
    for (header, of) in ir.headers.iter().enumerate() {
        let cells = (0..ir.header_types[of.ty].fields.len()).map(|field| (header, Some(field)));
        read.extend(cells.filter(|cell| live::is_seen(ir, *cell)));
    }
    for unit in units {
        read.extend(unit.inputs.clone());
        read.extend(unit.reads.clone());
    }
    for parser in &ir.parsers {
        for (span, message) in rewrites::check(ir, chip.name, parser, &read) {
            reporter.error(span, message);
        }
    }
}

/// Cells that are read outside of the placed controls: by deparsers, and by digests, mirrored and resubmitted headers.
fn roots(ir: &Ir) -> Cells {
    let lists = ir.field_lists.iter().chain(&ir.learn_lists).flat_map(|l| &l.fields);
    let mut cells: Cells = lists.flat_map(|e| read_by(ir, e)).collect();
    for checksum in &ir.checksums {
        cells.extend(read_by(ir, &checksum.condition));
    }
    for pipeline in ir.pipelines.iter().filter(|p| p.name.ends_with("deparser")) {
        cells.extend(pipeline.conditions.iter().flat_map(|c| read_by(ir, &c.expr)));
        let actions = pipeline.tables.iter().flat_map(|(t, _)| &ir.tables[*t].actions);
        for p in actions.flat_map(|(a, _)| &ir.actions[*a].code) {
            let e = effect(ir, p);
            cells.extend(e.inputs);
            cells.extend(e.reads);
        }
    }
    cells
}

fn name(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "ingress",
        Gress::Egress => "egress",
        Gress::Ghost => "ghost",
    }
}

/// Number of stages of each thread.
fn of_gress(units: &[Unit], stages: &[Stage]) -> Vec<(&'static str, usize)> {
    let reached = |gress: Gress| {
        let last = stages
            .iter()
            .rposition(|s| s.parts.iter().any(|p| units[p.unit].gress == gress));
        last.map(|l| (name(gress), l + 1))
    };
    [Gress::Ingress, Gress::Egress, Gress::Ghost]
        .into_iter()
        .filter_map(reached)
        .collect()
}

fn contents(ir: &Ir, units: &[Unit], stage: &Stage) -> Vec<(&'static str, String, String)> {
    let line = |part: &place::Part| {
        let unit = &units[part.unit];
        let mut notes = Vec::new();
        if part.entries > 0 {
            notes.push(format!("{} entries", part.entries));
        }
        for (what, amount) in [("SRAM", part.takes.sram), ("TCAM", part.takes.tcam)] {
            if amount > 0 {
                notes.push(format!("{amount} {what}"));
            }
        }
        if unit.kind == Kind::Condition {
            notes.push(format!("{} gateway(s)", unit.need.gateways));
        }
        notes.extend(
            unit.registers
                .iter()
                .map(|(r, _)| format!("register {}", ir.registers[*r].name)),
        );
        notes.extend(
            unit.counters
                .iter()
                .map(|c| format!("counter {}", ir.counters[*c].name)),
        );
        notes.extend(unit.meters.iter().map(|m| format!("meter {m}")));
        (name(unit.gress), unit.name.clone(), notes.join(", "))
    };
    stage.parts.iter().map(line).collect()
}
