//! Lowering: from the typed tree to flat storage. Instances get names and cells. Parsers, controls, functions and
//! directly called actions are inlined.

mod arch;
mod assign;
mod call;
mod code;
mod deparser;
mod entry;
mod expr;
mod externs;
mod flow;
mod instance;
mod listing;
mod parser;
mod stmt;
mod storage;
mod table;
mod value;

use std::collections::{HashMap, HashSet};

use crate::{
    arch::Arch,
    diagnostics::Reporter,
    ir::{self, Gress, Ir, Label},
    source::{SourceMap, Span},
    typed::{
        tree::{Maker, Program},
        types::{ActionId, InstanceId, StructId, Type},
    },
};
use arch::Block;
use value::{Frame, FrameRef, Loc, Object};

/// Lowers a checked program. `None` if there was an error.
pub(crate) fn lower(program: &Program, arch: Arch, map: &SourceMap, reporter: &mut Reporter) -> Option<Ir> {
    let mut lowerer = Lowerer {
        program,
        map,
        reporter,
        ir: Ir { arch, ..Ir::default() },
        frame: Frame::new(String::new()),
        globals: HashMap::new(),
        header_types: HashMap::new(),
        names: HashSet::new(),
        numbers: Numbers::default(),
        returns: Vec::new(),
        loops: Vec::new(),
        copy_outs: Vec::new(),
        labels: 0,
        states: Vec::new(),
        depth: 0,
        work: 0,
        block: Block::Parser,
        gress: Gress::Ingress,
        calls_only: None,
        actions: HashMap::new(),
        called: HashSet::new(),
        in_action: 0,
        updated: None,
        extracting: false,
        save_indexes: false,
        conditions: Vec::new(),
        control_plane: String::new(),
        v1model: arch::v1model::State::default(),
        tna: arch::tna::State::default(),
    };
    lowerer.run();
    if lowerer.reporter.has_errors() {
        None
    } else {
        Some(lowerer.ir)
    }
}

/// Most statements and storage after inlining.
const MAX_WORK: usize = 400_000;
/// Deepest nesting of instances and calls.
const MAX_DEPTH: usize = 64;

/// Target of `return`, and the place for its value.
struct ReturnTo {
    label: Label,
    result: Option<Loc>,
}

/// Makes unique names with a number at the end. It stores the last number of each name, because a program may have very
/// many of one name.
#[derive(Default)]
struct Numbers(HashMap<(Named, String), usize>);

/// Kind of object that a name belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Storage,
    HeaderType,
    Action,
    /// A state of the parser at this index.
    State(usize),
}

impl Numbers {
    /// `wanted` if it is free, otherwise with the first number that makes it free.
    fn fresh(&mut self, what: Named, wanted: &str, taken: impl Fn(&str) -> bool) -> String {
        if !taken(wanted) {
            return wanted.to_owned();
        }
        let next = self.0.entry((what, wanted.to_owned())).or_default();
        loop {
            let name = format!("{wanted}_{next}");
            *next += 1;
            if !taken(&name) {
                return name;
            }
        }
    }
}

struct Lowerer<'a> {
    program: &'a Program,
    map: &'a SourceMap,
    reporter: &'a mut Reporter,
    ir: Ir,
    frame: FrameRef,
    globals: HashMap<InstanceId, Object>,
    /// Header types made from structs.
    header_types: HashMap<StructId, usize>,
    /// Used names of storage.
    names: HashSet<String>,
    numbers: Numbers,
    returns: Vec<ReturnTo>,
    /// Labels of `break` and `continue` of the loops around this place.
    loops: Vec<(Label, Label)>,
    /// Copies out of the calls around this place; `exit` must make them.
    copy_outs: Vec<Vec<(Loc, Loc)>>,
    labels: u32,
    /// Parser states whose body calls a sub-parser.
    states: Vec<parser::Call>,
    depth: usize,
    work: usize,
    block: Block,
    gress: Gress,
    /// Message if this block may have only calls, and `if`s around them.
    calls_only: Option<&'static str>,
    /// Actions of tables that have been created, by full name and source action.
    actions: HashMap<(String, ActionId), usize>,
    /// Full names of actions called directly.
    called: HashSet<(String, ActionId)>,
    /// Number of actions around this place.
    in_action: usize,
    /// Destination of `a op= b`.
    updated: Option<Loc>,
    /// True if the place is needed for an extract.
    extracting: bool,
    /// True if the index of a stack must be saved, because the assignment may change it.
    save_indexes: bool,
    /// The conditions of the `if`s around this place.
    conditions: Vec<ir::Expr>,
    /// Prefix of names of tables and externs on the control plane.
    control_plane: String,
    v1model: arch::v1model::State,
    tna: arch::tna::State,
}

