//! Writes P4Info (P4Runtime specification, section 6), with the ids of p4c.

mod annotations;
mod objects;
mod symbols;
mod tables;
mod text;
mod types;

use p4sched_proto::p4::config::v1::{self as pb, P4Info};

use crate::{diagnostics::Reporter, ir::Ir, typed::tree::Program};
use symbols::{Kind, Symbols};

pub use text::p4info_text;

/// Writes P4Info for a lowered program.
pub(crate) struct Emitter<'a> {
    program: &'a Program,
    ir: &'a Ir,
    symbols: Symbols,
    info: P4Info,
}

/// P4Info of a lowered program.
pub(crate) fn emit(program: &Program, ir: &Ir, reporter: &mut Reporter) -> P4Info {
    let mut symbols = Symbols::default();
    collect(program, ir, &mut symbols, reporter);
    symbols.assign();
    let info = P4Info {
        pkg_info: Some(pb::PkgInfo {
            arch: ir.arch.name().to_owned(),
            ..pb::PkgInfo::default()
        }),

        ..P4Info::default()
    };
    let mut emitter = Emitter {
        program,
        ir,
        symbols,
        info,
    };
    emitter.package();
    emitter.tables();
    emitter.actions();
    emitter.profiles();
    emitter.counters();
    emitter.meters();
    emitter.controller_headers();
    emitter.value_sets();
    emitter.registers();
    emitter.digests();
    let typed = ir.calls_functions
        || ir.declares_externs
        || !emitter.info.registers.is_empty()
        || !emitter.info.tables.is_empty()
        || !emitter.info.controller_packet_metadata.is_empty()
        || emitter.info.actions.iter().any(|a| !a.params.is_empty());
    if typed {
        emitter.info.type_info.get_or_insert_default();
    }
    emitter.info
}

/// Collects every object with its name, and its id if the program gives one.
fn collect(program: &Program, ir: &Ir, symbols: &mut Symbols, reporter: &mut Reporter) {
    let mut add = |kind, name: &str, notes: &crate::typed::tree::Annotations, span| {
        if let Err(message) = symbols.add(kind, name, annotations::number(notes, "id")) {
            reporter.error(span, message);
        }
    };
    for index in &ir.listed_actions {
        let action = &ir.actions[*index];
        add(Kind::Action, &action.name, &action.annotations, action.span);
    }
    for index in &ir.listed_tables {
        let table = &ir.tables[*index];
        add(Kind::Table, &table.name, &table.annotations, table.span);
    }
    for set in &ir.value_sets {
        add(Kind::ValueSet, &set.name, &set.annotations, set.span);
    }
    for profile in &ir.profiles {
        add(Kind::ActionProfile, &profile.name, &profile.annotations, profile.span);
    }
    for (list, direct, indirect) in [
        (&ir.counters, Kind::DirectCounter, Kind::Counter),
        (&ir.meters, Kind::DirectMeter, Kind::Meter),
    ] {
        for cells in list.iter().filter(|c| !c.direct || c.table.is_some()) {
            let kind = if cells.direct { direct } else { indirect };
            add(kind, &cells.name, &cells.annotations, cells.span);
        }
    }
    for register in ir.registers.iter().filter(|r| !r.direct) {
        add(Kind::Register, &register.name, &register.annotations, register.span);
    }
    for digest in &ir.learn_lists {
        add(Kind::Digest, &digest.name, &crate::ir::no_annotations(), digest.span);
    }
    for (_, id) in &ir.controller_headers {
        let def = program.types.get(*id);
        add(Kind::ControllerHeader, &def.name, &def.annotations, def.span);
    }
}