impl Lowerer<'_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.reporter.error(span, message);
    }

    fn show(&self, ty: &Type) -> String {
        self.program.types.show(ty)
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// Counts work; false if there is too much of it.
    fn spend(&mut self, span: Span, amount: usize) -> bool {
        self.work += amount;
        let over = self.work > MAX_WORK;
        // Reports only the first time.
        if over && self.work - amount <= MAX_WORK {
            let message = "the program becomes too large when its controls and functions are inlined";
            self.error(span, message);
        }
        !over
    }

    /// Runs `rule` one call deeper; does nothing beyond the limit.
    fn deeper<T>(&mut self, span: Span, rule: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.error(
                span,
                format!("calls and instances are nested more than {MAX_DEPTH} deep; recursion is not allowed"),
            );
            return None;
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        Some(result)
    }

    fn run(&mut self) {
        let Some(main) = self.program.main else {
            let wanted = match self.ir.arch {
                Arch::V1model => "V1Switch(...) main;",
                Arch::Tna | Arch::T2na => "Pipeline(...) pipe; Switch(pipe) main;",
            };
            let message = format!("no instance 'main' of a package: {wanted}");
            self.error(self.map.end_of_program(), message);
            return;
        };
        let instance = &self.program.instances[main.index()];
        let Maker::Package(package, _) = &instance.maker else {
            let message = format!("'main' must be an instance of the package {}", self.ir.arch.package());
            self.error(instance.span, message);
            return;
        };
        let package = &self.program.packages[package.index()];
        self.architecture(&package.name, &instance.args, instance.span);
        self.controller_headers();
        self.check_memory();
    }

    /// Makes the externs declared outside of controls and parsers.
    fn globals(&mut self) {
        for id in &self.program.top_level {
            let top = &self.program.instances[id.index()];
            if matches!(top.maker, Maker::Extern(..)) {
                let object = self.instantiate(*id, "");
                self.globals.insert(*id, object);
            }
        }
    }

    fn controller_headers(&mut self) {
        for (index, def) in self.program.types.structs.iter().enumerate() {
            if let Some(name) = crate::typed::annotations::text_of(&def.annotations, "controller_header") {
                self.ir.controller_headers.push((name, StructId(index as u32)));
            }
        }
    }

    /// Name on the control plane: within the path of the instance, or from `@name`.
    fn full_name(&self, path: &str, name: &str, annotations: &crate::typed::tree::Annotations) -> String {
        let own = crate::typed::annotations::name_of(annotations).unwrap_or_else(|| name.to_owned());
        match own.strip_prefix('.') {
            Some(absolute) => absolute.to_owned(),
            None if path.is_empty() => own,
            None => format!("{path}.{own}"),
        }
    }

    /// Name on the control plane of a table or extern with this full name.
    fn plane_name(&self, name: &str) -> String {
        format!("{}{name}", self.control_plane)
    }

    fn path(&self) -> String {
        self.frame.borrow().path.clone()
    }

    /// A new unique name for storage.
    fn fresh_name(&mut self, wanted: &str) -> String {
        let name = self
            .numbers
            .fresh(Named::Storage, wanted, |name| self.names.contains(name));
        self.names.insert(name.clone());
        name
    }

    fn push(out: &mut Vec<ir::Stmt>, op: &'static str, args: Vec<ir::Arg>, span: Span) {
        out.push(ir::Stmt::Primitive(ir::Primitive { op, args, span }));
    }
}
